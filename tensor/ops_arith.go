package tensor

import (
	"slices"

	"halfnote/tensor/driver"
)

type add struct{}

func (add) Info() Info { return info("add", "torch.add", SavesNothing) }
func (add) promotes()  {}
func (add) Forward(in []*Tensor) *Tensor {
	return pairwise("add", driver.Add, in[0], in[1])
}
func (add) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.sumTo(in[0]), dy.sumTo(in[1])}
}

// Add returns t + o, broadcast. It is torch.add.
func (t *Tensor) Add(o *Tensor) *Tensor { return apply(add{}, t, o) }

type sub struct{}

func (sub) Info() Info { return info("sub", "torch.sub", SavesNothing) }
func (sub) promotes()  {}
func (sub) Forward(in []*Tensor) *Tensor {
	return pairwise("sub", driver.Sub, in[0], in[1])
}
func (sub) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := []*Tensor{dy.sumTo(in[0]), nil}
	if in[1].RequiresGrad() {
		out[1] = dy.Neg().sumTo(in[1])
	}
	return out
}

// Sub returns t - o, broadcast. It is torch.sub.
func (t *Tensor) Sub(o *Tensor) *Tensor {
	notBool("sub", []*Tensor{t, o})
	return apply(sub{}, t, o)
}

type mul struct{}

func (mul) Info() Info { return info("mul", "torch.mul", SavesOperands) }
func (mul) promotes()  {}
func (mul) Forward(in []*Tensor) *Tensor {
	return pairwise("mul", driver.Mul, in[0], in[1])
}
func (mul) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.Mul(in[1]).sumTo(in[0])
	}
	if in[1].RequiresGrad() {
		out[1] = dy.Mul(in[0]).sumTo(in[1])
	}
	return out
}

// Mul returns t * o, element by element, broadcast. It is torch.mul.
func (t *Tensor) Mul(o *Tensor) *Tensor { return apply(mul{}, t, o) }

type div struct{}

func (div) Info() Info { return info("div", "torch.div", SavesAll) }
func (div) promotes()  {}
func (div) real()      {}
func (div) Forward(in []*Tensor) *Tensor {
	return pairwise("div", driver.Div, in[0], in[1])
}
func (div) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	out := make([]*Tensor, 2)
	if in[0].RequiresGrad() {
		out[0] = dy.Div(in[1]).sumTo(in[0])
	}
	if in[1].RequiresGrad() {
		out[1] = dy.Neg().Mul(y.Div(in[1])).sumTo(in[1])
	}
	return out
}

// Div returns t / o, broadcast. It is torch.div.
func (t *Tensor) Div(o *Tensor) *Tensor { return apply(div{}, t, o) }

type addScalar struct{ c float64 }

func (addScalar) Info() Info { return info("add_scalar", "torch.add", SavesNothing) }
func (a addScalar) Forward(in []*Tensor) *Tensor {
	return affineOf(in[0], 1, a.c)
}
func (addScalar) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy} }

// AddScalar returns t + c. c is not rounded to float16 or bfloat16 first. Integer tensors
// become float32 if c has a fraction. It is torch.add with a number.
func (t *Tensor) AddScalar(c float64) *Tensor {
	t.given("add_scalar")
	return apply(addScalar{c}, t.To(withNumber(t, c)))
}

type mulScalar struct{ c float64 }

func (mulScalar) Info() Info { return info("mul_scalar", "torch.mul", SavesNothing) }
func (m mulScalar) Forward(in []*Tensor) *Tensor {
	return affineOf(in[0], m.c, 0)
}
func (m mulScalar) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.MulScalar(m.c)} }

// MulScalar returns c t. c is not rounded to float16 or bfloat16 first. Integer tensors become
// float32 if c has a fraction. It is torch.mul with a number.
func (t *Tensor) MulScalar(c float64) *Tensor {
	t.given("scale")
	return apply(mulScalar{c}, t.To(withNumber(t, c)))
}

type neg struct{}

func (neg) Info() Info { return info("neg", "torch.neg", SavesNothing) }
func (neg) Forward(in []*Tensor) *Tensor {
	notBool("neg", in)
	return unary(driver.Neg, in[0])
}
func (neg) VJP(dy, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.Neg()} }

// Neg returns -t. It is torch.neg.
func (t *Tensor) Neg() *Tensor { return apply(neg{}, t) }

type maximum struct{}

func (maximum) Info() Info { return info("maximum", "torch.maximum", SavesOperands) }
func (maximum) promotes()  {}
func (maximum) Forward(in []*Tensor) *Tensor {
	return pairwise("maximum", driver.Max, in[0], in[1])
}
func (maximum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return shareOut(dy, in, in[0].Sub(in[1]))
}

// Maximum returns the larger of t and o, broadcast, or NaN if either is NaN. Equal operands
// get half the gradient each. It is torch.maximum.
func (t *Tensor) Maximum(o *Tensor) *Tensor { return apply(maximum{}, t, o) }

type minimum struct{}

func (minimum) Info() Info { return info("minimum", "torch.minimum", SavesOperands) }
func (minimum) promotes()  {}
func (minimum) Forward(in []*Tensor) *Tensor {
	return pairwise("minimum", driver.Min, in[0], in[1])
}
func (minimum) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return shareOut(dy, in, in[1].Sub(in[0]))
}

// Minimum returns the smaller of t and o, broadcast, or NaN if either is NaN. Equal operands
// get half the gradient each. It is torch.minimum.
func (t *Tensor) Minimum(o *Tensor) *Tensor { return apply(minimum{}, t, o) }

// shareOut gives dy to in[0] where lead is positive, to in[1] where it is negative,
// and half to each where it is 0.
func shareOut(dy *Tensor, in []*Tensor, lead *Tensor) []*Tensor {
	first := lead.Step().Sub(lead.Neg().Step()).MulScalar(0.5).AddScalar(0.5)
	g := dy.Mul(first)
	return []*Tensor{g.sumTo(in[0]), dy.Sub(g).sumTo(in[1])}
}

type where struct{}

func (where) Info() Info { return info("where", "torch.where", SavesOperands) }
func (where) Forward(in []*Tensor) *Tensor {
	d := promoteAll(in[1:])
	y := unsetTensor(in[0].mem.backend, d, broadcast("where", in))
	runBroadcast(driver.Kernel{Code: driver.Where}, y, in[0], convert(in[1], d), convert(in[2], d))
	return y
}
func (where) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	zero := constant(dy, dy.dtype, 0)
	return []*Tensor{nil, in[0].Where(dy, zero).sumTo(in[1]), in[0].Where(zero, dy).sumTo(in[2])}
}

// Where returns x where t is not 0 and y elsewhere, broadcast, in the dtype that x and y
// promote to. It is torch.where with t as the condition.
func (t *Tensor) Where(x, y *Tensor) *Tensor {
	t.given("where")
	return apply(where{}, t.To(Bool), x, y)
}

// notBool panics if an operand is bool.
func notBool(op string, in []*Tensor) {
	given(op, in...)
	for _, t := range in {
		if t.dtype == Bool {
			failDType(op, in, "not defined for bool; want a numeric dtype: cast with To(tensor.Int64)")
		}
	}
}

// sumTo sums a gradient over the dimensions in which x was broadcast.
func (t *Tensor) sumTo(x *Tensor) *Tensor {
	if slices.Equal(t.shape, x.shape) {
		return t
	}
	shift := len(t.shape) - len(x.shape)
	var dims []int
	for i, s := range t.shape {
		if i < shift || s != x.shape[i-shift] {
			dims = append(dims, i)
		}
	}
	return t.KeepDim().Sum(dims...).Reshape(x.shape...)
}
