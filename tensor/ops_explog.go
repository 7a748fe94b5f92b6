package tensor

import (
	"math"

	"halfnote/tensor/driver"
)

type rsqrt struct{}

func (rsqrt) Info() Info                   { return info("rsqrt", "torch.rsqrt", SavesResult) }
func (rsqrt) real()                        {}
func (rsqrt) Forward(in []*Tensor) *Tensor { return unary(driver.Rsqrt, in[0]) }
func (rsqrt) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return widely(dy, y, func(dy, y *Tensor) *Tensor { return dy.Mul(y.Mul(y).Mul(y)).MulScalar(-0.5) })
}

// Rsqrt returns 1 / sqrt(t). It is torch.rsqrt.
func (t *Tensor) Rsqrt() *Tensor { return apply(rsqrt{}, t) }

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

type erfc struct{}

func (erfc) Info() Info                   { return info("erfc", "torch.erfc", SavesOperands) }
func (erfc) real()                        {}
func (erfc) Forward(in []*Tensor) *Tensor { return unary(driver.Erfc, in[0]) }
func (erfc) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Mul(x).Neg().Exp()).MulScalar(-2 / math.Sqrt(math.Pi)) })
}

// Erfc returns 1 - erf(t), accurate for large t. It is torch.erfc.
func (t *Tensor) Erfc() *Tensor { return apply(erfc{}, t) }

type erfinv struct{}

func (erfinv) Info() Info                   { return info("erfinv", "torch.erfinv", SavesOperands) }
func (erfinv) real()                        {}
func (erfinv) Forward(in []*Tensor) *Tensor { return unary(driver.Erfinv, in[0]) }
func (erfinv) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Erfinv().Pow(2).Exp()).MulScalar(math.Sqrt(math.Pi) / 2) })
}

// Erfinv returns the inverse of the error function, NaN outside [-1, 1]. It is torch.erfinv.
func (t *Tensor) Erfinv() *Tensor { return apply(erfinv{}, t) }

// Square returns t * t; under autocast it runs in the dtype of pow. It is torch.square.
func (t *Tensor) Square() *Tensor {
	t.given("square")
	t = offered(pow{}.Info(), t)[0]
	if t.dtype == Bool {
		t = t.Long()
	}
	return t.Mul(t)
}

// logit is computed in float64, because float32 loses precision near 0.
type logit struct{ eps float64 }

func (logit) Info() Info { return info("logit", "torch.logit", SavesOperands) }
func (logit) real()      {}
func (l logit) f(in []*Tensor) *Tensor {
	x := in[0].Double()
	if l.eps > 0 {
		x = x.Clamp(l.eps, 1-l.eps)
	}
	return x.Div(x.RSubScalar(1)).Log().To(in[0].dtype)
}
func (l logit) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l logit) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// Logit returns log(t / (1 - t)). If eps is above 0, t is first clamped to [eps, 1-eps]. It
// is torch.logit.
func (t *Tensor) Logit(eps float64) *Tensor { return apply(logit{eps}, t) }
