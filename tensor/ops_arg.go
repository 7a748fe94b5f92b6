package tensor

import "halfnote/tensor/driver"

type argmax struct{ over }

func (argmax) Info() Info { return Info{"argmax", "torch.argmax", Keep, NoDerivative} }
func (a argmax) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ArgMax, in[0], a.dims, Int64))
}
func (argmax) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Argmax returns where along dim, which drops out, the largest element is, as int64:
// the first of equal ones, NaN if there is one. Without a dim it counts through all
// elements in row-major order; of several it counts through those. It has no
// gradient. It is torch.argmax.
func (t *Tensor) Argmax(dims ...int) *Tensor {
	return apply(argmax{overDims("argmax", t, dims).nonEmpty("argmax", t)}, t)
}

type argmin struct{ over }

func (argmin) Info() Info { return Info{"argmin", "torch.argmin", Keep, NoDerivative} }
func (a argmin) Forward(in []*Tensor) *Tensor {
	return a.finish(reduce(driver.ArgMin, in[0], a.dims, Int64))
}
func (argmin) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Argmin is Argmax for the smallest element. It is torch.argmin.
func (t *Tensor) Argmin(dims ...int) *Tensor {
	return apply(argmin{overDims("argmin", t, dims).nonEmpty("argmin", t)}, t)
}
