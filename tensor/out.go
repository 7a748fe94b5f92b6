package tensor

import (
	"slices"
)

// Out puts the result of f into dst, converted to its dtype, and returns dst. The
// operations of f run in the types of their operands, under autocast too, and are not
// recorded. It panics if an operand requires a gradient, outside NoGrad, if the result's
// kind is above dst's or if its shape is another. It is the argument out= of torch's
// functions: tensor.Out(z, func() *tensor.Tensor { return x.MM(y) }) is torch.mm(x, y,
// out=z).
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
		fail("out", in, "the result has another shape than the tensor that it is to go into; expected one shape")
	}
	return dst.Assign(y)
}
