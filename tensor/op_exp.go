package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

type exp struct{}

func (exp) Info() Info { return info("exp", "torch.exp", SavesResult) }
func (exp) real()      {}
func (exp) Forward(in []*Tensor) *Tensor {
	return unary(driver.Exp, in[0])
}
func (exp) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{dy.Mul(y)} }

// Exp returns e to the power t. It is torch.exp.
func (t *Tensor) Exp() *Tensor { return apply(exp{}, t) }

type log struct{}

func (log) Info() Info { return info("log", "torch.log", SavesOperands) }
func (log) real()      {}
func (log) Forward(in []*Tensor) *Tensor {
	return unary(driver.Log, in[0])
}
func (log) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return []*Tensor{dy.Div(in[0])} }

// Log returns the natural logarithm of t. It is torch.log.
func (t *Tensor) Log() *Tensor { return apply(log{}, t) }

type log1p struct{}

func (log1p) Info() Info { return info("log1p", "torch.log1p", SavesOperands) }
func (log1p) real()      {}
func (log1p) Forward(in []*Tensor) *Tensor {
	return unary(driver.Log1p, in[0])
}
func (log1p) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Div(in[0].AddScalar(1))}
}

// Log1p returns log(1 + t), accurate for small t. It is torch.log1p.
func (t *Tensor) Log1p() *Tensor { return apply(log1p{}, t) }

type exp2 struct{}

func (exp2) Info() Info                   { return info("exp2", "torch.exp2", SavesResult) }
func (exp2) real()                        {}
func (exp2) Forward(in []*Tensor) *Tensor { return unary(driver.Exp2, in[0]) }
func (exp2) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return widely(dy, y, func(dy, y *Tensor) *Tensor { return dy.Mul(y).MulScalar(math.Ln2) })
}

// Exp2 returns 2 to the power t. It is torch.exp2.
func (t *Tensor) Exp2() *Tensor { return apply(exp2{}, t) }

type expm1 struct{}

func (expm1) Info() Info                   { return info("expm1", "torch.expm1", SavesResult) }
func (expm1) real()                        {}
func (expm1) Forward(in []*Tensor) *Tensor { return unary(driver.Expm1, in[0]) }
func (expm1) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return widely(dy, y, func(dy, y *Tensor) *Tensor { return dy.Mul(y.AddScalar(1)) })
}

// Expm1 returns exp(t) - 1, accurate for small t. It is torch.expm1.
func (t *Tensor) Expm1() *Tensor { return apply(expm1{}, t) }

type log2 struct{}

func (log2) Info() Info                   { return info("log2", "torch.log2", SavesOperands) }
func (log2) real()                        {}
func (log2) Forward(in []*Tensor) *Tensor { return unary(driver.Log2, in[0]) }
func (log2) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Div(x.MulScalar(math.Ln2)) })
}

// Log2 returns the logarithm to base 2. It is torch.log2.
func (t *Tensor) Log2() *Tensor { return apply(log2{}, t) }

type log10 struct{}

func (log10) Info() Info                   { return info("log10", "torch.log10", SavesOperands) }
func (log10) real()                        {}
func (log10) Forward(in []*Tensor) *Tensor { return unary(driver.Log10, in[0]) }
func (log10) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Div(x.MulScalar(math.Ln10)) })
}

// Log10 returns the logarithm to base 10. It is torch.log10.
func (t *Tensor) Log10() *Tensor { return apply(log10{}, t) }

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
