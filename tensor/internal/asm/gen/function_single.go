package main

import (
	"math"
	"math/big"
)

// The functions that compute in float32. Each result is the nearest float32 or a neighbour of it,
// if a comment does not say otherwise.

// wholeSingle is a number that makes a float32 that is added to it whole: it is in the last bits then.
const wholeSingle = 0x1.8p23

// The logarithm of 2 as a sum of two float32.
var (
	ln2High = float64(float32(math.Ln2))
	ln2Low  = rounded(sum(ln2, number(-ln2High)))
)

// Coefficients.
var (
	expTerms  = fit(series(exp2nd).at, -0.35, 0.35, 5)
	logTerms  = fit(series(log2nd).at, -1./3, 1./3, 9)
	tanhTerms = fit(func(z *big.Float) *big.Float { // (tanh(√z)/√z - 1) / z
		return ratio(sum(ratio(series(sinh1).at(z), series(cosh0).at(z)), number(-1)), z)
	}, 0, 1, 8)
	erfTerms  = fit(func(z *big.Float) *big.Float { return sum(series(erf1).at(z), number(-1)) }, 0, 1, 8)
	erfcTerms = fit(func(v *big.Float) *big.Float { // log(1 - erf(v + 2.5))
		a := sum(v, number(2.5))
		return logOf(sum(number(1), times(number(-1), times(a, series(erf1).at(times(a, a))))))
	}, -1.5, 1.45, 10)
)

// reduced returns n, the integer next to x/log 2, and r = x - n log 2.
func (l *line) reduced(x value) (n, r value) {
	k := l.fma(x, l.float(math.Log2E), l.float(wholeSingle))
	n = l.sub(k, l.float(wholeSingle))
	return n, l.fnma(n, l.float(ln2Low), l.fnma(n, l.float(ln2High), x))
}

// expLess1 returns exp(r) - 1 for |r| up to 0.35.
func (l *line) expLess1(r value) value { return l.fma(l.mul(r, r), l.horner(expTerms, r), r) }

// horner is polynomial without a second chain.
func (l *line) horner(c []float64, x value) value {
	y := l.float(c[len(c)-1])
	for i := len(c) - 2; i >= 0; i-- {
		y = l.fma(y, x, l.float(c[i]))
	}
	return y
}

// expOf returns exp(x) for x from -104 to 89, or NaN.
func (l *line) expOf(x value) value {
	n, r := l.reduced(x)
	return l.scale(l.add(l.expLess1(r), l.float(1)), n)
}

func expSingle(l *line) value { return l.expOf(l.clamp(l.shifted(), -104, 89)) }

func exp2Single(l *line) value {
	x := l.clamp(l.x(), -151, 129)
	n := l.sub(l.add(x, l.float(wholeSingle)), l.float(wholeSingle))
	return l.scale(l.add(l.expLess1(l.mul(l.sub(x, n), l.float(math.Ln2))), l.float(1)), n)
}

// expm1Single doubles half the result, because 2^128 is beyond float32.
func expm1Single(l *line) value {
	x := l.x()
	n, r := l.reduced(l.clamp(x, -20, 89))
	p := l.expLess1(r)
	half := l.scale(l.float(0.5), n)
	y := l.fma(half, p, l.sub(half, l.float(0.5)))
	return l.less(l.size(x), l.float(0.25), l.less(l.size(x), l.float(0x1p-30), x, p), l.add(y, y))
}

// sigmoidParts returns a number near the sigmoid of x, and what that is short of it.
func (l *line) sigmoidParts(x value) (y, rest value) {
	n, r := l.reduced(l.max(l.float(-104), l.or(x, l.sign())))
	p := l.expLess1(r)
	e := l.add(p, l.float(1)) // exp(-|x|) is 2^n (e + low)
	low := l.sub(p, l.sub(e, l.float(1)))
	power := l.scale(l.float(1), n)
	d := l.fma(power, e, l.float(1)) // 1 + exp(-|x|) is d + dLow
	dLow := l.fma(power, low, l.fma(power, e, l.sub(l.float(1), d)))
	negative := func(a value, b float64) value { return l.less(x, l.float(0), a, l.float(b)) }
	inverse := l.div(l.float(1), d)
	top := negative(l.mul(power, e), 1)
	y = l.mul(top, inverse)
	rest = l.fnma(y, dLow, l.fnma(y, d, top))
	rest = l.mul(l.add(rest, negative(l.mul(power, low), 0)), inverse)
	return y, rest
}

func sigmoidSingle(l *line) value {
	y, rest := l.sigmoidParts(l.x())
	return l.add(y, rest)
}

func silu(l *line) value {
	x := l.x()
	y, rest := l.sigmoidParts(x)
	return l.fma(x, y, l.mul(x, rest))
}

func siluGrad(l *line) value {
	x := l.x()
	s := sigmoidSingle(l)
	return l.mul(l.y(), l.mul(s, l.fma(x, l.sub(l.float(1), s), l.float(1))))
}

// The numbers of [driver.GeluTanh].
const (
	cubic = 0.044715
	outer = 1.5957691216057308 // 2√(2/π)
)

// simpleSigmoid is two float32 off at most.
func (l *line) simpleSigmoid(x value) value {
	e := l.expOf(l.max(l.float(-104), l.or(x, l.sign())))
	return l.div(l.less(x, l.float(0), e, l.float(1)), l.add(e, l.float(1)))
}

func geluTanh(l *line) value {
	x := l.x()
	z := l.mul(x, x)
	return l.mul(x, l.simpleSigmoid(l.mul(x, l.fma(z, l.float(cubic*outer), l.float(outer)))))
}

func geluTanhGrad(l *line) value {
	x := l.x()
	z := l.mul(x, x)
	s := l.simpleSigmoid(l.mul(x, l.fma(z, l.float(cubic*outer), l.float(outer))))
	slope := l.mul(x, l.fma(z, l.float(3*cubic*outer), l.float(outer)))
	return l.mul(l.y(), l.mul(s, l.fma(slope, l.sub(l.float(1), s), l.float(1))))
}

func tanhSingle(l *line) value {
	x := l.x()
	a := l.min(l.float(10), l.size(x))
	z := l.mul(a, a)
	near := l.fma(l.mul(a, z), l.horner(tanhTerms, z), a)
	e := l.expOf(l.add(a, a))
	far := l.sub(l.float(1), l.div(l.float(2), l.add(e, l.float(1))))
	return l.signed(l.less(a, l.float(1), near, far), x)
}

func erfSingle(l *line) value {
	x := l.x()
	a := l.min(l.float(3.93), l.size(x))
	near := l.fma(a, l.horner(erfTerms, l.mul(a, a)), a)
	far := l.sub(l.float(1), l.expOf(l.horner(erfcTerms, l.sub(a, l.float(2.5)))))
	return l.signed(l.less(a, l.float(1), near, far), x)
}

// logNear returns log(1+f) - f for f between -1/3 and 1/3.
func (l *line) logNear(f value) value { return l.mul(l.mul(f, f), l.polynomialOf2(logTerms, f)) }

// polynomialOf2 is horner in two chains.
func (l *line) polynomialOf2(c []float64, x value) value {
	var even, odd []float64
	for i := range c {
		if i%2 == 0 {
			even = append(even, c[i])
		} else {
			odd = append(odd, c[i])
		}
	}
	square := l.mul(x, x)
	return l.fma(l.horner(odd, square), x, l.horner(even, square))
}

// logSplit returns k and f with x = 2^k (1+f), f between -1/3 and 1/3, for positive and finite x.
func (l *line) logSplit(x value) (k, f value) {
	tiny := l.less(x, l.float(0x1p-126), l.mul(x, l.float(0x1p23)), x)
	least := l.float(2. / 3)
	e := l.and(l.do("minus", 0, tiny, least), l.bits(0xff800000))
	k = l.toFloat(l.rightSigned(e, 23))
	k = l.sub(k, l.less(x, l.float(0x1p-126), l.float(23), l.float(0)))
	return k, l.sub(l.do("minus", 0, tiny, e), l.float(1))
}

// logResult returns a (f+rest) + k b, or what the logarithm of x is if that is not positive and finite.
func (l *line) logResult(x, k, f, rest value, a, b float64) value {
	var y value
	if a == 1 {
		y = l.add(f, rest)
	} else {
		high := float64(float32(a))
		y = l.fma(f, l.float(high), l.fma(f, l.float(a-high), l.mul(rest, l.float(a))))
	}
	if b == 1 {
		y = l.add(y, k)
	} else {
		y = l.fma(k, l.float(b), y)
	}
	return l.logSpecial(y, x)
}

func logSingle(a, b float64) func(l *line) value {
	return func(l *line) value {
		x := l.x()
		k, f := l.logSplit(x)
		return l.logResult(x, k, f, l.logNear(f), a, b)
	}
}

// log1pSingle computes f from x itself, because 1 + x rounds.
func log1pSingle(l *line) value {
	x := l.x()
	u := l.add(x, l.float(1))
	e := l.and(l.do("minus", 0, u, l.float(2./3)), l.bits(0xff800000))
	k := l.toFloat(l.rightSigned(e, 23))
	power := l.do("minus", 0, l.float(1), e) // 2^-k
	f := l.less(x, l.float(0x1p60), l.fma(x, power, l.sub(power, l.float(1))), l.sub(l.do("minus", 0, u, e), l.float(1)))
	return l.signed(l.logResult(u, k, f, l.logNear(f), 1, math.Ln2), x)
}

// rsqrtSingle is what torch computes.
func rsqrtSingle(l *line) value { return l.div(l.float(1), l.sqrt(l.x())) }
