package cpu

import "math"

// The larger and the smaller of two numbers, and NaN if one is. Processors differ in the bits of
// the NaN that they choose: here it is 0x7fc00000 everywhere, in float64 that of math.NaN. 0 is
// above -0.

func larger[T number](x, y T) T { return oneNaN(max(x, y)) }

func smaller[T number](x, y T) T { return oneNaN(min(x, y)) }

// oneNaN returns x, the same NaN for every NaN.
func oneNaN[T number](x T) T {
	if x != x {
		nan := math.NaN()
		return T(nan)
	}
	return x
}
