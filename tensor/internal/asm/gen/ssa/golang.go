package ssa

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Go returns a program as the source of a function of float32, not formatted. It calls FMA and scaled of package asm, and reads lookups.
func (p *Program) Go(name, comment string, result Value) string {
	p, results := p.copies(result, 1)
	var b strings.Builder
	fmt.Fprintf(&b, "\n// %s returns %s.\nfunc %s(x, y, alpha float32) float32 {\n", name, comment, name)
	shared := []string{"{number}", "float64", "{from}", "math.Float64frombits", "{fma}", "math.FMA", "{x}", "float64(x)", "{y}", "float64(y)"}
	to := "math.Float64bits"
	if p.Single {
		shared = []string{"{number}", "float32", "{from}", "math.Float32frombits", "{fma}", "FMA", "{x}", "x", "{y}", "y"}
		to = "math.Float32bits"
	}
	for i, l := range p.lines {
		if l.name == "const" {
			continue
		}
		form := operations[l.name].inGo
		if form == "" {
			panic(fmt.Sprintf("ssa: %q in Go, want an operation that is not of AVX-512 alone", l.name))
		}
		words := append(shared[:len(shared):len(shared)], "{v}", fmt.Sprintf("v%d", i))
		for j, v := range l.in {
			number, bits := p.inGo(v), fmt.Sprintf("%s(%s)", to, p.inGo(v))
			if o := p.lines[v]; o.name == "const" {
				bits = fmt.Sprintf("0x%x", o.bits)
			}
			words = append(words, fmt.Sprintf("{%d}", j), number, fmt.Sprintf("{b%d}", j), bits)
		}
		fmt.Fprintf(&b, "v%d := %s\n", i, l.fill(form, words...))
	}
	fmt.Fprintf(&b, "return float32(%s)\n}\n", p.inGo(results[0]))
	return b.String()
}

// inGo returns a value as an expression: a variable, or a constant in digits if it is normal, and otherwise by its
// bits.
func (p *Program) inGo(v Value) string {
	l := p.lines[v]
	if l.name != "const" {
		return fmt.Sprintf("v%d", v)
	}
	f, least, width, from := math.Float64frombits(l.bits), 0x1p-1022, 64, "math.Float64frombits"
	if p.Single {
		f, least, width, from = float64(math.Float32frombits(uint32(l.bits))), 0x1p-126, 32, "math.Float32frombits"
	}
	if !math.IsInf(f, 0) && math.Abs(f) >= least {
		return fmt.Sprintf("float%d(%s)", width, strconv.FormatFloat(f, 'x', -1, width))
	}
	return fmt.Sprintf("%s(0x%x)", from, l.bits)
}
