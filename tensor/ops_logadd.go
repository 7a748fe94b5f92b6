package tensor

import "math"

type xlogy struct{}

func (xlogy) Info() Info { return info("xlogy", "torch.xlogy", SavesOperands) }
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

// Xlogy returns t log(o), broadcast, or 0 where t is 0 and o is not NaN. It is
// torch.xlogy.
func (t *Tensor) Xlogy(o *Tensor) *Tensor { return apply(xlogy{}, t, o) }

// logAddExp is the logarithm of base^x + base^y to that base.
type logAddExp struct {
	name string
	ln   float64 // natural logarithm of the base
}

func (l logAddExp) Info() Info { return info(l.name, "torch."+l.name, SavesOperands) }
func (logAddExp) promotes()    {}
func (l logAddExp) Forward(in []*Tensor) *Tensor {
	notWhole(l.name, in)
	return compose(func(in []*Tensor) *Tensor {
		// Computed in float64, because the terms may cancel.
		x, y := in[0].Double(), in[1].Double()
		less := x.Sub(y).Abs().MulScalar(-l.ln).Exp().Log1p().DivScalar(l.ln)
		sum := x.Eq(y).Where(x.AddScalar(math.Ln2/l.ln), x.Maximum(y).Add(less)) // equal infinities, whose difference is NaN
		return sum.To(wideOf(promoteAll(in)))
	}, in)
}
func (l logAddExp) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(x.Sub(y).MulScalar(l.ln).Sigmoid()) },
		func(dy, x, y *Tensor) *Tensor { return dy.Mul(y.Sub(x).MulScalar(l.ln).Sigmoid()) })
}

// LogAddExp returns log(exp(t) + exp(o)), broadcast, without intermediate overflow. It
// is torch.logaddexp.
func (t *Tensor) LogAddExp(o *Tensor) *Tensor { return apply(logAddExp{"logaddexp", 1}, t, o) }

// LogAddExp2 returns log2(2^t + 2^o), broadcast, without intermediate overflow. It is
// torch.logaddexp2.
func (t *Tensor) LogAddExp2(o *Tensor) *Tensor {
	return apply(logAddExp{"logaddexp2", math.Ln2}, t, o)
}

// notWhole panics unless an operand has a floating-point dtype.
func notWhole(op string, in []*Tensor) {
	given(op, in...)
	if !promoteAll(in).IsFloat() {
		failDType(op, in, "not defined for integers; want a floating-point dtype: cast with To")
	}
}
