package tensor

import "halfnote/tensor/driver"

type argmax struct{ over }

func (argmax) Info() Info { return info("argmax", "torch.argmax", NoDerivative) }
func (a argmax) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ArgMax, in[0], a.dims, Int64))
}
func (argmax) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Argmax returns the int64 index of the largest element along dim, which is removed. Of equal
// elements it is the first, and a NaN counts as largest. Without a dim the index counts through
// all elements in row-major order; with several, through the elements along them. It has no
// gradient. It is torch.argmax.
func (t *Tensor) Argmax(dims ...int) *Tensor {
	return apply(argmax{overDims("argmax", t, dims).nonEmpty("argmax", t)}, t)
}

type argmin struct{ over }

func (argmin) Info() Info { return info("argmin", "torch.argmin", NoDerivative) }
func (a argmin) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ArgMin, in[0], a.dims, Int64))
}
func (argmin) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Argmin is Argmax for the smallest element. It is torch.argmin.
func (t *Tensor) Argmin(dims ...int) *Tensor {
	return apply(argmin{overDims("argmin", t, dims).nonEmpty("argmin", t)}, t)
}
