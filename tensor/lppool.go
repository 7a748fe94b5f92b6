package tensor

import "math"

// lpPool is nn's LPPool1d, LPPool2d and LPPool3d.
func (t *Tensor) lpPool(dims int, p float64, sizes []int, o poolOptions) *Tensor {
	op := "lp_pool" + nd(dims)
	switch {
	case p == 0 || p != p:
		fail(op, []*Tensor{t}, "p is %v; want a nonzero number or ±Inf", p)
	case o.Divisor != 0 || o.ExcludePadding || len(o.Dilation) > 0:
		fail(op, []*Tensor{t}, "Divisor is %d, ExcludePadding is %v, Dilation is %v; LP pooling supports none of them", o.Divisor, o.ExcludePadding, o.Dilation)
	case math.IsInf(p, 1):
		return t.Abs().maxPool(dims, sizes, o)
	case math.IsInf(p, -1):
		return t.Abs().Neg().maxPool(dims, sizes, o).Neg()
	}
	whole := size(perDimension(op, "window", sizes, dims, 1, 1))
	mean := t.Pow(p).avgPool(dims, sizes, o)
	return mean.Sign().Mul(mean.Abs().ReLU()).MulScalar(float64(whole)).Pow(1 / p)
}
