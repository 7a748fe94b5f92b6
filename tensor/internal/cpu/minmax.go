package cpu

import "math"

// The maximum and the minimum of two numbers, NaN if either is NaN. Processors differ in the NaN that
// they return; here it is always 0x7fc00000, or math.NaN in float64. 0 is greater than -0.

func larger[T number](x, y T) T { return oneNaN(max(x, y)) }

func smaller[T number](x, y T) T { return oneNaN(min(x, y)) }

// oneNaN returns x, with all NaNs replaced by the same one.
func oneNaN[T number](x T) T {
	if x != x {
		nan := math.NaN()
		return T(nan)
	}
	return x
}
