package tensor

import "halfnote/tensor/driver"

// logical is a logical function of operands that are true where they are not 0.
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

func (l logical) Info() Info { return info(l.name, "torch."+l.name, NoDerivative) }
func (l logical) Forward(in []*Tensor) *Tensor {
	x := convert(in[0], Bool)
	if len(in) == 1 {
		return pairwise(l.name, l.code, x, constant(x, Bool, 0))
	}
	return pairwise(l.name, l.code, x, convert(in[1], Bool))
}
func (logical) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// And returns a bool tensor, true where t and o are both not 0, broadcast. It is
// torch.logical_and.
func (t *Tensor) And(o *Tensor) *Tensor { return apply(logicalAnd, t, o) }

// Or returns a bool tensor, true where t or o is not 0, broadcast. It is torch.logical_or.
func (t *Tensor) Or(o *Tensor) *Tensor { return apply(logicalOr, t, o) }

// Xor returns a bool tensor, true where exactly one of t and o is not 0, broadcast. It is
// torch.logical_xor.
func (t *Tensor) Xor(o *Tensor) *Tensor { return apply(logicalXor, t, o) }

// Not returns a bool tensor, true where t is 0. It is torch.logical_not.
func (t *Tensor) Not() *Tensor { return apply(logicalNot, t) }

// bitwise is a function of the bits of integers and bool.
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

func (b bitwise) Info() Info { return info(b.name, "torch."+b.name, NoDerivative) }
func (bitwise) promotes()    {}
func (b bitwise) Forward(in []*Tensor) *Tensor {
	x := in[0]
	if x.dtype.IsFloat() {
		failDType(b.name, in, "bitwise operations are not defined for floating-point dtypes; want integers or bool")
	}
	if b.code == driver.ShiftLeft || b.code == driver.ShiftRight {
		notBool(b.name, in)
	}
	if len(in) == 1 {
		return pairwise(b.name, b.code, x, constant(x, x.dtype, -1)) // all bits set; true for bool
	}
	return pairwise(b.name, b.code, x, in[1])
}
func (bitwise) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// BitwiseAnd returns t & o for integers or bool, broadcast. It is torch.bitwise_and.
func (t *Tensor) BitwiseAnd(o *Tensor) *Tensor { return apply(bitwiseAnd, t, o) }

// BitwiseOr returns t | o for integers or bool, broadcast. It is torch.bitwise_or.
func (t *Tensor) BitwiseOr(o *Tensor) *Tensor { return apply(bitwiseOr, t, o) }

// BitwiseXor returns t ^ o for integers or bool, broadcast. It is torch.bitwise_xor.
func (t *Tensor) BitwiseXor(o *Tensor) *Tensor { return apply(bitwiseXor, t, o) }

// BitwiseNot returns ^t for integers and !t for bool. It is
// torch.bitwise_not.
func (t *Tensor) BitwiseNot() *Tensor { return apply(bitwiseNot, t) }

// LeftShift returns t << o for integers, broadcast; it is 0 where o is negative or above 63.
// It is torch.bitwise_left_shift.
func (t *Tensor) LeftShift(o *Tensor) *Tensor { return apply(bitwiseLeft, t, o) }

// RightShift returns t >> o for integers, broadcast, extending the sign. It is
// torch.bitwise_right_shift.
func (t *Tensor) RightShift(o *Tensor) *Tensor { return apply(bitwiseRight, t, o) }
