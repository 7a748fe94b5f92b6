package asm

// rates compares each tier's products of bfloat16 with those of float32, and gives the reason.
var rates = map[string]string{
	"amx":        "bfloat16 is several times as fast as float32, with AMX's tiles",
	"avx512bf16": "bfloat16 is up to twice as fast as float32, with AVX512-BF16",
	"avx512":     "bfloat16 is as fast as float32, because it is computed with float32 instructions",
	"avx2":       "bfloat16 is as fast as float32, because it is computed with float32 instructions",
	Portable:     "all dtypes are slow, because assembly is not used",
}

// About returns the name of the tier that products use, the speed of bfloat16 with it, and the
// reason.
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
