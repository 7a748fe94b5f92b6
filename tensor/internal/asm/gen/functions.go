package main

import (
	"fmt"
	"math"
	"strings"
)

// The functions, in the order of their numbers. limit is the largest magnitude of x for which a
// function is valid; 0 means all.
var functionList = []struct {
	name, comment string
	limit         float64
	result        func(l *line) value
}{
	{"Exp", "exp(x - alpha), the difference rounded", 0, func(l *line) value { return l.exp(l.clamp(l.shifted(), -150, 100)) }},
	{"Exp2", "2 to the power x", 0, exp2},
	{"Expm1", "exp(x) - 1", 0, func(l *line) value {
		x := l.x()
		return l.signed(l.expm1(l.clamp(x, -50, 100)), x)
	}},
	{"Log", "the logarithm of x", 0, func(l *line) value {
		k, s, p := l.logParts(l.x())
		return l.logSpecial(l.fma(l.add(s, s), p, l.mul(k, l.float(math.Ln2))), l.x())
	}},
	{"Log2", "the logarithm of x to base 2", 0, func(l *line) value {
		k, s, p := l.logParts(l.x())
		return l.logSpecial(l.fma(l.mul(s, l.float(2*math.Log2E)), p, k), l.x())
	}},
	{"Log10", "the logarithm of x to base 10", 0, func(l *line) value {
		k, s, p := l.logParts(l.x())
		return l.logSpecial(l.fma(l.mul(s, l.float(2*math.Log10E)), p, l.mul(k, l.float(math.Ln2/math.Ln10))), l.x())
	}},
	{"Log1p", "log(1 + x)", 0, log1p},
	{"Tanh", "the hyperbolic tangent of x", 0, tanh},
	{"Sigmoid", "1 / (1 + exp(-x))", 0, func(l *line) value { return l.sigmoid(l.x()) }},
	{"Erf", "the error function of x", 0, func(l *line) value {
		x := l.clamp(l.x(), -4, 4)
		return l.mul(x, l.even(x, 4, series(erf1).polynomial(number(0), number(16), 24)))
	}},
	{"Rsqrt", "1 / sqrt(x)", 0, rsqrt},
	{"Gelu", "x Φ(x), Φ being the normal distribution function", 5, func(l *line) value {
		x := l.x()
		return l.mul(x, l.fma(l.even(x, 5, series(phi1).polynomial(number(0), number(25), 25)), x, l.float(0.5)))
	}},
	{"GeluGrad", "y times the derivative of x Φ(x)", 5, func(l *line) value {
		x := l.x()
		return l.mul(l.y(), l.fma(l.even(x, 5, series(slope1).polynomial(number(0), number(25), 26)), x, l.float(0.5)))
	}},
	// The product has a relative error below 2^-51, and a quotient of two float32 is at least 2^-49
	// away from a rounding boundary.
	{"Quotient", "x / alpha, exactly rounded", 0, func(l *line) value { return l.mul(l.x(), l.inverse()) }},
	{"Sin", "the sine of x", 1 << 20, func(l *line) value { return l.sine(0) }},
	{"Cos", "the cosine of x", 1 << 20, func(l *line) value { return l.sine(1) }},
}

// clamp limits x to lo … hi. NaN stays NaN.
func (l *line) clamp(x value, lo, hi float64) value {
	return l.min(l.float(hi), l.max(l.float(lo), x))
}

// polynomial returns c[0] + c[1] x + … by Horner's scheme. A long one is split into two independent
// polynomials in x².
func (l *line) polynomial(c []float64, x value) value {
	if len(c) > 12 {
		var even, odd []float64
		for i := range c {
			if i%2 == 0 {
				even = append(even, c[i])
			} else {
				odd = append(odd, c[i])
			}
		}
		square := l.mul(x, x)
		return l.fma(l.polynomial(odd, square), x, l.polynomial(even, square))
	}
	y := l.float(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		y = l.fma(y, x, l.float(c[i]))
	}
	return y
}

// even returns the polynomial in (x² - half) / half, where half is limit²/2.
func (l *line) even(x value, limit float64, c []float64) value {
	return l.polynomial(c, l.fma(l.mul(x, x), l.float(2/(limit*limit)), l.float(-1)))
}

// signed returns x with the sign of y.
func (l *line) signed(x, y value) value {
	return l.or(l.and(x, l.bits(1<<63-1)), l.and(y, l.bits(1<<63)))
}

// reciprocal returns 1/x for x between 2^-100 and 2^100, by Newton's method from the nearest float32.
// The relative error is below 2^-45.
func (l *line) reciprocal(x value) value {
	y := l.near(x)
	return l.fma(l.fnma(x, y, l.float(1)), y, y)
}

// whole is a constant that rounds what is added to it to an integer, in the last bits of the sum.
const whole = 0x1.8p52

// exp1Series is (exp(r) - 1) / r for |r| up to log(2)/2.
var exp1Series = func() []float64 {
	half := times(number(0.5), ln2)
	return scaled(series(exp1).polynomial(times(number(-1), half), half, 8), half)
}()

// expParts returns k, the integer nearest to x/log 2, in the last bits of a number, and exp(x - k log
// 2) - 1.
func (l *line) expParts(x value) (k, p value) {
	k = l.fma(x, l.float(math.Log2E), l.float(whole))
	r := l.fnma(l.sub(k, l.float(whole)), l.float(math.Ln2), x)
	return k, l.mul(r, l.polynomial(exp1Series, r))
}

func (l *line) exp(x value) value {
	k, p := l.expParts(x)
	return l.plus(l.add(p, l.float(1)), l.left(k, 52))
}

func (l *line) expm1(x value) value {
	k, p := l.expParts(x)
	power := l.plus(l.left(k, 52), l.float(1))
	return l.fma(power, p, l.sub(power, l.float(1)))
}

func exp2(l *line) value {
	x := l.clamp(l.x(), -200, 200)
	k := l.add(x, l.float(whole))
	r := l.mul(l.sub(x, l.sub(k, l.float(whole))), l.float(math.Ln2))
	return l.plus(l.fma(l.polynomial(exp1Series, r), r, l.float(1)), l.left(k, 52))
}

// logParts returns k, s and p with log x = k log 2 + 2 s p: x is 2^k m, m between √½
// and √2, s = (m-1)/(m+1), and p = atanh(s)/s.
func (l *line) logParts(x value) (k, s, p value) {
	k, m := l.mantissa(x)
	return l.logFrom(k, l.sub(m, l.float(1)))
}

func (l *line) mantissa(x value) (k, m value) {
	const one, root = 0x3ff0000000000000, 0x3fe6a09e667f3bcd
	u := l.plus(x, l.bits(one-root))
	k = l.sub(l.or(l.right(u, 52), l.float(0x1p52)), l.float(0x1p52+1023))
	return k, l.plus(l.and(u, l.bits(1<<52-1)), l.bits(root))
}

func (l *line) logFrom(k, f value) (_, s, p value) {
	s = l.mul(f, l.reciprocal(l.add(f, l.float(2))))
	most := parse("0.02943725152285941668") // ((√2-1)/(√2+1))²
	half := times(number(0.5), most)
	c := series(atanh1).polynomial(number(0), most, 6)
	// In t = (s² - half)/half.
	return k, s, l.polynomial(c, l.fma(l.mul(s, s), l.float(rounded(ratio(number(1), half))), l.float(-1)))
}

// logSpecial returns y if x is positive and finite, otherwise the logarithm of the special value x.
func (l *line) logSpecial(y, x value) value {
	other := l.less(x, l.float(0), l.float(math.NaN()), l.float(math.Inf(-1)))
	return l.less(x, l.float(math.Inf(1)), l.less(l.float(0), x, y, other), x)
}

func log1p(l *line) value {
	x := l.x()
	u := l.add(x, l.float(1))
	k, m := l.mantissa(u)
	f := l.less(l.and(k, l.bits(1<<63-1)), l.float(0.5), x, l.sub(m, l.float(1)))
	k, s, p := l.logFrom(k, f)
	return l.signed(l.logSpecial(l.fma(l.add(s, s), p, l.mul(k, l.float(math.Ln2))), u), x)
}

// tanh is -t/(t+2) with the sign of x, for t = exp(-2|x|) - 1.
func tanh(l *line) value {
	x := l.x()
	a := l.or(x, l.bits(1<<63))
	t := l.expm1(l.max(l.float(-100), l.add(a, a)))
	return l.signed(l.mul(t, l.reciprocal(l.add(t, l.float(2)))), x)
}

func (l *line) sigmoid(x value) value {
	e := l.exp(l.max(l.float(-150), l.or(x, l.bits(1<<63))))
	y := l.reciprocal(l.add(e, l.float(1)))
	return l.less(x, l.float(0), l.mul(e, y), y)
}

// rsqrt takes a step of Newton's method from a result in float32.
func rsqrt(l *line) value {
	x := l.x()
	y := l.near(l.root(x))
	h := l.fnma(l.mul(x, y), y, l.float(1))
	z := l.fma(l.mul(y, l.float(0.5)), h, y)
	return l.less(x, l.float(math.Inf(1)), l.less(l.float(0), x, z, y), y)
}

// sine returns the sine of x + quarters π/2. r is x minus the nearest multiple of π/2, which three
// numbers represent with 160 bits.
func (l *line) sine(quarters int) value {
	x := l.x()
	k := l.fma(x, l.float(2/math.Pi), l.float(whole))
	n := l.sub(k, l.float(whole))
	r, rest := x, times(number(0.5), pi)
	for range 3 {
		part := rounded(rest)
		if number(part).Cmp(rest) > 0 {
			part = math.Nextafter(part, 0) // positive parts alone keep the sign of 0
		}
		rest = sum(rest, number(-part))
		r = l.fnma(n, l.float(part), r)
	}
	if quarters > 0 {
		k = l.plus(k, l.bits(uint64(quarters)))
	}
	z := l.mul(r, r)
	most := times(times(number(0.25), pi), times(number(0.25), pi))
	t := l.fma(z, l.float(rounded(ratio(number(2), most))), l.float(-1))
	sin := l.mul(r, l.polynomial(series(sin1).polynomial(number(0), most, 6), t))
	cos := l.polynomial(series(cos1).polynomial(number(0), most, 7), t)
	odd := l.or(l.left(k, 63), l.float(1)) // -1 if k is odd
	y := l.less(odd, l.float(0), cos, sin)
	sign := l.and(l.left(k, 62), l.bits(1<<63))
	return l.xor(y, sign)
}

// functions prints all functions, and returns tables of them and their Go source.
func functions() (tables, portable string) {
	var names, words, limits, scalars, wide, narrow, code strings.Builder
	var table constants
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
		l := &line{}
		result := f.result(l)
		code.WriteString(l.printGo(own+"Of", f.comment, result))
		for _, w := range []bool{true, false} {
			name, turn := "avx2"+f.name, 4
			if w {
				name, turn = "avx512"+f.name, 8
			}
			fn("is a [Pass]: "+f.comment+".", name, "(dst, x, y unsafe.Pointer, n int, alpha, beta float32)", 0, 40)
			load("dst", "DI", "x", "SI", "y", "R8", "n", "CX")
			e := &emitter{l: l, wide: w, table: &table}
			e.prepare()
			p("loop:")
			e.print(result)
			p("ADDQ $%d, SI\nADDQ $%d, R8\nADDQ $%d, DI\nSUBQ $%d, CX\nJGT loop\nVZEROUPPER\nRET\n", turn*4, turn*4, turn*4, turn)
		}
	}
	table.print()
	tables = "\nvar avx512Functions = [...]Pass{\n" + wide.String() + "}\n\nvar avx2Functions = [...]Pass{\n" + narrow.String() + "}\n"
	portable = "// The functions.\nconst (\n" + names.String() + "\tfunctions\n)\n" +
		"\nvar names = [functions]string{\n" + words.String() + "}\n" +
		"\nvar limits = [functions]float32{\n" + limits.String() + "}\n" +
		"\nvar scalars = [functions]func(x, y, alpha float32) float32{\n" + scalars.String() + "}\n" + code.String()
	return tables, portable
}
