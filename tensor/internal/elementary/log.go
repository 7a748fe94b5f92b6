package elementary

import "math"

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	if y, ok := logSpecial(x); ok {
		return y
	}
	hi, lo := logParts(x)
	return hi + lo
}

// Log2 returns the logarithm of x to base 2.
func Log2(x float64) float64 { return logBase(x, log2E, log2ELo) }

// Log10 returns the logarithm of x to base 10.
func Log10(x float64) float64 { return logBase(x, log10E, log10ELo) }

func logBase(x, hi, lo float64) float64 {
	if y, ok := logSpecial(x); ok {
		return y
	}
	h, l := logParts(x)
	p, q := twoProduct(h, hi)
	return p + (q + float64(l*hi) + float64(h*lo))
}

// Log1p returns log(1+x), accurate for small x.
func Log1p(x float64) float64 {
	switch {
	case x == 0:
		return x
	case x > 0x1p54:
		return Log(x)
	case x <= -1 || x != x:
		return Log(1 + x)
	}
	u, e := twoSum(1, x)
	hi, lo := logParts(u)
	return hi + (lo + e/u)
}

// logSpecial returns the logarithm of an x that is not positive and finite.
func logSpecial(x float64) (y float64, ok bool) {
	switch {
	case x != x || x > math.MaxFloat64:
		return x, true
	case x == 0:
		return math.Inf(-1), true
	case x < 0:
		return math.NaN(), true
	}
	return 0, false
}

// logParts returns the natural logarithm of a positive finite number as a sum, whose
// error is below 2^-66 of it.
//
// x is 2^k z with z in [0.6875, 1.375), and z lies in one of 128 cells; with the
// cell's c, about 1/z, log x = k log 2 - log c + log(1+r) for r = zc - 1, which is
// small: P. Tang, ACM Transactions on Mathematical Software 16 (1990).
func logParts(x float64) (hi, lo float64) {
	k := 0.0
	if x < 0x1p-1022 {
		x *= 0x1p54
		k = -54
	}
	const first = 0x3fe6000000000000 // the bits of 0.6875
	bits := math.Float64bits(x)
	from := bits - first
	cell := &logs[from>>45&127]
	k += float64(int64(from) >> 52)
	z := math.Float64frombits(bits - from&(0xfff<<52))
	p, rest := twoProduct(z, cell.c)
	r := p - 1 // exact
	hi, l0 := twoSum(float64(k*ln2Hi), cell.hi)
	hi, l1 := twoSum(hi, r)
	half := float64(0.5 * r)
	q, l2 := twoProduct(half, r)
	hi, l3 := twoSum(hi, -q)
	series := polynomial(logTail[:], r)
	lo = l3 + (l1 + (l0 + float64(k*ln2Lo) + cell.lo)) + (float64(rest*(1-r)) - l2 + float64(float64(r*q)*series))
	return quickSum(hi, lo)
}

// logTail holds the coefficients of (log(1+r) - r + r²/2) / (r³/2).
var logTail = [...]float64{2. / 3, -2. / 4, 2. / 5, -2. / 6, 2. / 7, -2. / 8, 2. / 9, -2. / 10}

// Asinh returns the inverse hyperbolic sine of x.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x || x == 0 || a > math.MaxFloat64:
		return x
	case a > 0x1p28:
		return math.Copysign(Log(a)+(ln2Hi+ln2Lo), x)
	}
	s := float64(a * a)
	return math.Copysign(Log1p(a+s/(1+math.Sqrt(1+s))), x)
}

// Acosh returns the inverse hyperbolic cosine of x.
func Acosh(x float64) float64 {
	switch {
	case x < 1 || x != x:
		return math.NaN()
	case x > 0x1p28:
		return Log(x) + (ln2Hi + ln2Lo)
	}
	t := x - 1
	return Log1p(t + math.Sqrt(float64(2*t)+float64(t*t)))
}

// Atanh returns the inverse hyperbolic tangent of x.
func Atanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a > 1 || x != x:
		return math.NaN()
	case x == 0:
		return x
	}
	return math.Copysign(0.5*Log1p(float64(2*a)/(1-a)), x)
}
