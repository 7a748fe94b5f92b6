package tensor

import "math"

// Functions of two and three tensors made of others, rounded once.

// addcmul is x + (value y) z, in this order.
type addcmul struct{ value float64 }

func (addcmul) Info() Info { return Info{"addcmul", "torch.addcmul", Widest, ReadsOperands} }
func (addcmul) promotes()  {}
func (o addcmul) f(in []*Tensor) *Tensor {
	return in[0].Add(in[1].Scale(o.value).Mul(in[2]))
}
func (o addcmul) Forward(in []*Tensor) *Tensor {
	if promoteAll(in) == Bool {
		notBool("addcmul", in)
	}
	return compose(o.f, in).To(promoteAll(in))
}
func (o addcmul) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(o.f, dy, in)
}

// Addcmul returns t + value x y, broadcast, rounded once. It is torch.addcmul.
func (t *Tensor) Addcmul(x, y *Tensor, value float64) *Tensor {
	wholeFor("addcmul", value, t, x, y)
	return apply(addcmul{value}, t, x, y)
}

// addcdiv is x + (value y) / z, in this order.
type addcdiv struct{ value float64 }

func (addcdiv) Info() Info { return Info{"addcdiv", "torch.addcdiv", Widest, ReadsOperands} }
func (addcdiv) promotes()  {}
func (o addcdiv) f(in []*Tensor) *Tensor {
	return in[0].Add(in[1].Scale(o.value).Div(in[2]))
}
func (o addcdiv) Forward(in []*Tensor) *Tensor { return compose(o.f, in) }
func (o addcdiv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(o.f, dy, in)
}

// Addcdiv returns t + value x / y, broadcast, rounded once. It panics if x and y are
// of integers. It is torch.addcdiv.
func (t *Tensor) Addcdiv(x, y *Tensor, value float64) *Tensor {
	if !x.dtype.IsFloat() && !y.dtype.IsFloat() {
		failDType("addcdiv", []*Tensor{t, x, y}, "the second and third are integers to be divided; expected a floating-point dtype of one of them")
	}
	return apply(addcdiv{value}, t, x, y)
}

// lerp goes from x to y; from the nearer end, as torch does (Lerp.h).
type lerp struct{ weight float64 }

func (lerp) Info() Info { return Info{"lerp", "torch.lerp", Keep, ReadsOperands} }
func (lerp) promotes()  {}
func (o lerp) f(in []*Tensor) *Tensor {
	x, y := in[0], in[1]
	d := y.Sub(x)
	if len(in) == 2 {
		if math.Abs(o.weight) < 0.5 {
			return x.Add(d.Scale(o.weight))
		}
		return y.Sub(d.Scale(1 - o.weight))
	}
	w := in[2]
	near := w.Detach().Abs().LtScalar(0.5)
	return near.Where(x.Add(w.Mul(d)), y.Sub(d.Mul(w.RSubScalar(1))))
}
func (o lerp) Forward(in []*Tensor) *Tensor { return compose(o.f, in) }
func (o lerp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(o.f, dy, in)
}

// Lerp returns t + weight (end - t), broadcast, rounded once. It is torch.lerp with a
// number.
func (t *Tensor) Lerp(end *Tensor, weight float64) *Tensor {
	return apply(lerp{weight}, lerpable(t, end)...)
}

// LerpTensor is Lerp with a weight for each element. It is torch.lerp with a tensor.
func (t *Tensor) LerpTensor(end, weight *Tensor) *Tensor {
	return apply(lerp{}, lerpable(t, end, weight)...)
}

func lerpable(in ...*Tensor) []*Tensor {
	sameDType("lerp", in)
	if !in[0].dtype.IsFloat() {
		failDType("lerp", in, "there is nothing between integers; expected a floating-point dtype")
	}
	return in
}

// extreme is the larger or the smaller operand, and the other one of NaN.
type extreme struct {
	name string
	cmp  func(x, y *Tensor) *Tensor
}

func (e extreme) Info() Info { return Info{e.name, "torch." + e.name, Keep, ReadsOperands} }
func (extreme) promotes()    {}
func (e extreme) f(in []*Tensor) *Tensor {
	x, y := in[0], in[1]
	return e.cmp(x, y).Or(y.IsNaN()).Where(x, y)
}
func (e extreme) Forward(in []*Tensor) *Tensor { return compose(e.f, in).To(promoteAll(in)) }
func (e extreme) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(e.f, dy, in)
}

// Fmax returns the larger of t and o, broadcast, the other one where one is NaN; of
// equal ones t has the gradient. It is torch.fmax.
func (t *Tensor) Fmax(o *Tensor) *Tensor { return apply(extreme{"fmax", (*Tensor).Ge}, t, o) }

// Fmin returns the smaller of t and o, broadcast, the other one where one is NaN; of
// equal ones t has the gradient. It is torch.fmin.
func (t *Tensor) Fmin(o *Tensor) *Tensor { return apply(extreme{"fmin", (*Tensor).Le}, t, o) }

type xlogy struct{}

func (xlogy) Info() Info { return Info{"xlogy", "torch.xlogy", Keep, ReadsOperands} }
func (xlogy) promotes()  {}
func (xlogy) real()      {}
func (xlogy) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor {
		x, y := in[0], in[1]
		zero := x.EqScalar(0).And(y.IsNaN().Not())
		return zero.Where(constant(x, x.dtype, 0), x.Mul(y.Log()))
	}, in)
}
func (xlogy) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor {
			zero := x.EqScalar(0).And(y.LeScalar(0))
			one := constant(y, y.dtype, 1)
			return dy.Mul(zero.Where(one, y).Log()) // 0 there
		},
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(x.Div(y)) })
}

// Xlogy returns t log(o), broadcast, 0 where t is 0 and o is not NaN. It is
// torch.xlogy.
func (t *Tensor) Xlogy(o *Tensor) *Tensor { return apply(xlogy{}, t, o) }

// logAddExp is log(base^x + base^y) to that base.
type logAddExp struct {
	name string
	ln   float64 // of the base
}

func (l logAddExp) Info() Info { return Info{l.name, "torch." + l.name, Keep, ReadsOperands} }
func (logAddExp) promotes()    {}
func (l logAddExp) Forward(in []*Tensor) *Tensor {
	notWhole(l.name, in)
	return compose(func(in []*Tensor) *Tensor {
		// In float64: the terms may cancel.
		x, y := in[0].Double(), in[1].Double()
		less := x.Sub(y).Abs().Scale(-l.ln).Exp().Log1p().DivScalar(l.ln)
		sum := x.Eq(y).Where(x.AddScalar(math.Ln2/l.ln), x.Maximum(y).Add(less)) // infinities have no difference
		return sum.To(wideOf(promoteAll(in)))
	}, in)
}
func (l logAddExp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(x.Sub(y).Scale(l.ln).Sigmoid()) },
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(y.Sub(x).Scale(l.ln).Sigmoid()) })
}

// LogAddExp returns log(exp(t) + exp(o)), broadcast, without overflow on the way. It
// is torch.logaddexp.
func (t *Tensor) LogAddExp(o *Tensor) *Tensor { return apply(logAddExp{"logaddexp", 1}, t, o) }

// LogAddExp2 returns log2(2^t + 2^o), broadcast, without overflow on the way. It is
// torch.logaddexp2.
func (t *Tensor) LogAddExp2(o *Tensor) *Tensor {
	return apply(logAddExp{"logaddexp2", math.Ln2}, t, o)
}

// notWhole panics if there is no real number among the operands.
func notWhole(op string, in []*Tensor) {
	if !promoteAll(in).IsFloat() {
		failDType(op, in, "they are whole numbers; expected a floating-point dtype: cast with To")
	}
}
