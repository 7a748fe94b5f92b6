package elementary

import "math"

// Exp returns e to the power x.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	return expParts(x, 0)
}

// expParts returns e to the power hi+lo, for |hi| below 750 and a lo that is small
// compared with it.
func expParts(hi, lo float64) float64 {
	k := math.RoundToEven(hi * log2E)
	p := expReduced(hi, lo, k)
	return ldexp(1+p, int(k))
}

// expReduced returns exp(hi+lo - k log 2) - 1, for k the integer next to hi/log 2.
func expReduced(hi, lo, k float64) float64 {
	r := hi - float64(k*ln2Hi) // exact
	t := float64(k * ln2Lo)
	s := r - t
	s, c := quickSum(s, (r-s)-t+lo)
	// s + c is at most log(2)/2. The first terms of the series of exp are added separately.
	q := float64(float64(s*s) * tail(s))
	return s + (q + (c + float64(c*s)))
}

// tail returns (exp(r) - 1 - r) / r², in pairs of terms, which depend on each other less
// than those of Horner's scheme.
func tail(r float64) float64 {
	c := &expTail
	r2 := float64(r * r)
	r4 := float64(r2 * r2)
	a := float64((c[0] + float64(c[1]*r))) + float64(r2*(c[2]+float64(c[3]*r)))
	b := float64((c[4] + float64(c[5]*r))) + float64(r2*(c[6]+float64(c[7]*r)))
	d := float64((c[8] + float64(c[9]*r))) + float64(r2*(c[10]+float64(c[11]*r)))
	return a + float64(r4*(b+float64(r4*d)))
}

// Exp2 returns 2 to the power x.
func Exp2(x float64) float64 {
	switch {
	case x != x:
		return x
	case x >= 1024:
		return math.Inf(1)
	case x < -1075:
		return 0
	}
	k := math.RoundToEven(x)
	const ln2 = ln2Hi + ln2Lo
	hi, lo := twoProduct(x-k, float64(ln2))
	return ldexp(1+expReduced(hi, lo+float64((x-k)*ln2Rest), 0), int(k))
}

// Expm1 returns e to the power x, minus 1, accurate for small x.
func Expm1(x float64) float64 {
	switch {
	case x != x || x == 0:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -40:
		return -1
	}
	k := math.RoundToEven(x * log2E)
	p := expReduced(x, 0, k)
	switch {
	case k == 0:
		return p
	case k > 60:
		return ldexp(1+p, int(k))
	}
	e := power2(int(k))
	hi, lo := twoSum(e-1, float64(e*p))
	return hi + lo
}

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	if a > 40 {
		return math.Copysign(halfExp(a), x)
	}
	e := Expm1(a)
	return math.Copysign(float64(0.5*(e+e/(e+1))), x)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	if a > 40 {
		return halfExp(a)
	}
	e := Exp(a)
	return float64(0.5*e) + 0.5/e
}

// halfExp returns exp(x)/2, even if exp(x) overflows.
func halfExp(x float64) float64 {
	if x < 700 {
		return 0.5 * Exp(x)
	}
	if x > 711 {
		return math.Inf(1)
	}
	// 2^9 is an exact multiple of log 2 in the exponent.
	return expParts(x-float64(9*ln2Hi), -9*ln2Lo) * 0x1p8
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x || x == 0:
		return x
	case a > 22:
		return math.Copysign(1, x)
	case a >= 1:
		return math.Copysign(1-2/(Exp(float64(2*a))+1), x)
	}
	e := Expm1(float64(2 * a))
	return math.Copysign(e/(e+2), x)
}
