package tensor

import "halfnote/tensor/driver"

// Activations are composed of other operations: halves are computed in float32 and rounded
// once.

// silu is x sigmoid(x); both factors are rounded in float32.
type silu struct{}

func (silu) Info() Info             { return info("silu", "torch.nn.functional.silu", SavesOperands) }
func (silu) f(in []*Tensor) *Tensor { return in[0].Mul(in[0].Sigmoid()) }
func (a silu) Forward(in []*Tensor) *Tensor {
	if x := in[0]; x.mem.backend.Offers(driver.Silu, x.dtype, x.dtype) {
		return unary(driver.Silu, x)
	}
	return compose(a.f, in)
}
func (silu) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(siluGrad{}, dy, in[0])}
}

// siluGrad is dy times the derivative of x sigmoid(x). Its operands are dy and x.
type siluGrad struct{}

func (siluGrad) Info() Info {
	return info("silu_backward", "torch.ops.aten.silu_backward", SavesOperands)
}
func (siluGrad) f(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	s := x.Sigmoid()
	return dy.Mul(s).Add(apply(sigmoidGrad{}, s, dy.Mul(x)))
}
func (s siluGrad) Forward(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	if x.mem.backend.Offers(driver.SiluGrad, dy.dtype, x.dtype, dy.dtype) {
		return pairwise("silu_backward", driver.SiluGrad, x, dy)
	}
	return compose(s.f, in)
}
func (s siluGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor { return derive(s.f, d, in) }

// SiLU returns t sigmoid(t). It is torch.nn.functional.silu.
func (t *Tensor) SiLU() *Tensor { return apply(silu{}, t) }

type mish struct{}

func (mish) Info() Info { return info("mish", "torch.nn.functional.mish", SavesOperands) }
func (mish) f(in []*Tensor) *Tensor {
	return in[0].Mul(in[0].Softplus().Tanh())
}
func (a mish) Forward(in []*Tensor) *Tensor { return compose(a.f, in) }
func (a mish) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(a.f, dy, in)
}

// Mish returns t tanh(softplus(t)). It is torch.nn.functional.mish.
func (t *Tensor) Mish() *Tensor { return apply(mish{}, t) }

// elu is scale x above 0, and scale alpha (exp(x / beta) - 1) elsewhere.
type elu struct {
	name               string
	alpha, beta, scale float64
}

func (e elu) Info() Info {
	return info(e.name, "torch.nn.functional."+e.name, SavesOperands)
}
func (e elu) f(in []*Tensor) *Tensor {
	x := in[0]
	positive := x.GtScalar(0)
	below := positive.Where(constant(x, x.dtype, 0), x).DivScalar(e.beta).Expm1().MulScalar(e.alpha)
	return positive.Where(x, below).MulScalar(e.scale)
}
func (e elu) Forward(in []*Tensor) *Tensor { return compose(e.f, in) }
func (e elu) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(e.f, dy, in)
}

// ELU returns t above 0 and alpha (exp(t) - 1) elsewhere; torch's alpha is 1. It is
// torch.nn.functional.elu.
func (t *Tensor) ELU(alpha float64) *Tensor { return apply(elu{"elu", alpha, 1, 1}, t) }

// CELU returns t above 0 and alpha (exp(t/alpha) - 1) elsewhere; torch's alpha is 1. It
// is torch.nn.functional.celu.
func (t *Tensor) CELU(alpha float64) *Tensor { return apply(elu{"celu", alpha, alpha, 1}, t) }

// SELU returns 1.0507 ELU(t) with alpha 1.6733, which preserves mean 0 and variance 1 (G.
// Klambauer and others, "Self-Normalizing Neural Networks", 2017). It is
// torch.nn.functional.selu.
func (t *Tensor) SELU() *Tensor {
	return apply(elu{"selu", 1.6732632423543772848170429916717, 1, 1.0507009873554804934193349852946}, t)
}

type softplus struct{ beta, threshold float64 }

func (softplus) Info() Info {
	return info("softplus", "torch.nn.functional.softplus", SavesOperands)
}
func (s softplus) f(in []*Tensor) *Tensor {
	x := in[0]
	b := x.MulScalar(s.beta)
	linear := b.GtScalar(s.threshold)
	b = linear.Where(constant(b, b.dtype, 0), b)
	return linear.Where(x, b.Exp().Log1p().DivScalar(s.beta))
}
func (s softplus) Forward(in []*Tensor) *Tensor { return compose(s.f, in) }
func (s softplus) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(s.f, dy, in)
}

// Softplus returns log(1 + exp(t)), or t itself above 20. It is
// torch.nn.functional.softplus.
func (t *Tensor) Softplus() *Tensor { return t.SoftplusWith(1, 20) }

// SoftplusWith returns log(1 + exp(beta t)) / beta, or t itself where beta t is above
// threshold. It is torch.nn.functional.softplus.
func (t *Tensor) SoftplusWith(beta, threshold float64) *Tensor {
	return apply(softplus{beta, threshold}, t)
}

type logSigmoid struct{}

func (logSigmoid) Info() Info {
	return info("log_sigmoid", "torch.nn.functional.logsigmoid", SavesOperands)
}
func (logSigmoid) f(in []*Tensor) *Tensor {
	x := in[0]
	below, zero := x.LtScalar(0), constant(x, x.dtype, 0)
	return below.Where(x, zero).Sub(below.Where(x, x.Neg()).Exp().Log1p())
}
func (l logSigmoid) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l logSigmoid) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// LogSigmoid returns log(sigmoid(t)), accurate also where sigmoid(t) is small. It is
// torch.nn.functional.logsigmoid.
func (t *Tensor) LogSigmoid() *Tensor { return apply(logSigmoid{}, t) }

type softsign struct{}

func (softsign) Info() Info {
	return info("softsign", "torch.nn.functional.softsign", SavesOperands)
}
func (softsign) real()                          {}
func (softsign) f(in []*Tensor) *Tensor         { return in[0].Div(in[0].Abs().AddScalar(1)) }
func (s softsign) Forward(in []*Tensor) *Tensor { return compose(s.f, in) }
func (s softsign) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(s.f, dy, in)
}

// Softsign returns t / (1 + |t|). It is torch.nn.functional.softsign.
func (t *Tensor) Softsign() *Tensor { return apply(softsign{}, t) }

// tanhshrink is computed in float64. Near 0, where its terms cancel, it uses the series of
// tanh.
type tanhshrink struct{}

func (tanhshrink) Info() Info {
	return info("tanhshrink", "torch.nn.functional.tanhshrink", SavesOperands)
}
func (tanhshrink) real() {}
func (tanhshrink) f(in []*Tensor) *Tensor {
	x := in[0].Double()
	near := x.GtScalar(-0.1).And(x.LtScalar(0.1))
	small := near.Where(x, constant(x, Float64, 0))
	q := small.Mul(small)
	series := q.MulScalar(-62.0 / 2835).AddScalar(17.0 / 315).Mul(q).AddScalar(-2.0 / 15).Mul(q).AddScalar(1.0 / 3).Mul(q).Mul(small)
	return near.Where(series, x.Sub(x.Tanh())).To(in[0].dtype)
}
func (s tanhshrink) Forward(in []*Tensor) *Tensor { return compose(s.f, in) }
func (s tanhshrink) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(s.f, dy, in)
}

// Tanhshrink returns t - tanh(t). It is torch.nn.functional.tanhshrink.
func (t *Tensor) Tanhshrink() *Tensor { return apply(tanhshrink{}, t) }

// Softmin returns the softmax of -t along dim. It is torch.nn.functional.softmin.
func (t *Tensor) Softmin(dim int) *Tensor { return t.Neg().Softmax(dim) }

type glu struct{ dim int }

func (glu) Info() Info { return info("glu", "torch.nn.functional.glu", SavesOperands) }
func (g glu) f(in []*Tensor) *Tensor {
	x := in[0]
	n := x.shape[g.dim] / 2
	return x.Slice(g.dim, 0, n).Mul(x.Slice(g.dim, n, 2*n).Sigmoid())
}
func (g glu) Forward(in []*Tensor) *Tensor { return compose(g.f, in) }
func (g glu) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(g.f, dy, in)
}

// GLU returns a sigmoid(b), where a and b are the halves of t along dim. The size of dim must
// be even. It is torch.nn.functional.glu.
func (t *Tensor) GLU(dim int) *Tensor {
	t.given("glu")
	d := axis("glu", t, dim, len(t.shape))
	if t.shape[d]%2 != 0 {
		fail("glu", []*Tensor{t}, "dimension %d has size %d; want an even size", d, t.shape[d])
	}
	return apply(glu{d}, t)
}
