package tensor

import (
	"slices"
)

// Out assigns the result of f to dst, converted to its dtype, and returns dst. Operations of f
// run in their operands' dtypes, also under autocast, and are not recorded. Out panics if,
// outside NoGrad, an operand requires a gradient, if the result's kind is higher than dst's, or
// if the shapes differ. It is the argument out= of torch's functions: tensor.Out(z, func()
// *tensor.Tensor { return x.MM(y) }) is torch.mm(x, y, out=z).
func Out(dst *Tensor, f func() *Tensor) *Tensor {
	given("out", dst)
	need("out", "f", f != nil, "a function that returns a tensor")
	s := current()
	s.strict = s.strict || !s.nograd
	s.caster, s.nograd = nil, true
	var y *Tensor
	s.do(func() { y = f() })
	need("out", "the result of f", y != nil, "a tensor")
	in := []*Tensor{dst, y}
	dst.holds("out", y.dtype, in)
	if !slices.Equal(dst.shape, y.shape) {
		fail("out", in, "the result and the output tensor must have the same shape")
	}
	return dst.Assign(y)
}
