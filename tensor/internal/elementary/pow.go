package elementary

import "math"

// Pow returns x to the power y.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case y == 1:
		return x
	case x != x || y != y:
		return math.NaN()
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Pow(x, y) // exact cases, the same everywhere
	}
	sign := 1.0
	if x < 0 {
		switch {
		case y != math.Trunc(y):
			return math.NaN()
		case math.Mod(y, 2) != 0:
			sign = -1
		}
		x = -x
	}
	h, l := logParts(x)
	hi, lo := twoProduct(y, h)
	lo += float64(y * l)
	switch {
	case hi > 710:
		return sign * math.Inf(1)
	case hi < -746:
		return sign * 0
	}
	hi, lo = quickSum(hi, lo)
	return sign * expParts(hi, lo)
}

// Hypot returns the square root of x² + y², without intermediate overflow.
func Hypot(x, y float64) float64 {
	x, y = math.Abs(x), math.Abs(y)
	switch {
	case x > math.MaxFloat64 || y > math.MaxFloat64:
		return math.Inf(1)
	case x != x || y != y:
		return math.NaN()
	}
	x, y = max(x, y), min(x, y)
	if x == 0 || y == 0 {
		return x
	}
	scale := 1.0
	switch {
	case x > 0x1p510:
		scale = 0x1p600
	case x < 0x1p-450:
		scale = 0x1p-600
	}
	x, y = x/scale, y/scale
	a, b := twoProduct(x, x)
	c, d := twoProduct(y, y)
	hi, lo := quickSum(a, c)
	return scale * math.Sqrt(hi+(lo+b+d))
}
