package nn

import "halfnote/tensor"

// Normalize returns x divided by its norms along a dimension, or by Eps where a norm is
// smaller, in x's shape. It takes P, the order of the norm, 2 by default, Dim, 1 by
// default, and Eps, 1e-12 by default. It panics if x lacks the dimension. It is
// torch.nn.functional.normalize.
func Normalize(x *tensor.Tensor, options ...Option) *tensor.Tensor {
	c := config{dim: 1, loss: lossOptions{P: 2}}
	c.eps = 1e-12
	c = configure("normalize", c, options, "P", "Dim", "Eps")
	return x.Div(x.KeepDim().NormWith(c.loss.P, tensor.PNormOptions{Dims: []int{c.dim}}).ClampMin(c.eps))
}
