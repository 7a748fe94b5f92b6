package elementary

import "math"

// Erf returns the error function of x.
func Erf(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x || x == 0:
		return x
	case a > 6:
		return math.Copysign(1, x)
	case a > 1:
		return math.Copysign(1-erfcFar(a), x)
	}
	hi, lo := erfNearParts(x)
	return hi + lo
}

// Erfc returns 1 - Erf(x), accurate for large x.
func Erfc(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 28:
		return 0
	case x > 1:
		return erfcFar(x)
	case x < -6:
		return 2
	case x < -1:
		return 2 - erfcFar(-x)
	}
	hi, lo := erfNearParts(x)
	h, l := twoSum(1, -hi)
	return h + (l - lo)
}

// erfNearParts returns the error function of x, at most 1 in size, as a sum.
func erfNearParts(x float64) (hi, lo float64) {
	z := float64(x * x)
	hi, lo = twoProduct(x, twoOverRootPi)
	return quickSum(hi, lo+float64(x*twoOverRootPiLo)+float64(float64(x*z)*polynomial(erfNear[:], z)))
}

// erfcFar returns the complementary error function of x from 1 on.
func erfcFar(x float64) float64 {
	hi, lo := twoProduct(x, x)
	t := (x - 4) / (x + 4)
	return float64(expParts(-hi, -lo) * (polynomial(erfFar[:], t) / (1 + float64(2*x))))
}

// Erfinv returns the inverse of the error function at x.
func Erfinv(x float64) float64 {
	a := math.Abs(x)
	switch {
	case x != x || a > 1:
		return math.NaN()
	case x == 0:
		return x
	case a == 1:
		return math.Inf(int(x))
	}
	// A first guess by S. Winitzki (2008), to three digits, then Newton's method
	// with Halley's correction, on erfc where erf has lost its digits.
	const w = 0.147
	l := Log(float64((1 - a) * (1 + a)))
	h := 4/(math.Pi*w)*0.5 + float64(0.5*l)
	y := math.Sqrt(math.Sqrt(float64(h*h)-l/w) - h)
	for range 3 {
		f := Erf(y) - a
		if a > 0.5 {
			f = (1 - a) - Erfc(y)
		}
		d := f / (twoOverRootPi * Exp(-float64(y*y)))
		y -= d / (1 + float64(y*d))
	}
	return math.Copysign(y, x)
}
