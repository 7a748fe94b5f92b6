package tensor

import (
	"halfnote/tensor/driver"
)

// Functions of two operands with their own kernels.

// both returns the gradients of two operands, each given by its function: computed in
// float32 for halves, summed over broadcast dimensions, and rounded once.
func both(dy *Tensor, in []*Tensor, first, second func(dy, x, y *Tensor) *Tensor) []*Tensor {
	w := wideOf(dy.dtype)
	g, x, y := dy.To(w), in[0].To(w), in[1].To(w)
	out := make([]*Tensor, 2)
	for i, f := range []func(dy, x, y *Tensor) *Tensor{first, second} {
		if in[i].RequiresGrad() {
			out[i] = f(g, x, y).sumTo(in[i]).To(dy.dtype)
		}
	}
	return out
}

type atan2 struct{}

func (atan2) Info() Info { return info("atan2", "torch.atan2", SavesOperands) }
func (atan2) promotes()  {}
func (atan2) real()      {}
func (atan2) Forward(in []*Tensor) *Tensor {
	return pairwise("atan2", driver.Atan2, in[0], in[1])
}
func (atan2) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	over := func(dy, a, x, y *Tensor) *Tensor { return dy.Mul(a.Div(x.Mul(x).Add(y.Mul(y)))) }
	return both(dy, in,
		func(dy, y, x *Tensor) *Tensor { return over(dy, x, x, y) },
		func(dy, y, x *Tensor) *Tensor { return over(dy, y.Neg(), x, y) })
}

// Atan2 returns the angle of the point (o, t) from the positive first axis, in
// radians from -pi to pi, broadcast. It is torch.atan2.
func (t *Tensor) Atan2(o *Tensor) *Tensor { return apply(atan2{}, t, o) }

type hypot struct{}

func (hypot) Info() Info { return info("hypot", "torch.hypot", SavesOperands) }
func (hypot) promotes()  {}
func (hypot) Forward(in []*Tensor) *Tensor {
	notWhole("hypot", in)
	return pairwise("hypot", driver.Hypot, in[0], in[1])
}
func (hypot) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(x.Div(x.Hypot(y))) },
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(y.Div(x.Hypot(y))) })
}

// Hypot returns sqrt(t² + o²) without intermediate overflow, broadcast. It is
// torch.hypot.
func (t *Tensor) Hypot(o *Tensor) *Tensor { return apply(hypot{}, t, o) }

type copysign struct{}

func (copysign) Info() Info { return info("copysign", "torch.copysign", SavesOperands) }
func (copysign) promotes()  {}
func (copysign) real()      {}
func (copysign) Forward(in []*Tensor) *Tensor {
	return pairwise("copysign", driver.Copysign, in[0], in[1])
}
func (copysign) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(x.Sign()).Mul(constantLike(y, 1).Copysign(y)) },
		func(dy, _, _ *Tensor) *Tensor { return constantLike(dy, 0) })
}

// Copysign returns |t| with o's sign, broadcast. It is torch.copysign.
func (t *Tensor) Copysign(o *Tensor) *Tensor { return apply(copysign{}, t, o) }

// quotient is a function based on whole quotients. of returns the rounded quotient, which is
// minus the derivative with respect to the second operand; nil stands for 0.
type quotient struct {
	name, torch string
	code        driver.Code
	of          func(x, y *Tensor) *Tensor
}

func (q quotient) Info() Info { return info(q.name, q.torch, SavesOperands) }
func (quotient) promotes()    {}
func (q quotient) Forward(in []*Tensor) *Tensor {
	notBool(q.name, in)
	if y := in[1]; !y.dtype.IsFloat() && y.EqScalar(0).anyTrue() {
		failDType(q.name, in, "integer division by 0; want non-zero divisors or a floating-point dtype")
	}
	return pairwise(q.name, q.code, in[0], in[1])
}
func (q quotient) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if q.of == nil {
		zero := func(dy, _, _ *Tensor) *Tensor { return constantLike(dy, 0) }
		return both(dy, in, zero, zero)
	}
	return both(dy, in,
		func(dy, _, _ *Tensor) *Tensor { return dy },
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(q.of(x, y)).Neg() })
}

var (
	floorDivide = quotient{"floor_divide", "torch.floor_divide", driver.FloorDiv, nil}
	truncDivide = quotient{"trunc_divide", "torch.div", driver.TruncDiv, nil}
)

// anyTrue reports whether an element is not 0.
func (t *Tensor) anyTrue() bool {
	y := reduce(driver.Sum, t, seq(len(t.shape)), Int64)
	return y.Reshape().Int64s()[0] != 0
}

// Fmod returns the remainder of t / o with the quotient truncated: it has t's sign. Operands
// are broadcast. It is torch.fmod, like Go's math.Mod.
func (t *Tensor) Fmod(o *Tensor) *Tensor {
	return apply(quotient{"fmod", "torch.fmod", driver.Fmod, (*Tensor).DivTrunc}, t, o)
}

// Remainder returns the remainder of t / o with the quotient rounded down: it has o's sign.
// Operands are broadcast. It is torch.remainder, like Python's %.
func (t *Tensor) Remainder(o *Tensor) *Tensor {
	return apply(quotient{"remainder", "torch.remainder", driver.Remainder, (*Tensor).FloorDivide}, t, o)
}

// FloorDivide returns t / o rounded down to a whole number, broadcast. Its gradient is 0. It
// is torch.floor_divide, and torch.div with rounding_mode="floor".
func (t *Tensor) FloorDivide(o *Tensor) *Tensor { return apply(floorDivide, t, o) }

// DivTrunc returns t / o without its fraction, broadcast. Its gradient is 0. It is
// torch.div with rounding_mode="trunc".
func (t *Tensor) DivTrunc(o *Tensor) *Tensor { return apply(truncDivide, t, o) }

type heaviside struct{}

func (heaviside) Info() Info { return info("heaviside", "torch.heaviside", NoDerivative) }
func (heaviside) promotes()  {}
func (heaviside) Forward(in []*Tensor) *Tensor {
	x, values := in[0], in[1]
	zero := newTensor(x.mem.backend, Bool, x.shape)
	runBroadcast(driver.Kernel{Code: driver.Equal}, zero, x, constant(x, x.dtype, 0))
	y := newTensor(x.mem.backend, x.dtype, broadcast("heaviside", in))
	runBroadcast(driver.Kernel{Code: driver.Where}, y, zero, values, unary(driver.Step, x))
	return y
}
func (heaviside) VJP(_, _ *Tensor, in []*Tensor) []*Tensor { return make([]*Tensor, len(in)) }

// Heaviside returns 0 where t is below 0, 1 where it is above, and values where it is 0,
// broadcast. It has no gradient. It is torch.heaviside.
func (t *Tensor) Heaviside(values *Tensor) *Tensor { return apply(heaviside{}, t, values) }
