package tensor

import "math"

// LPPool1d returns the p-norms of t (…, l) over windows of size elements, for nonzero p; for
// ±Inf the largest or smallest |t|. It uses Stride, Padding, with zeros, and CeilMode: if a
// window extends beyond t, its sum of powers is scaled to the full window. The gradient is 0
// where a norm is 0. It is torch.nn.functional.lp_pool1d.
func (t *Tensor) LPPool1d(p float64, size []int, o PoolOptions) *Tensor {
	return t.lpPool(1, p, size, o)
}

// LPPool2d is LPPool1d of t (…, h, w). It is torch.nn.functional.lp_pool2d.
func (t *Tensor) LPPool2d(p float64, size []int, o PoolOptions) *Tensor {
	return t.lpPool(2, p, size, o)
}

// LPPool3d is LPPool1d of t (…, d, h, w). It is torch.nn.functional.lp_pool3d.
func (t *Tensor) LPPool3d(p float64, size []int, o PoolOptions) *Tensor {
	return t.lpPool(3, p, size, o)
}

func (t *Tensor) lpPool(dims int, p float64, sizes []int, o PoolOptions) *Tensor {
	op := "lp_pool" + nd(dims)
	switch {
	case p == 0 || p != p:
		fail(op, []*Tensor{t}, "p is %v; expected a nonzero number or ±Inf", p)
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
