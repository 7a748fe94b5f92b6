package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"halfnote/tensor/internal/asm/gen/ssa"
)

// The functions, in the order of their numbers. limit is the largest magnitude of x for which a
// function is valid; 0 means all. Single functions compute in float32.
var functionList = []struct {
	name, comment string
	limit         float64
	single        bool
	result        func(l line) value
}{
	{"Exp", "exp(x - alpha), the difference rounded", 0, true, expSingle},
	{"Exp2", "2 to the power x", 0, true, exp2Single},
	{"Expm1", "exp(x) - 1", 0, true, expm1Single},
	{"Log", "the logarithm of x", 0, true, logNatural},
	{"Log2", "the logarithm of x to base 2", 0, true, logScaled(math.Log2E, 1)},
	{"Log10", "the logarithm of x to base 10", 0, true, logScaled(math.Log10E, math.Ln2/math.Ln10)},
	{"Log1p", "log(1 + x)", 0, true, log1pSingle},
	{"Tanh", "the hyperbolic tangent of x", 0, true, tanhSingle},
	{"Sigmoid", "1 / (1 + exp(-x))", 0, true, sigmoidSingle},
	{"Erf", "the error function of x", 0, true, erfSingle},
	{"Rsqrt", "1 / sqrt(x)", 0, true, rsqrtSingle},
	{"Silu", "x / (1 + exp(-x))", 0, true, silu},
	{"SiluGrad", "y times the derivative of x / (1 + exp(-x))", 0, true, siluGrad},
	{"GeluTanh", "x times the sigmoid of outer (x + cubic x³)", 0, true, geluTanh},
	{"GeluTanhGrad", "y times the derivative of GeluTanh", 0, true, geluTanhGrad},
	{"Gelu", "x Φ(x), Φ being the normal distribution function", 0, true, geluSingle},
	{"GeluGrad", "y times the derivative of x Φ(x)", 5, false, func(l line) value {
		x := l.X()
		return l.Mul(l.Y(), l.FMA(l.even(x, 5, series(slope1).polynomial(number(0), number(25), 26)), x, l.Float(0.5)))
	}},
	{"SigmoidHalf", "Sigmoid for halves", 0, true, func(l line) value { return l.simpleSigmoid(l.X()) }},
	{"SiluHalf", "Silu for halves", 0, true, siluHalf},
	{"GeluHalf", "Gelu for halves", 0, true, geluHalf},
	{"GeluGradHalf", "GeluGrad for halves", 0, true, geluGradHalf},
	{"GeluFloat16", "GeluHalf for float16, with the same bits", 0, true, geluShort(4, 5)},
	{"GeluBFloat16", "GeluHalf for bfloat16, with the same bits", 0, true, geluShort(4, 4)},
	{"ErfHalf", "Erf for halves, with the same bits", 0, true, erfHalf},
	{"Quotient", "x / alpha", 0, true, func(l line) value { return l.Div(l.X(), l.Alpha()) }},
	{"Sin", "the sine of x", 1 << 12, true, func(l line) value { return l.sineSingle(0) }},
	{"Cos", "the cosine of x", 1 << 12, true, func(l line) value { return l.sineSingle(1) }},
	{"SinFar", "Sin with a larger limit", 1 << 20, false, func(l line) value { return l.sine(0) }},
	{"CosFar", "Cos with a larger limit", 1 << 20, false, func(l line) value { return l.sine(1) }},
	{"SinHalf", "Sin for halves", 1 << 20, true, func(l line) value { return l.sineHalf(0) }},
	{"CosHalf", "Cos for halves", 1 << 20, true, func(l line) value { return l.sineHalf(1) }},
}

// clamp limits x to lo … hi. NaN stays NaN.
func (l line) clamp(x value, lo, hi float64) value {
	return l.Min(l.Float(hi), l.Max(l.Float(lo), x))
}

// polynomial returns c[0] + c[1] x + … by Horner's scheme. A long one is split into two independent polynomials.
func (l line) polynomial(c []float64, x value) value {
	if len(c) > 12 {
		return l.polynomialOf2(c, x)
	}
	return l.horner(c, x)
}

// polynomialOf2 is polynomial in two chains, in x².
func (l line) polynomialOf2(c []float64, x value) value {
	var terms [2][]float64
	for i := range c {
		terms[i%2] = append(terms[i%2], c[i])
	}
	square := l.Mul(x, x)
	return l.FMA(l.polynomial(terms[1], square), x, l.polynomial(terms[0], square))
}

// horner is polynomial in one chain.
func (l line) horner(c []float64, x value) value {
	return hornerOf(l, len(c), x, func(i int) value { return l.Float(c[i]) })
}

// hornerOf is horner of n terms that are values.
func hornerOf(l line, n int, x value, term func(i int) value) value {
	y := term(n - 1)
	for i := n - 2; i >= 0; i-- {
		y = l.FMA(y, x, term(i))
	}
	return y
}

// even returns the polynomial in (x² - half) / half, where half is limit²/2.
func (l line) even(x value, limit float64, c []float64) value {
	return l.polynomial(c, l.FMA(l.Mul(x, x), l.Float(2/(limit*limit)), l.Float(-1)))
}

// signed returns x with the sign of y.
func (l line) signed(x, y value) value {
	return l.Or(l.Abs(x), l.And(y, l.Sign()))
}

// whole is a constant that rounds what is added to it to an integer, in the last bits of the sum.
const whole = 0x1.8p52

// logSpecial returns y if x is positive and finite, otherwise the logarithm of the special value x.
func (l line) logSpecial(y, x value) value {
	other := l.Less(x, l.Float(0), l.Float(math.NaN()), l.Float(math.Inf(-1)))
	return l.Less(x, l.Float(math.Inf(1)), l.Less(l.Float(0), x, y, other), x)
}

// functions prints all functions, and returns tables of them and their Go source.
func functions() (declarations, portable string) {
	var names, words, limits, scalars, wide, narrow, code strings.Builder
	halves := map[string]*strings.Builder{}
	for _, d := range halfDTypes {
		halves[d.name] = new(strings.Builder)
	}
	for i, f := range functionList {
		own := strings.ToLower(f.name[:1]) + f.name[1:]
		first := " Function = iota"
		if i > 0 {
			first = ""
		}
		fmt.Fprintf(&names, "\t%s%s // %s\n", f.name, first, f.comment)
		fmt.Fprintf(&words, "\t%s: %q,\n", f.name, own)
		fmt.Fprintf(&limits, "\t%s: %v,\n", f.name, f.limit)
		fmt.Fprintf(&scalars, "\t%s: %sOf,\n", f.name, own)
		fmt.Fprintf(&wide, "\t%s: avx512%s,\n", f.name, f.name)
		fmt.Fprintf(&narrow, "\t%s: avx2%s,\n", f.name, f.name)
		l := line{Program: ssa.New(f.single, &tables)}
		result := f.result(l)
		code.WriteString(l.Go(own+"Of", f.comment, result))
		for _, w := range []bool{true, false} {
			l := line{Program: ssa.New(f.single, &tables), wide: w}
			result := f.result(l)
			name := "avx2" + f.name
			if w {
				name = "avx512" + f.name
			}
			fn("is a [FunctionPass]: "+f.comment+".", name, "(dst, x, y unsafe.Pointer, n, around int, alpha float32)", 0, 44)
			load("dst", "DI", "x", "SI", "y", "R8", "n", "CX", "around", "R9")
			printPass(l, result)
		}
		for _, d := range halfDTypes {
			element := "nil"
			if f.single {
				l := line{Program: ssa.New(true, &tables), wide: true, half: true}
				result := f.result(l)
				element = own + d.name
				fn("is a [HalfPass]: "+f.comment+".", element, "(dst, x, y unsafe.Pointer, n, step, around int, alpha, beta float32)", 0, 56)
				load("dst", "DI", "x", "SI", "y", "R8", "n", "CX", "step", "DX", "around", "R9")
				printHalfPass(l, result, d)
			}
			fmt.Fprintf(halves[d.name], "\t%s: %s,\n", f.name, element)
		}
	}
	norms()
	tables.Print(&text)
	declarations = "\nvar avx512Functions = [...]FunctionPass{\n" + wide.String() + "}\n\nvar avx2Functions = [...]FunctionPass{\n" + narrow.String() + "}\n"
	for _, d := range halfDTypes {
		declarations += "\nvar avx512" + d.name + "Functions = [...]HalfPass{\n" + halves[d.name].String() + "}\n"
	}
	portable = "// The functions.\nconst (\n" + names.String() + "\tfunctions\n)\n" +
		"\nvar names = [functions]string{\n" + words.String() + "}\n" +
		"\nvar limits = [functions]float32{\n" + limits.String() + "}\n" +
		"\nvar scalars = [functions]func(x, y, alpha float32) float32{\n" + scalars.String() + "}\n" +
		"\n// lookups are tables that functions read.\nvar lookups = [...][32]float32{\n"
	for _, table := range tables.Lookups {
		portable += "\t{"
		for _, v := range table {
			portable += strconv.FormatFloat(float64(float32(v)), 'x', -1, 32) + ", "
		}
		portable += "},\n"
	}
	portable += "}\n" + code.String()
	return declarations, portable
}
