package cpu

import "math"

// Loops over functions of float64: float32 results are nearly always correctly
// rounded.

func function(cost int, f func(float64) float64) pointwise {
	return pointwise{1, cost, function1[float32](f), function1[float64](f), nil}
}

func function1[T real](f func(float64) float64) loop[T] {
	return func(dst, x, _, _ []T, _, _ T) {
		dst = dst[:len(x)]
		for i, v := range x {
			dst[i] = T(f(float64(v)))
		}
	}
}

func function2[T real](f func(x, y float64) float64) loop[T] {
	return func(dst, x, y, _ []T, _, _ T) {
		dst, y = dst[:len(x)], y[:len(x)]
		for i, v := range x {
			dst[i] = T(f(float64(v), float64(y[i])))
		}
	}
}

func functionInt(f func(x, y int64) int64) loop[int64] {
	return func(dst, x, y, _ []int64, _, _ int64) {
		dst, y = dst[:len(x)], y[:len(x)]
		for i, v := range x {
			dst[i] = f(v, y[i])
		}
	}
}

func sign[T number](dst, x, _, _ []T, _, _ T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = truth[T](v > 0) - truth[T](v < 0)
	}
}

func powerInt(dst, x, y, _ []int64, _, _ int64) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = power(v, y[i])
	}
}

// power returns x to the power n, modulo 2^64.
func power(x, n int64) int64 {
	if n < 0 {
		if x != 1 && x != -1 {
			return 0
		}
		n &= 1
	}
	y := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y *= x
		}
		x *= x
	}
	return y
}

func remainder(x, y float64) float64 {
	r := math.Mod(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// floorDiv returns the floor of the exact quotient, as Python's: x - Mod(x, y) is a
// multiple of y.
func floorDiv(x, y float64) float64 {
	if y == 0 {
		return x / y
	}
	r := math.Mod(x, y)
	q := (x - r) / y
	if r != 0 && (r < 0) != (y < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, x/y)
	}
	whole := math.Floor(q)
	if q-whole > 0.5 {
		whole++
	}
	return whole
}

func truncDiv[T real](dst, x, y, _ []T, _, _ T) {
	dst, y = dst[:len(x)], y[:len(x)]
	for i, v := range x {
		dst[i] = T(math.Trunc(float64(v / y[i])))
	}
}

func fmodInt(x, y int64) int64 {
	if y == 0 {
		return 0
	}
	return x % y
}

func remainderInt(x, y int64) int64 {
	r := fmodInt(x, y)
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

func truncDivInt(x, y int64) int64 {
	if y == 0 {
		return 0
	}
	return x / y
}

func floorDivInt(x, y int64) int64 {
	q := truncDivInt(x, y)
	if y != 0 && q*y != x && (x < 0) != (y < 0) {
		q--
	}
	return q
}
