package tensor

import "halfnote/tensor/driver"

// logical computes on whether elements are not 0.
type logical struct {
	name string
	code driver.Code
}

var (
	logicalAnd = logical{"logical_and", driver.And}
	logicalOr  = logical{"logical_or", driver.Or}
	logicalXor = logical{"logical_xor", driver.Xor}
	logicalNot = logical{"logical_not", driver.Equal}
)

func (l logical) Info() Info { return Info{l.name, "torch." + l.name, Keep, NoDerivative} }
func (l logical) Forward(in []*Tensor) *Tensor {
	x := convert(in[0], Bool)
	if len(in) == 1 {
		return pairwise(l.name, l.code, x, constant(x, Bool, 0))
	}
	return pairwise(l.name, l.code, x, convert(in[1], Bool))
}
func (logical) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// And returns whether t and o are not 0, as bool, broadcast. It is
// torch.logical_and.
func (t *Tensor) And(o *Tensor) *Tensor { return apply(logicalAnd, t, o) }

// Or returns whether t or o is not 0, as bool, broadcast. It is torch.logical_or.
func (t *Tensor) Or(o *Tensor) *Tensor { return apply(logicalOr, t, o) }

// Xor returns whether one of t and o is not 0, as bool, broadcast. It is
// torch.logical_xor.
func (t *Tensor) Xor(o *Tensor) *Tensor { return apply(logicalXor, t, o) }

// Not returns whether t is 0, as bool. It is torch.logical_not.
func (t *Tensor) Not() *Tensor { return apply(logicalNot, t) }

// bitwise computes on the bits of integers and bool.
type bitwise struct {
	name string
	code driver.Code
}

var (
	bitwiseAnd   = bitwise{"bitwise_and", driver.And}
	bitwiseOr    = bitwise{"bitwise_or", driver.Or}
	bitwiseXor   = bitwise{"bitwise_xor", driver.Xor}
	bitwiseNot   = bitwise{"bitwise_not", driver.Xor}
	bitwiseLeft  = bitwise{"bitwise_left_shift", driver.ShiftLeft}
	bitwiseRight = bitwise{"bitwise_right_shift", driver.ShiftRight}
)

func (b bitwise) Info() Info { return Info{b.name, "torch." + b.name, Keep, NoDerivative} }
func (bitwise) promotes()    {}
func (b bitwise) Forward(in []*Tensor) *Tensor {
	x := in[0]
	if x.dtype.IsFloat() {
		failDType(b.name, in, "it has no bits to compute on; expected integers or bool")
	}
	if b.code == driver.ShiftLeft || b.code == driver.ShiftRight {
		notBool(b.name, in)
	}
	if len(in) == 1 {
		return pairwise(b.name, b.code, x, constant(x, x.dtype, -1)) // all bits set; bool's true
	}
	return pairwise(b.name, b.code, x, in[1])
}
func (bitwise) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// BitwiseAnd returns t & o of integers or bool, broadcast. It is torch.bitwise_and.
func (t *Tensor) BitwiseAnd(o *Tensor) *Tensor { return apply(bitwiseAnd, t, o) }

// BitwiseOr returns t | o of integers or bool, broadcast. It is torch.bitwise_or.
func (t *Tensor) BitwiseOr(o *Tensor) *Tensor { return apply(bitwiseOr, t, o) }

// BitwiseXor returns t ^ o of integers or bool, broadcast. It is torch.bitwise_xor.
func (t *Tensor) BitwiseXor(o *Tensor) *Tensor { return apply(bitwiseXor, t, o) }

// BitwiseNot returns ^t of integers, and the opposite of bool. It is
// torch.bitwise_not.
func (t *Tensor) BitwiseNot() *Tensor { return apply(bitwiseNot, t) }

// LeftShift returns t << o of integers, broadcast, 0 where o is below 0 or beyond 63.
// It is torch.bitwise_left_shift.
func (t *Tensor) LeftShift(o *Tensor) *Tensor { return apply(bitwiseLeft, t, o) }

// RightShift returns t >> o of integers, broadcast, where the sign moves in. It is
// torch.bitwise_right_shift.
func (t *Tensor) RightShift(o *Tensor) *Tensor { return apply(bitwiseRight, t, o) }
