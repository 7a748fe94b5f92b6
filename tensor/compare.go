package tensor

import (
	"math"
	"slices"
)

// Equal reports whether x and y have the same shape and equal elements. NaN is not equal to
// itself. It is torch.equal.
func Equal(x, y *Tensor) bool {
	given("allclose", x, y)
	return AllClose(x, y, 0, 0)
}

// AllClose reports whether x and y have the same shape and |x - y| is at most atol + rtol |y|
// everywhere. NaN is not close to any number. It is torch.allclose, whose defaults are rtol
// 1e-5 and atol 1e-8.
func AllClose(x, y *Tensor, rtol, atol float64) bool {
	given("allclose", x, y)
	if !slices.Equal(x.shape, y.shape) {
		return false
	}
	a, b := x.Float64s(), y.Float64s()
	for i := range a {
		pollAt(i)
		if a[i] != b[i] && !(math.Abs(a[i]-b[i]) <= atol+rtol*math.Abs(b[i]) && !math.IsInf(b[i], 0)) {
			return false
		}
	}
	return true
}
