package torchtest

import (
	"fmt"
	"math"
	"slices"

	"halfnote/tensor"
)

// tolerance is the allowed difference from PyTorch's result.
type tolerance struct {
	ulps     float64 // in ulps of the expected element
	relative float64 // relative to the expected element
	mean     float64 // relative to the mean magnitude of the expected tensor
}

// tolerances holds the tolerance for each order of the derivative.
var tolerances = map[tensor.DType][3]tolerance{
	tensor.Float16:  {{1, 0, 0x1p-20}, {2, 0, 0x1p-20}, {0, 5e-3, 5e-3}},
	tensor.BFloat16: {{1, 0, 0x1p-20}, {2, 0, 0x1p-20}, {0, 3e-2, 3e-2}},
	tensor.Float32:  {{0, 1.3e-6, 1.3e-6}, {0, 2.6e-6, 2.6e-6}, {0, 1e-5, 1e-5}},
	tensor.Float64:  {{0, 1e-7, 1e-7}, {0, 2e-7, 2e-7}, {0, 1e-7, 1e-7}},
}

// difference describes the difference between got and want, or returns "" if got is within the tolerance.
// It also reports whether their bits are equal. order is the order of the derivative, and d the dtype to
// which the numbers have been rounded.
func difference(got, want *tensor.Tensor, order int, d tensor.DType, mean, factor float64) (wrong string, same bool) {
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
		return fmt.Sprintf("got %v %v, want %v %v", got.DType(), got.Shape(), want.DType(), want.Shape()), false
	}
	g, w := got.Float64s(), want.Float64s()
	tol := tolerances[d][order] // 0 for integers
	same = true
	worst, at := 0.0, -1
	for i := range w {
		if g[i] == w[i] && math.Signbit(g[i]) == math.Signbit(w[i]) || g[i] != g[i] && w[i] != w[i] {
			continue
		}
		same = false
		if g[i] == w[i] {
			continue // zeros of different signs
		}
		allowed := factor * (tol.ulps*ulp(d, w[i]) + tol.relative*math.Abs(w[i]) + tol.mean*mean)
		if excess := math.Abs(g[i]-w[i]) / allowed; !(excess <= 1) && !nextToInfinity(d, g[i], w[i], order) && !(excess <= worst) {
			worst, at = excess, i
		}
	}
	if at >= 0 {
		wrong = fmt.Sprintf("element %d: got %v, want %v: %.3g times the tolerance", at, g[at], w[at], worst)
	}
	return wrong, same
}

func meanMagnitude(x []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range x {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			sum, n = sum+math.Abs(v), n+1
		}
	}
	return sum / math.Max(1, float64(n))
}

// ulp returns the distance from x to the next larger number of d.
func ulp(d tensor.DType, x float64) float64 {
	info := tensor.FInfo(d)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return math.Max(math.Ldexp(info.Eps, math.Ilogb(math.Max(math.Abs(x), info.Tiny))), info.Subnormal)
}

// nextToInfinity reports whether one of x and y is infinite and the other the
// largest number of d, of the same sign: they are an ulp apart.
func nextToInfinity(d tensor.DType, x, y float64, order int) bool {
	if order > 1 || math.Signbit(x) != math.Signbit(y) {
		return false
	}
	x, y = math.Abs(x), math.Abs(y)
	return math.IsInf(max(x, y), 1) && min(x, y) == tensor.FInfo(d).Max && d != tensor.Float32 && d != tensor.Float64
}
