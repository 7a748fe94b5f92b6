package tensor

import (
	"math"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/elementary"
)

type erf struct{}

func (erf) Info() Info { return info("erf", "torch.erf", SavesOperands) }
func (erf) real()      {}
func (erf) Forward(in []*Tensor) *Tensor {
	return unary(driver.Erf, in[0])
}
func (erf) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{dy.Mul(in[0].Pow(2).Neg().Exp().MulScalar(2 / math.Sqrt(math.Pi)))}
}

// Erf returns the error function of t. It is torch.erf.
func (t *Tensor) Erf() *Tensor { return apply(erf{}, t) }

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

// ndtr is computed in float64, because float32 loses precision far below 0.
type ndtr struct{}

func (ndtr) Info() Info { return info("ndtr", "torch.special.ndtr", SavesOperands) }
func (ndtr) real()      {}
func (ndtr) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor {
		return in[0].Double().MulScalar(-math.Sqrt2 / 2).Erfc().MulScalar(0.5).To(in[0].dtype)
	}, in)
}
func (ndtr) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor {
		return dy.Mul(x.Mul(x).MulScalar(-0.5).Exp()).MulScalar(1 / math.Sqrt(2*math.Pi))
	})
}

// Ndtr returns the probability that a standard normal variable is at most t: its distribution function, accurate far below 0.
// It is torch.special.ndtr.
func (t *Tensor) Ndtr() *Tensor { return apply(ndtr{}, t) }

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

// VJP is dy / (x (1 - x)) in the range, bounds included. Beyond it the result is constant with eps, and undefined without.
func (l logit) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	x := in[0].Double()
	lo, hi, beyond := 0.0, 1.0, math.NaN()
	if l.eps > 0 {
		lo, hi, beyond = l.eps, 1-l.eps, 0
		if in[0].dtype != Float64 { // bounds of the dtype that torch compares in
			lo, hi = float64(float32(lo)), float64(1-float32(lo))
		}
	}
	outside := x.LtScalar(lo).Or(x.GtScalar(hi))
	x = outside.Where(constant(x, Float64, 0.5), x)
	dx := outside.Where(constant(x, Float64, beyond), dy.Double().Div(x.Mul(x.RSubScalar(1))))
	return []*Tensor{dx.To(wideOf(in[0].dtype))}
}

// Logit returns log(t / (1 - t)). If eps is above 0, t is first clamped to [eps, 1-eps]. It
// is torch.logit.
func (t *Tensor) Logit(eps float64) *Tensor { return apply(logit{eps}, t) }

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

type entr struct{}

func (entr) Info() Info { return info("entr", "torch.special.entr", SavesOperands) }
func (entr) real()      {}
func (entr) Forward(in []*Tensor) *Tensor {
	return compose(func(in []*Tensor) *Tensor {
		x := in[0]
		y := x.EqScalar(0).Where(constant(x, x.dtype, 0), x.Mul(x.Log()).Neg())
		return x.LtScalar(0).Where(constant(x, x.dtype, math.Inf(-1)), y)
	}, in)
}
func (entr) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Log().AddScalar(1).Neg()) })
}

// Entr returns -t log(t): the terms of an entropy, whose sum over the probabilities of a distribution is its entropy in nats. It is 0 at 0, where the
// derivative is +Inf, and -Inf below. It is torch.special.entr.
func (t *Tensor) Entr() *Tensor { return apply(entr{}, t) }

// The gamma functions have no kernels: they are computed on the CPU, in float64, and rounded
// once.

type lgamma struct{}

func (lgamma) Info() Info                   { return info("lgamma", "torch.lgamma", SavesOperands) }
func (lgamma) real()                        {}
func (lgamma) Forward(in []*Tensor) *Tensor { return eachElement(in[0], elementary.Lgamma) }
func (lgamma) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Digamma()) })
}

// Lgamma returns the logarithm of the absolute value of the gamma function, +Inf at 0 and
// the negative whole numbers. It is torch.lgamma.
func (t *Tensor) Lgamma() *Tensor { return apply(lgamma{}, t) }

type digamma struct{}

func (digamma) Info() Info                   { return info("digamma", "torch.digamma", SavesOperands) }
func (digamma) real()                        {}
func (digamma) Forward(in []*Tensor) *Tensor { return eachElement(in[0], elementary.Digamma) }
func (digamma) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(x.Polygamma(1)) })
}

// Digamma returns the derivative of Lgamma: NaN at the negative whole numbers, -Inf at 0,
// and +Inf at -0. It is torch.digamma.
func (t *Tensor) Digamma() *Tensor { return apply(digamma{}, t) }

type polygamma struct{ n int }

func (polygamma) Info() Info { return info("polygamma", "torch.polygamma", SavesOperands) }
func (polygamma) real()      {}
func (p polygamma) Forward(in []*Tensor) *Tensor {
	return eachElement(in[0], func(x float64) float64 { return elementary.Polygamma(p.n, x) })
}
func (p polygamma) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(apply(polygamma{p.n + 1}, x)) })
}

// Polygamma returns the n-th derivative of Digamma. For n = 0 it is Digamma itself; for other
// n it is infinite at 0 and the negative whole numbers. It panics unless n is 0 to 170, the
// largest number whose factorial is finite. It is torch.polygamma.
func (t *Tensor) Polygamma(n int) *Tensor {
	if n < 0 || n > 170 {
		fail("polygamma", []*Tensor{t.given("polygamma")}, "n is %d; want 0 to 170, the largest number whose factorial is finite", n)
	}
	return apply(polygamma{n}, t)
}

// eachElement returns f applied to each element of x, in x's dtype.
func eachElement(x *Tensor, f func(float64) float64) *Tensor {
	values := convert(x, Float64).Float64s()
	for i, v := range values {
		if i&(1<<10-1) == 0 { // a call can take a microsecond
			driver.Poll()
		}
		values[i] = f(v)
	}
	y := newTensor(x.mem.backend, Float64, x.shape)
	return narrow(y.setFloat64s(values), x.dtype)
}
