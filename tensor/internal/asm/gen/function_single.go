package main

import (
	"math"
	"math/big"
)

// The functions that compute in float32. Each result is the nearest float32 or a neighbour of it,
// if a comment does not say otherwise.

// wholeSingle is a number that makes a float32 that is added to it whole: it is in the last bits then.
const wholeSingle = 0x1.8p23

// ln2Short has the first 12 bits of the logarithm of 2.
const ln2Short = 0x1.62ep-1

// The logarithm of 2 as a sum of two float32.
var (
	ln2High = float64(float32(math.Ln2))
	ln2Low  = rounded(sum(ln2, number(-ln2High)))
)

// Coefficients.
var (
	expTerms     = fit(series(exp2nd).at, -0.35, 0.35, 5)
	expHalfTerms = fit(series(exp2nd).at, -0.35, 0.35, 4)
	logTerms     = fit(series(log2nd).at, -0.25, 0.5, 9)
	scaledTerms  = fit(series(log2nd).at, -1./3, 1./3, 9)
	tanhTerms    = fit(func(z *big.Float) *big.Float { // (tanh(√z)/√z - 1) / z
		return ratio(sum(ratio(series(sinh1).at(z), series(cosh0).at(z)), number(-1)), z)
	}, 0, 1, 8)
	expm1Terms   = fit(series(exp2nd).at, -0.56, 0.56, 6)
	erfTerms     = fit(func(z *big.Float) *big.Float { return sum(series(erf1).at(z), number(-1)) }, 0, 1, 8)
	sinTerms     = fit(func(z *big.Float) *big.Float { return ratio(sum(series(sin1).at(z), number(-1)), z) }, 0, 0.62, 3)
	cosTerms     = fit(series(cos1).at, 0, 0.62, 5)
	sinLessTerms = fit(func(z *big.Float) *big.Float { return ratio(sum(number(1), times(number(-1), series(sin1).at(z))), z) }, 0, 0.62, 4)
	cosLessTerms = fit(func(z *big.Float) *big.Float { return ratio(sum(number(1), times(number(-1), series(cos1).at(z))), z) }, 0, 0.62, 4)
	erfcTerms    = fit(func(v *big.Float) *big.Float { // log(1 - erf(1 + v))
		a := sum(v, number(1))
		return logOf(sum(number(1), times(number(-1), times(a, series(erf1).at(times(a, a))))))
	}, 0, 2.95, 10)
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
	c := l.clamp(x, -20, 89)
	n, r := l.reduced(c)
	near := l.size(x)
	n, r = l.less(near, l.float(0.55), l.float(0), n), l.less(near, l.float(0.55), c, r)
	p := l.fma(l.mul(r, r), l.horner(expm1Terms, r), r)
	half := l.scale(l.float(0.5), n)
	y := l.fma(half, p, l.sub(half, l.float(0.5)))
	return l.less(near, l.float(0.25), l.less(near, l.float(0x1p-30), x, p), l.add(y, y))
}

// sigmoidParts returns n and a sum of two numbers that is the sigmoid of x divided by 2^n.
func (l *line) sigmoidParts(x value) (y, rest, n value) {
	n, r := l.reduced(l.max(l.float(-110), l.or(x, l.sign())))
	p := l.expLess1(r)
	e := l.add(p, l.float(1)) // exp(-|x|) is 2^n (e + low)
	low := l.sub(p, l.sub(e, l.float(1)))
	power := l.scale(l.float(1), n)
	d := l.fma(power, e, l.float(1)) // 1 + exp(-|x|) is d + dLow
	dLow := l.fma(power, low, l.fma(power, e, l.sub(l.float(1), d)))
	negative := func(a value, b float64) value { return l.less(x, l.float(0), a, l.float(b)) }
	inverse, top := l.div(l.float(1), d), negative(e, 1)
	y = l.mul(top, inverse)
	rest = l.fnma(y, dLow, l.fnma(y, d, top))
	return y, l.mul(l.add(rest, negative(low, 0)), inverse), negative(n, 0)
}

func sigmoidSingle(l *line) value {
	y, rest, n := l.sigmoidParts(l.x())
	return l.scale(l.add(y, rest), n)
}

func silu(l *line) value {
	x := l.x()
	y, rest, n := l.sigmoidParts(x)
	return l.less(x, l.float(-110), l.mul(x, l.float(0)), l.scale(l.fma(x, y, l.mul(l.min(l.float(0x1p100), x), rest)), n))
}

func siluGrad(l *line) value {
	x := l.x()
	s := l.simpleSigmoid(x)
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
	c := l.clamp(x, -1e4, 1e4) // beyond, the slope is 0 or 1
	z := l.mul(c, c)
	s := l.simpleSigmoid(l.mul(c, l.fma(z, l.float(cubic*outer), l.float(outer))))
	slope := l.mul(c, l.fma(z, l.float(3*cubic*outer), l.float(outer)))
	y := l.mul(s, l.fma(slope, l.sub(l.float(1), s), l.float(1)))
	return l.mul(l.y(), l.sub(y, l.sub(x, x))) // NaN for the infinite
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
	far := l.sub(l.float(1), l.expOf(l.horner(erfcTerms, l.sub(a, l.float(1)))))
	return l.signed(l.less(a, l.float(1), near, far), x)
}

// logNear returns log(1+f) - f.
func (l *line) logNear(terms []float64, f value) value {
	return l.mul(l.mul(f, f), l.polynomialOf2(terms, f))
}

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

// logSplit returns k and f with x = 2^k (1+f) for positive and finite x. 1+f is at least from and less than twice that.
func (l *line) logSplit(x value, from float64) (k, f value) {
	tiny := l.less(x, l.float(0x1p-126), l.mul(x, l.float(0x1p23)), x)
	least := l.float(from)
	e := l.and(l.do("minus", 0, tiny, least), l.bits(0xff800000))
	k = l.toFloat(l.rightSigned(e, 23))
	k = l.sub(k, l.less(x, l.float(0x1p-126), l.float(23), l.float(0)))
	return k, l.sub(l.do("minus", 0, tiny, e), l.float(1))
}

// logResult returns a (f+rest) + k b, or what the logarithm of x is if that is not positive and finite.
func (l *line) logResult(x, k, f, rest value, a, b float64) value {
	high := float64(float32(a))
	var y value
	if b == 1 { // a (f+rest) can be larger than the result, and its rounding is made up for
		most := l.mul(f, l.float(high))
		low := l.fma(f, l.float(high), l.xor(most, l.sign()))
		low = l.add(low, l.fma(f, l.float(a-high), l.mul(rest, l.float(a))))
		sum := l.add(k, most)
		y = l.add(sum, l.add(l.sub(most, l.sub(sum, k)), low))
	} else {
		y = l.fma(f, l.float(high), l.fma(f, l.float(a-high), l.mul(rest, l.float(a))))
		high := float64(float32(b))
		y = l.fma(k, l.float(high), l.fma(k, l.float(b-high), y))
	}
	return l.logSpecial(y, x)
}

// logNatural needs few bits of log 2, of which float32 has 29. A wide line gives the special results itself.
func logNatural(l *line) value {
	x := l.x()
	sum := func(k, f value) value {
		return l.fma(k, l.float(math.Ln2), l.fma(l.mul(f, f), l.polynomialOf2(logTerms, f), f))
	}
	if l.wide {
		return sum(l.exponent(x), l.sub(l.fraction(x), l.float(1)))
	}
	return l.logSpecial(sum(l.logSplit(x, 0.75)), x)
}

// logScaled is the logarithm to another base: a times that of 1+f, and k b.
func logScaled(a, b float64) func(l *line) value {
	return func(l *line) value {
		x := l.x()
		k, f := l.logSplit(x, 2./3)
		return l.logResult(x, k, f, l.logNear(scaledTerms, f), a, b)
	}
}

// log1pSingle computes f from x itself, because 1 + x rounds.
func log1pSingle(l *line) value {
	x := l.x()
	u := l.add(x, l.float(1))
	e := l.and(l.do("minus", 0, u, l.float(0.75)), l.bits(0xff800000))
	k := l.toFloat(l.rightSigned(e, 23))
	power := l.do("minus", 0, l.float(1), e) // 2^-k
	f := l.less(x, l.float(0x1p60), l.fma(x, power, l.sub(power, l.float(1))), l.sub(l.do("minus", 0, u, e), l.float(1)))
	// k ln2Short is exact, and so is low.
	big := l.mul(k, l.float(ln2Short))
	high := l.add(big, f)
	low := l.fma(k, l.float(math.Ln2-ln2Short), l.sub(f, l.sub(high, big)))
	return l.signed(l.logSpecial(l.add(high, l.add(low, l.logNear(logTerms, f))), u), x)
}

// rsqrtSingle is what torch computes. For halves, a step of Newton's method leads to the same results in a third of
// the time: its relative error is below 2^-22, and no 1/√x of a float16 or bfloat16 is closer than 2^-21.5 to a number
// between two neighbours. 0, infinity, NaN and negative numbers keep the estimate.
func rsqrtSingle(l *line) value {
	x := l.x()
	if !l.half {
		return l.div(l.float(1), l.sqrt(x))
	}
	y := l.rsqrtEstimate(x)
	rest := l.fnma(l.mul(x, y), y, l.float(1))
	return l.less(rest, l.float(1), l.fma(l.mul(y, l.float(0.5)), rest, y), y)
}

// pieces are polynomials for a from 0 to 15 in 32 intervals: 1 + a has 8 between one power of 2 and the
// next, and a's index is in the bits of 1 + a. Terms are in the distance from a number near the middle
// where f is close to a float32, which is the first of them.
type pieces struct {
	middle []float64
	terms  [][]float64
}

func piecesOf(f func(a *big.Float) *big.Float, terms int) pieces {
	t := pieces{make([]float64, 32), make([][]float64, terms)}
	for i := range t.terms {
		t.terms[i] = make([]float64, 32)
	}
	for exponent := range 4 {
		for part := range 8 {
			width := math.Ldexp(1, exponent) / 8
			middle := 8*width + width*(float64(part)+0.5) - 1
			at := (exponent+3)%4*8 + part
			middle = nearSingle(f, middle, width)
			t.middle[at] = middle
			c := fit(func(d *big.Float) *big.Float { return f(sum(number(middle), d)) }, -width/2, width/2, terms)
			for i := range c {
				t.terms[i][at] = c[i]
			}
		}
	}
	return t
}

// nearSingle returns the number, of some hundred next to the middle of an interval, where f is closest to a
// float32. This is Gal's method (S. Gal, B. Bachelis, An accurate elementary mathematical library for the IEEE
// floating point standard, 1991).
func nearSingle(f func(a *big.Float) *big.Float, middle, width float64) float64 {
	const tries = 0x1p-7
	c := fit(func(d *big.Float) *big.Float { return f(sum(number(middle), d)) }, -width*tries, width*tries, 5)
	best, least := middle, math.Inf(1)
	for i := -128.; i < 128; i++ {
		d := i / 128 * tries * width
		y := c[len(c)-1]
		for j := len(c) - 2; j >= 0; j-- {
			y = math.FMA(y, d, c[j])
		}
		if off := math.Abs(y/float64(float32(y)) - 1); off < least {
			best, least = middle+d, off
		}
	}
	return best
}

// tail is exp(a²/2) Φ(-a), and slope is exp(a²/2) times the derivative of x Φ(x) at -a.
func tail(a *big.Float) *big.Float {
	return times(tailOf(a), series(exp0).at(times(number(0.5), times(a, a))))
}

func slope(a *big.Float) *big.Float { return sum(tail(a), times(number(-1), times(a, phi1(0, nil)))) }

var (
	tailPieces      = piecesOf(tail, 6)
	tailHalfPieces  = piecesOf(tail, 5)
	slopeHalfPieces = piecesOf(slope, 5)
)

// halfTail returns n and a number that is exp(-a²/2) times the function of a in pieces, divided by 2^n,
// off by some of the last bits of float32. Beyond 15 it is only roughly so.
func (l *line) halfTail(a value, t pieces) (y, n value) {
	n, r := l.reduced(l.mul(l.mul(a, l.float(-0.5)), a))
	near := l.min(l.float(15-0x1p-20), a)
	at := l.right(l.add(near, l.float(1)), 20)
	d := l.sub(a, l.lookup(t.middle, at))
	last := len(t.terms) - 1
	f := l.lookup(t.terms[last], at)
	for i := last - 1; i >= 0; i-- {
		f = l.fma(f, d, l.lookup(t.terms[i], at))
	}
	return l.fma(f, l.fma(l.mul(r, r), l.horner(expHalfTerms, r), r), f), n
}

func geluHalf(l *line) value {
	x := l.x()
	c := l.clamp(x, -15, 15) // where the result is 0
	y := l.mul(c, l.scale(l.halfTail(l.size(c), tailHalfPieces)))
	y = l.less(x, l.float(0), l.add(y, l.sub(x, x)), l.sub(x, y)) // NaN for minus infinity
	return l.or(y, l.and(x, l.sign()))
}

// geluGradHalf multiplies by y before the product with 2^n, which may be too small for float32. Beyond
// 19.8 the result is 0 even times the largest number.
func geluGradHalf(l *line) value {
	x, y := l.x(), l.y()
	a := l.size(x)
	t, n := l.halfTail(l.min(l.float(19.8), a), slopeHalfPieces)
	t = l.less(a, l.float(19.8), t, l.float(0))
	half := l.sub(l.add(l.mul(n, l.float(0.5)), l.float(wholeSingle)), l.float(wholeSingle))
	t = l.mul(l.less(x, l.float(0), y, l.float(1)), l.mul(t, l.float(0.0625))) // t is less than 16
	t = l.mul(l.mul(t, l.scale(l.float(1), half)), l.scale(l.float(1), l.sub(n, l.sub(half, l.float(4)))))
	t = l.less(x, l.float(0), t, l.mul(y, l.sub(l.float(1), t)))
	return l.sub(t, l.sub(x, x)) // NaN for the infinite
}

func siluHalf(l *line) value { return l.mul(l.x(), l.simpleSigmoid(l.x())) }

// geluSingle is x or 0 less |x| Φ(-|x|), whose roundings but two are small.
func geluSingle(l *line) value {
	x := l.x()
	b := l.size(l.min(l.float(16), x))
	most := l.sub(l.max(l.float(math.Copysign(0, -1)), x), l.sub(b, b)) // NaN for minus infinity
	a := l.min(l.float(14.9), b)                                        // where the rest is 0

	// exp(-a²/2) is 2^n (1 + p), a²/2 being less - s.
	half := l.mul(a, l.float(-0.5))
	s := l.mul(half, a)
	less := l.fnma(half, a, s)
	n, r := l.reduced(s)
	p := l.expLess1(l.sub(r, less))

	// exp(a²/2) Φ(-a) is f + rest.
	at := l.right(l.add(a, l.float(1)), 20)
	d := l.sub(a, l.lookup(tailPieces.middle, at))
	rest := l.lookup(tailPieces.terms[5], at)
	for i := 4; i > 0; i-- {
		rest = l.fma(rest, d, l.lookup(tailPieces.terms[i], at))
	}
	rest = l.mul(rest, d)
	f := l.lookup(tailPieces.terms[0], at)

	rest = l.fma(f, p, l.fma(rest, p, rest))
	return l.sub(most, l.scale(l.fma(a, f, l.mul(a, rest)), n))
}
