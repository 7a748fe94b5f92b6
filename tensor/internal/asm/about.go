package asm

// rates say for each tier how fast its product of bfloat16 is next to that of float32, and why.
var rates = map[string]string{
	"amx":        "bfloat16 several times as fast as float32, by AMX's tiles",
	"avx512bf16": "bfloat16 up to twice as fast as float32, by AVX512-BF16",
	"avx512":     "bfloat16 as fast as float32, in whose instructions it is computed",
	"avx2":       "bfloat16 as fast as float32, in whose instructions it is computed",
	Portable:     "every dtype slow, without assembly",
}

// About returns the name of the tier that products use, how fast bfloat16 is with it, and why.
func About() string {
	name := Portable
	if t := Best(); t != nil {
		name = t.Name
	}
	s := name + ": " + rates[name]
	if name != "amx" && tileState != "" {
		s += " (no AMX: " + tileState + ")"
	}
	return s
}
