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
func (l line) reduced(x value) (n, r value) {
	k := l.FMA(x, l.Float(math.Log2E), l.Float(wholeSingle))
	n = l.Sub(k, l.Float(wholeSingle))
	return n, l.FNMA(n, l.Float(ln2Low), l.FNMA(n, l.Float(ln2High), x))
}

// expLess1 returns exp(r) - 1 for |r| up to 0.35.
func (l line) expLess1(r value) value { return l.FMA(l.Mul(r, r), l.horner(expTerms, r), r) }

// expOf returns exp(x) for x from -104 to 89, or NaN.
func (l line) expOf(x value) value {
	n, r := l.reduced(x)
	return l.Scale(l.Add(l.expLess1(r), l.Float(1)), n)
}

func expSingle(l line) value { return l.expOf(l.clamp(l.Shifted(), -104, 89)) }

func exp2Single(l line) value {
	x := l.clamp(l.X(), -151, 129)
	n := l.Sub(l.Add(x, l.Float(wholeSingle)), l.Float(wholeSingle))
	return l.Scale(l.Add(l.expLess1(l.Mul(l.Sub(x, n), l.Float(math.Ln2))), l.Float(1)), n)
}

// expm1Single doubles half the result, because 2^128 is beyond float32.
func expm1Single(l line) value {
	x := l.X()
	c := l.clamp(x, -20, 89)
	n, r := l.reduced(c)
	near := l.Abs(x)
	n, r = l.Less(near, l.Float(0.55), l.Float(0), n), l.Less(near, l.Float(0.55), c, r)
	p := l.FMA(l.Mul(r, r), l.horner(expm1Terms, r), r)
	half := l.Scale(l.Float(0.5), n)
	y := l.FMA(half, p, l.Sub(half, l.Float(0.5)))
	return l.Less(near, l.Float(0.25), l.Less(near, l.Float(0x1p-30), x, p), l.Add(y, y))
}

// sigmoidParts returns n and a sum of two numbers that is the sigmoid of x divided by 2^n.
func (l line) sigmoidParts(x value) (y, rest, n value) {
	n, r := l.reduced(l.Max(l.Float(-110), l.Or(x, l.Sign())))
	p := l.expLess1(r)
	e := l.Add(p, l.Float(1)) // exp(-|x|) is 2^n (e + low)
	low := l.Sub(p, l.Sub(e, l.Float(1)))
	power := l.Scale(l.Float(1), n)
	d := l.FMA(power, e, l.Float(1)) // 1 + exp(-|x|) is d + dLow
	dLow := l.FMA(power, low, l.FMA(power, e, l.Sub(l.Float(1), d)))
	negative := func(a value, b float64) value { return l.Less(x, l.Float(0), a, l.Float(b)) }
	inverse, top := l.Div(l.Float(1), d), negative(e, 1)
	y = l.Mul(top, inverse)
	rest = l.FNMA(y, dLow, l.FNMA(y, d, top))
	return y, l.Mul(l.Add(rest, negative(low, 0)), inverse), negative(n, 0)
}

func sigmoidSingle(l line) value {
	y, rest, n := l.sigmoidParts(l.X())
	return l.Scale(l.Add(y, rest), n)
}

func silu(l line) value {
	x := l.X()
	y, rest, n := l.sigmoidParts(x)
	return l.Less(x, l.Float(-110), l.Mul(x, l.Float(0)), l.Scale(l.FMA(x, y, l.Mul(l.Min(l.Float(0x1p100), x), rest)), n))
}

func siluGrad(l line) value {
	x := l.X()
	s := l.simpleSigmoid(x)
	return l.Mul(l.Y(), l.Mul(s, l.FMA(x, l.Sub(l.Float(1), s), l.Float(1))))
}

// The numbers of [driver.GeluTanh].
const (
	cubic = 0.044715
	outer = 1.5957691216057308 // 2√(2/π)
)

// simpleSigmoid is two float32 off at most.
func (l line) simpleSigmoid(x value) value {
	e := l.expOf(l.Max(l.Float(-104), l.Or(x, l.Sign())))
	return l.Div(l.Less(x, l.Float(0), e, l.Float(1)), l.Add(e, l.Float(1)))
}

func geluTanh(l line) value {
	x := l.X()
	z := l.Mul(x, x)
	return l.Mul(x, l.simpleSigmoid(l.Mul(x, l.FMA(z, l.Float(cubic*outer), l.Float(outer)))))
}

func geluTanhGrad(l line) value {
	x := l.X()
	c := l.clamp(x, -1e4, 1e4) // beyond, the slope is 0 or 1
	z := l.Mul(c, c)
	s := l.simpleSigmoid(l.Mul(c, l.FMA(z, l.Float(cubic*outer), l.Float(outer))))
	slope := l.Mul(c, l.FMA(z, l.Float(3*cubic*outer), l.Float(outer)))
	y := l.Mul(s, l.FMA(slope, l.Sub(l.Float(1), s), l.Float(1)))
	return l.Mul(l.Y(), l.Sub(y, l.Sub(x, x))) // NaN for the infinite
}

func tanhSingle(l line) value {
	x := l.X()
	a := l.Min(l.Float(10), l.Abs(x))
	z := l.Mul(a, a)
	near := l.FMA(l.Mul(a, z), l.horner(tanhTerms, z), a)
	e := l.expOf(l.Add(a, a))
	far := l.Sub(l.Float(1), l.Div(l.Float(2), l.Add(e, l.Float(1))))
	return l.signed(l.Less(a, l.Float(1), near, far), x)
}

func erfSingle(l line) value {
	x := l.X()
	a := l.Min(l.Float(3.93), l.Abs(x))
	near := l.FMA(a, l.horner(erfTerms, l.Mul(a, a)), a)
	far := l.Sub(l.Float(1), l.expOf(l.horner(erfcTerms, l.Sub(a, l.Float(1)))))
	return l.signed(l.Less(a, l.Float(1), near, far), x)
}

// logNear returns log(1+f) - f.
func (l line) logNear(terms []float64, f value) value {
	return l.Mul(l.Mul(f, f), l.polynomialOf2(terms, f))
}

// logSplit returns k and f with x = 2^k (1+f) for positive and finite x. 1+f is at least from and less than twice that.
func (l line) logSplit(x value, from float64) (k, f value) {
	tiny := l.Less(x, l.Float(0x1p-126), l.Mul(x, l.Float(0x1p23)), x)
	least := l.Float(from)
	e := l.And(l.Minus(tiny, least), l.Bits(0xff800000))
	k = l.ToFloat(l.RightSigned(e, 23))
	k = l.Sub(k, l.Less(x, l.Float(0x1p-126), l.Float(23), l.Float(0)))
	return k, l.Sub(l.Minus(tiny, e), l.Float(1))
}

// logResult returns a (f+rest) + k b, or what the logarithm of x is if that is not positive and finite.
func (l line) logResult(x, k, f, rest value, a, b float64) value {
	high := float64(float32(a))
	var y value
	if b == 1 { // a (f+rest) can be larger than the result, and its rounding is made up for
		most := l.Mul(f, l.Float(high))
		low := l.FMA(f, l.Float(high), l.Xor(most, l.Sign()))
		low = l.Add(low, l.FMA(f, l.Float(a-high), l.Mul(rest, l.Float(a))))
		sum := l.Add(k, most)
		y = l.Add(sum, l.Add(l.Sub(most, l.Sub(sum, k)), low))
	} else {
		y = l.FMA(f, l.Float(high), l.FMA(f, l.Float(a-high), l.Mul(rest, l.Float(a))))
		high := float64(float32(b))
		y = l.FMA(k, l.Float(high), l.FMA(k, l.Float(b-high), y))
	}
	return l.logSpecial(y, x)
}

// logNatural needs few bits of log 2, of which float32 has 29. A wide line gives the special results itself.
func logNatural(l line) value {
	x := l.X()
	sum := func(k, f value) value {
		return l.FMA(k, l.Float(math.Ln2), l.FMA(l.Mul(f, f), l.polynomialOf2(logTerms, f), f))
	}
	if l.wide {
		return sum(l.Exponent(x), l.Sub(l.Fraction(x), l.Float(1)))
	}
	return l.logSpecial(sum(l.logSplit(x, 0.75)), x)
}

// logScaled is the logarithm to another base: a times that of 1+f, and k b.
func logScaled(a, b float64) func(l line) value {
	return func(l line) value {
		x := l.X()
		k, f := l.logSplit(x, 2./3)
		return l.logResult(x, k, f, l.logNear(scaledTerms, f), a, b)
	}
}

// log1pSingle computes f from x itself, because 1 + x rounds.
func log1pSingle(l line) value {
	x := l.X()
	u := l.Add(x, l.Float(1))
	e := l.And(l.Minus(u, l.Float(0.75)), l.Bits(0xff800000))
	k := l.ToFloat(l.RightSigned(e, 23))
	power := l.Minus(l.Float(1), e) // 2^-k
	f := l.Less(x, l.Float(0x1p60), l.FMA(x, power, l.Sub(power, l.Float(1))), l.Sub(l.Minus(u, e), l.Float(1)))
	// k ln2Short is exact, and so is low.
	big := l.Mul(k, l.Float(ln2Short))
	high := l.Add(big, f)
	low := l.FMA(k, l.Float(math.Ln2-ln2Short), l.Sub(f, l.Sub(high, big)))
	return l.signed(l.logSpecial(l.Add(high, l.Add(low, l.logNear(logTerms, f))), u), x)
}

// rsqrtSingle is what torch computes. For halves, a step of Newton's method leads to the same results in a third of
// the time: its relative error is below 2^-22, and no 1/√x of a float16 or bfloat16 is closer than 2^-21.5 to a number
// between two neighbours. 0, infinity, NaN and negative numbers keep the estimate.
func rsqrtSingle(l line) value {
	x := l.X()
	if !l.half {
		return l.Div(l.Float(1), l.Sqrt(x))
	}
	y := l.RsqrtEstimate(x)
	rest := l.FNMA(l.Mul(x, y), y, l.Float(1))
	return l.Less(rest, l.Float(1), l.FMA(l.Mul(y, l.Float(0.5)), rest, y), y)
}

// pieces are polynomials for a from 0 to 15 in 32 intervals: 1 + a has 8 between one power of 2 and the
// next, and a's index is in the bits of 1 + a. Terms are in the distance from a number near the middle
// where f is close to a float32, which is the first of them.
type pieces struct {
	middle []float64
	terms  [][]float64
}

// lookups returns a polynomial in d of terms that are looked up.
func (l line) lookups(terms [][]float64, at, d value) value {
	return hornerOf(l, len(terms), d, func(i int) value { return l.Lookup(terms[i], at) })
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
func (l line) halfTail(a value, t pieces) (y, n value) {
	n, r := l.reduced(l.Mul(l.Mul(a, l.Float(-0.5)), a))
	near := l.Min(l.Float(15-0x1p-20), a)
	at := l.Right(l.Add(near, l.Float(1)), 20)
	d := l.Sub(a, l.Lookup(t.middle, at))
	f := l.lookups(t.terms, at, d)
	return l.FMA(f, l.FMA(l.Mul(r, r), l.horner(expHalfTerms, r), r), f), n
}

func geluHalf(l line) value {
	x := l.X()
	c := l.clamp(x, -15, 15) // where the result is 0
	y := l.Mul(c, l.Scale(l.halfTail(l.Abs(c), tailHalfPieces)))
	y = l.Less(x, l.Float(0), l.Add(y, l.Sub(x, x)), l.Sub(x, y)) // NaN for minus infinity
	return l.Or(y, l.And(x, l.Sign()))
}

// geluGradHalf multiplies by y before the product with 2^n, which may be too small for float32. Beyond
// 19.8 the result is 0 even times the largest number.
func geluGradHalf(l line) value {
	x, y := l.X(), l.Y()
	a := l.Abs(x)
	t, n := l.halfTail(l.Min(l.Float(19.8), a), slopeHalfPieces)
	t = l.Less(a, l.Float(19.8), t, l.Float(0))
	half := l.Sub(l.Add(l.Mul(n, l.Float(0.5)), l.Float(wholeSingle)), l.Float(wholeSingle))
	t = l.Mul(l.Less(x, l.Float(0), y, l.Float(1)), l.Mul(t, l.Float(0.0625))) // t is less than 16
	t = l.Mul(l.Mul(t, l.Scale(l.Float(1), half)), l.Scale(l.Float(1), l.Sub(n, l.Sub(half, l.Float(4)))))
	t = l.Less(x, l.Float(0), t, l.Mul(y, l.Sub(l.Float(1), t)))
	return l.Sub(t, l.Sub(x, x)) // NaN for the infinite
}

func siluHalf(l line) value { return l.Mul(l.X(), l.simpleSigmoid(l.X())) }

// geluSingle is x or 0 less |x| Φ(-|x|), whose roundings but two are small.
func geluSingle(l line) value {
	x := l.X()
	b := l.Abs(l.Min(l.Float(16), x))
	most := l.Sub(l.Max(l.Float(math.Copysign(0, -1)), x), l.Sub(b, b)) // NaN for minus infinity
	a := l.Min(l.Float(14.9), b)                                        // where the rest is 0

	// exp(-a²/2) is 2^n (1 + p), a²/2 being less - s.
	half := l.Mul(a, l.Float(-0.5))
	s := l.Mul(half, a)
	less := l.FNMA(half, a, s)
	n, r := l.reduced(s)
	p := l.expLess1(l.Sub(r, less))

	// exp(a²/2) Φ(-a) is f + rest.
	at := l.Right(l.Add(a, l.Float(1)), 20)
	d := l.Sub(a, l.Lookup(tailPieces.middle, at))
	rest := l.Mul(l.lookups(tailPieces.terms[1:], at, d), d)
	f := l.Lookup(tailPieces.terms[0], at)

	rest = l.FMA(f, p, l.FMA(rest, p, rest))
	return l.Sub(most, l.Scale(l.FMA(a, f, l.Mul(a, rest)), n))
}
