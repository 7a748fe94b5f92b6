package ssa

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor/internal/asm"
)

// writer writes random programs. Values in bits have the same bits with every back end even if they are NaN, so
// that operations on bits may read them.
type writer struct {
	*rand.Rand
	*Program
	values, bits []Value
}

// random returns a program of n operations and its result.
func random(r *rand.Rand, tables *Tables, n int) (*Program, Value) {
	w := &writer{Rand: r, Program: New(r.IntN(3) > 0, tables)}
	w.bits = []Value{w.X(), w.Y(), w.Float(1.5), w.Float(r.NormFloat64()), w.Float(-0.25)}
	w.values = append(w.values, w.bits...)
	if w.Single {
		w.values = append(w.values, w.Alpha())
	}
	w.values = append(w.values, w.Shifted())
	for range n {
		w.operation()
	}
	return w.Program, w.values[len(w.values)-1]
}

// pick returns a value of a list, more often one of the last.
func (w *writer) pick(list []Value) Value {
	if near := min(len(list), 4); w.IntN(3) > 0 {
		return list[len(list)-1-w.IntN(near)]
	}
	return list[w.IntN(len(list))]
}

// operands returns n values of a list that are not all constants.
func (w *writer) operands(list []Value, n int) []Value {
	out := make([]Value, n)
	for i := range out {
		out[i] = w.pick(list)
	}
	if !slices.ContainsFunc(out, func(v Value) bool { return w.lines[v].name != "const" }) {
		out[w.IntN(n)] = w.X()
	}
	return out
}

// operation appends an operation, or two or three where the first operands are limited.
func (w *writer) operation() {
	shift := 1 + w.IntN(30)
	v, b := w.operands(w.values, 4), w.operands(w.bits, 1)[0]
	two, three, bits := w.operands(w.values, 2), w.operands(w.values, 3), w.operands(w.bits, 2)
	one := w.operands(w.values, 1)[0]
	ofNumbers := []func() Value{
		func() Value { return w.FMA(three[0], three[1], three[2]) },
		func() Value { return w.FMA(three[0], three[1], three[2]) },
		func() Value { return w.FMA(three[0], three[1], three[2]) },
		func() Value { return w.FNMA(three[0], three[1], three[2]) },
		func() Value { return w.FNMA(three[0], three[1], three[2]) },
		func() Value { return w.Add(two[0], two[1]) },
		func() Value { return w.Sub(two[0], two[1]) },
		func() Value { return w.Mul(two[0], two[1]) },
		func() Value { return w.Div(two[0], two[1]) },
		func() Value { return w.Less(v[0], v[1], v[2], v[3]) },
		func() Value { return w.Max(w.Float(-100), w.Min(one, w.Float(100))) },
		func() Value { return w.Sqrt(one) },
		func() Value { // a whole exponent, and a number from 1/4 to 4
			n := w.Max(w.Float(-250), w.Min(w.Float(250), w.ToFloat(w.RightSigned(b, 23))))
			return w.Scale(w.Min(w.Float(4), w.Max(w.Float(0.25), one)), n)
		},
	}
	ofBits := []func() Value{
		func() Value { return w.And(bits[0], bits[1]) },
		func() Value { return w.Or(bits[0], bits[1]) },
		func() Value { return w.Xor(bits[0], bits[1]) },
		func() Value { return w.Plus(w.Left(b, shift), bits[0]) },
		func() Value { return w.Minus(bits[0], w.Right(b, shift)) },
		func() Value { return w.Less(two[0], two[1], bits[0], bits[1]) },
		func() Value { return w.RightSigned(b, shift) },
		func() Value { return w.ToFloat(b) },
		func() Value { return w.Lookup(numbers(w.Rand), b) },
	}
	if !w.Single {
		ofNumbers, ofBits = ofNumbers[:11], ofBits[:6]
	}
	if kind := w.IntN(len(ofNumbers) + len(ofBits)); kind < len(ofNumbers) {
		w.values = append(w.values, ofNumbers[kind]())
	} else {
		made := ofBits[kind-len(ofNumbers)]()
		w.values, w.bits = append(w.values, made), append(w.bits, made)
	}
}

// numbers returns one of two tables.
func numbers(r *rand.Rand) []float64 {
	table, by := make([]float64, 32), r.IntN(2)
	for i := range table {
		table[i] = float64(float32(math.Sqrt(float64(i + by))))
	}
	return table
}

// driver runs all forms of all programs for the numbers of its input, and prints the results' bits.
const driver = `package main

import (
	"encoding/binary"
	"math"
	"os"
	"unsafe"
)

func FMA(a, b, c float32) float32 { return fmaEmulated(a, b, c) }

const n, alpha = %d, %v

func main() {
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	binary.Read(os.Stdin, binary.LittleEndian, x)
	binary.Read(os.Stdin, binary.LittleEndian, y)
	put := func() {
		for _, f := range z {
			os.Stdout.Write(binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)))
		}
	}
	for _, f := range inGo {
		for i := range z {
			z[i] = f(x[i], y[i], alpha)
		}
		put()
	}
	for _, f := range assembled {
		f(unsafe.Pointer(&z[0]), unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n, alpha)
		put()
	}
}
`

// TestRandom compares random programs in every form that this processor runs with the oracle: in Go, and as
// assembly with few and with many registers.
func TestRandom(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	const programs, n, alpha = 60, 192, float32(0.75) // n is a multiple of all numbers of results at a time
	r := rand.New(rand.NewPCG(5, 6))
	x, y := inputs(r, n), inputs(r, n)
	dir := t.TempDir()
	var tables Tables
	var text Text
	var inGo, forms, declarations strings.Builder
	want := make([][]float32, programs)
	tiers := kinds()
	names := []string{"Go"}
	assembly := make([]strings.Builder, len(tiers))
	text.Printf("#include \"textflag.h\"\n")
	for i := range programs {
		p, result := random(r, &tables, 4+r.IntN(30))
		for j := range x {
			want[i] = append(want[i], interpret(p, result, x[j], y[j], alpha))
		}
		name := fmt.Sprintf("f%d", i)
		inGo.WriteString(p.Go(name, "a random function", result))
		fmt.Fprintf(&forms, "%s, ", name)
		for tier, wide := range tiers {
			kernel := kindNames[wide] + name
			e := &Emitter{Program: p, Wide: wide, Text: &text}
			if i%2 == 0 { // few registers
				e.Limit = 15
			}
			text.Printf("TEXT ·%s(SB), NOSPLIT, $0-36\nMOVQ dst+0(FP), DI\nMOVQ x+8(FP), SI\nMOVQ y+16(FP), R8\nMOVQ n+24(FP), CX", kernel)
			e.Prepare(32)
			e.Fit([]int{4, 3, 2, 1}, func(e *Emitter, n int) {
				text.Printf("loop:")
				e.Print(result, n, plain{})
				text.Printf("ADDQ $%[1]d, SI\nADDQ $%[1]d, R8\nADDQ $%[1]d, DI\nSUBQ $%d, CX\nJGT loop\nVZEROUPPER\nRET\n", n*e.Lanes()*4, n*e.Lanes())
			})
			fmt.Fprintf(&declarations, "\n//go:noescape\nfunc %s(dst, x, y unsafe.Pointer, n int, alpha float32)\n", kernel)
			fmt.Fprintf(&assembly[tier], "%s, ", kernel)
		}
	}
	all := ""
	for tier, wide := range tiers {
		names = append(names, kindNames[wide])
		all += assembly[tier].String()
	}
	emulation, err := os.ReadFile("../../fma.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"go.mod":     "module random\n\ngo 1.26\n",
		"main.go":    fmt.Sprintf(driver, n, alpha),
		"fma.go":     strings.Replace(string(emulation), "package asm", "package main", 1),
		"forms.go":   "package main\n\nimport \"math\"\n\nvar inGo = []func(x, y, alpha float32) float32{" + forms.String() + "}\n" + inGo.String() + "\nvar lookups = " + fmt.Sprintf("%#v", tables.Lookups) + "\n",
		"kernels.go": "package main\n\nimport \"unsafe\"\n\nvar assembled = []func(dst, x, y unsafe.Pointer, n int, alpha float32){" + all + "}\n" + declarations.String(),
	}
	files["forms.go"] = strings.Replace(files["forms.go"], "[][]float64", "[][]float32", 1)
	files["forms.go"] = strings.ReplaceAll(files["forms.go"], "[]float64{", "{")
	if len(tiers) > 0 {
		tables.Print(&text)
		files["kernels_amd64.s"] = text.String()
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "random")
	build := exec.Command(goTool, "build", "-o", program, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := exec.Command(program)
	var in bytes.Buffer
	binary.Write(&in, binary.LittleEndian, x)
	binary.Write(&in, binary.LittleEndian, y)
	run.Stdin = &in
	out, err := run.Output()
	if err != nil || len(out) != len(names)*programs*n*4 {
		t.Fatalf("%v: got %d bytes of results, want %d", err, len(out), len(names)*programs*n*4)
	}
	got := make([]float32, len(out)/4)
	binary.Read(bytes.NewReader(out), binary.LittleEndian, got)
	numbers := 0
	for at := range got {
		form, i, j := at/(programs*n), at/n%programs, at%n
		if got, want := got[at], want[i][j]; math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
			t.Fatalf("program %d in %s, of %v and %v: got %v, want %v", i, names[form], x[j], y[j], got, want)
		} else if want == want {
			numbers++
		}
	}
	if numbers < len(got)/2 {
		t.Errorf("got %d results that are numbers of %d, want at least half", numbers, len(got))
	}
	t.Logf("%d programs, in %v: %d of %d results are numbers", programs, names, numbers, len(got))
}

// kindNames are the names of kinds of registers, by whether they are those of AVX-512.
var kindNames = map[bool]string{false: "avx2", true: "avx512"}

// kinds returns the kinds of registers that this processor has: whether they are those of AVX-512.
func kinds() (wide []bool) {
	if runtime.GOARCH != "amd64" {
		return nil
	}
	for _, tier := range asm.Tiers() {
		for kind, name := range kindNames {
			if tier.Name == name {
				wide = append(wide, kind)
			}
		}
	}
	return wide
}

// inputs returns n numbers: special ones, subnormal ones, small and large ones.
func inputs(r *rand.Rand, n int) []float32 {
	list := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), math.Float32frombits(0x7fc00000), 1, -1, math.MaxFloat32, math.SmallestNonzeroFloat32, 0x1p-126}
	for len(list) < n {
		list = append(list, float32(r.NormFloat64()*math.Pow(2, float64(r.IntN(12)-6))))
	}
	r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}
