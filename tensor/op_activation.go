package tensor

import (
	"math"
	"slices"

	"halfnote/tensor/driver"
)

type sigmoid struct{}

func (sigmoid) Info() Info { return info("sigmoid", "torch.sigmoid", SavesResult) }
func (sigmoid) real()      {}
func (sigmoid) Forward(in []*Tensor) *Tensor {
	return unary(driver.Sigmoid, in[0])
}
func (sigmoid) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(sigmoidGrad{}, y, dy)}
}

// Sigmoid returns 1 / (1 + exp(-t)). It is torch.sigmoid.
func (t *Tensor) Sigmoid() *Tensor { return apply(sigmoid{}, t) }

// sigmoidGrad is dy (1 - y) y. Its operands are y and dy. It rounds once.
type sigmoidGrad struct{}

func (sigmoidGrad) Info() Info {
	return info("sigmoid_backward", "torch.ops.aten.sigmoid_backward", SavesOperands)
}
func (sigmoidGrad) Forward(in []*Tensor) *Tensor {
	return pairwise("sigmoid_backward", driver.SigmoidGrad, in[0], in[1])
}
func (sigmoidGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	y, dy := in[0], in[1]
	return []*Tensor{d.Mul(dy).Mul(y.MulScalar(-2).AddScalar(1)), apply(sigmoidGrad{}, y, d)}
}

type relu struct{}

func (relu) Info() Info { return info("relu", "torch.relu", SavesResult) }
func (relu) Forward(in []*Tensor) *Tensor {
	notBool("relu", in)
	return unary(driver.Relu, in[0])
}
func (relu) VJP(dy, y *Tensor, _ []*Tensor) []*Tensor {
	return []*Tensor{apply(thresholdGrad{}, y, dy)}
}

// ReLU returns max(t, 0). Its gradient at 0 is 0. It is torch.relu.
func (t *Tensor) ReLU() *Tensor { return apply(relu{}, t) }

// thresholdGrad is dy where y is positive and 0 elsewhere. Its operands are y and dy.
type thresholdGrad struct{}

func (thresholdGrad) Info() Info {
	return info("threshold_backward", "torch.ops.aten.threshold_backward", SavesOperands)
}
func (thresholdGrad) Forward(in []*Tensor) *Tensor {
	return pairwise("threshold_backward", driver.ReluGrad, in[0], in[1])
}
func (thresholdGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{nil, apply(thresholdGrad{}, in[0], d)}
}

// step is 1 where the operand is positive and 0 elsewhere.
type step struct{}

func (step) Info() Info { return info("step", "torch.heaviside", NoDerivative) }
func (step) Forward(in []*Tensor) *Tensor {
	return unary(driver.Step, in[0])
}
func (step) VJP(_, _ *Tensor, _ []*Tensor) []*Tensor { return []*Tensor{nil} }

// Step returns 1 where t is positive and 0 elsewhere. It has no gradient. It is
// torch.heaviside(t, 0).
func (t *Tensor) Step() *Tensor { return apply(step{}, t) }

// Piecewise linear activations and similar functions.

// ReLU6 returns min(max(t, 0), 6). It is torch.nn.functional.relu6.
func (t *Tensor) ReLU6() *Tensor { return t.Hardtanh(0, 6) }

// Hardtanh returns t limited to the range from lo to hi, with gradient 0 at both bounds;
// torch's defaults are -1 and 1. It is torch.nn.functional.hardtanh.
func (t *Tensor) Hardtanh(lo, hi float64) *Tensor {
	if !(lo <= hi) {
		fail("hardtanh", []*Tensor{t}, "bounds are %v and %v; want the lower bound first", lo, hi)
	}
	return apply(clamp{"hardtanh", "torch.nn.functional.hardtanh", lo, hi}, t)
}

// piecewise is a composite function of one operand and two numbers.
type piecewise struct {
	name string
	form func(x *Tensor, a, b float64) *Tensor
	a, b float64
	// slope returns the derivative; nil stands for that of form.
	slope func(x *Tensor) *Tensor
}

func (p piecewise) Info() Info {
	return info(p.name, "torch.nn.functional."+p.name, SavesOperands)
}
func (p piecewise) f(in []*Tensor) *Tensor       { return p.form(in[0], p.a, p.b) }
func (p piecewise) Forward(in []*Tensor) *Tensor { return compose(p.f, in) }
func (p piecewise) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	if p.slope != nil {
		return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(p.slope(x)) })
	}
	return derive(p.f, dy, in)
}

// LeakyReLU returns t above 0 and slope t elsewhere; torch's slope is 0.01. It is
// torch.nn.functional.leaky_relu.
func (t *Tensor) LeakyReLU(slope float64) *Tensor {
	return apply(piecewise{name: "leaky_relu", form: leaky, a: slope, slope: func(x *Tensor) *Tensor {
		return x.GtScalar(0).Where(constant(x, x.dtype, 1), constant(x, x.dtype, slope))
	}}, t)
}

func leaky(x *Tensor, slope, _ float64) *Tensor {
	return x.GtScalar(0).Where(x, x.MulScalar(slope))
}

// RReLU returns t above 0 and slope t below 0, with a random slope for each element, uniform in
// [lower, upper), or their mean unless training is set. torch's bounds are 1/8 and 1/3. The
// slopes are those that torch draws from the same seed. It is
// torch.nn.functional.rrelu.
func RReLU(t *Tensor, lower, upper float64, training bool) *Tensor {
	t.given("rrelu")
	if !training {
		return t.LeakyReLU((lower + upper) / 2)
	}
	generator.mu.Lock()
	defer generator.mu.Unlock()
	slopes := t.Detach().Float64s()
	for i, x := range slopes {
		pollAt(i)
		if slopes[i] = 1; x <= 0 {
			slopes[i] = float64(generator.uniform53()*(upper-lower)) + lower
		}
	}
	return t.Mul(NewAs(t.dtype, slopes).Reshape(t.shape...).ToDevice(t.Device()))
}

// Threshold returns t above threshold and value elsewhere; NaN stays. It is
// torch.nn.functional.threshold.
func (t *Tensor) Threshold(threshold, value float64) *Tensor {
	return apply(piecewise{name: "threshold", form: above, a: threshold, b: value}, t)
}

func above(x *Tensor, threshold, value float64) *Tensor {
	return x.LeScalar(threshold).Where(constant(x, x.dtype, value), x)
}

// Hardsigmoid returns t/6 + 1/2 limited to the range from 0 to 1. It is
// torch.nn.functional.hardsigmoid.
func (t *Tensor) Hardsigmoid() *Tensor {
	return apply(piecewise{name: "hardsigmoid", form: hardsigmoid}, t)
}

func hardsigmoid(x *Tensor, _, _ float64) *Tensor { return x.AddScalar(3).ReLU6().DivScalar(6) }

// Hardswish returns t Hardsigmoid(t). It is torch.nn.functional.hardswish.
func (t *Tensor) Hardswish() *Tensor {
	return apply(piecewise{name: "hardswish", form: hardswish, slope: hardswishSlope}, t)
}

func hardswish(x *Tensor, _, _ float64) *Tensor {
	return x.Mul(hardsigmoid(x, 0, 0)) // in this order, for large x
}

func hardswishSlope(x *Tensor) *Tensor {
	between := x.GtScalar(-3).Where(x, constant(x, x.dtype, 0)).DivScalar(3).AddScalar(0.5)
	return x.LtScalar(3).Where(x.GtScalar(-3).Where(between, constant(x, x.dtype, 0)), constant(x, x.dtype, 1))
}

// Hardshrink returns t, or 0 between -lambda and lambda; torch's lambda is 0.5. It is
// torch.nn.functional.hardshrink.
func (t *Tensor) Hardshrink(lambda float64) *Tensor {
	return apply(piecewise{name: "hardshrink", form: hardshrink, a: lambda}, t)
}

func hardshrink(x *Tensor, lambda, _ float64) *Tensor {
	return x.GeScalar(-lambda).And(x.LeScalar(lambda)).Where(constant(x, x.dtype, 0), x)
}

// Softshrink returns t moved towards 0 by lambda, or 0 between -lambda and lambda; torch's
// lambda is 0.5. It panics if lambda is negative. It is
// torch.nn.functional.softshrink.
func (t *Tensor) Softshrink(lambda float64) *Tensor {
	if !(lambda >= 0) {
		fail("softshrink", []*Tensor{t}, "lambda is %v; want at least 0", lambda)
	}
	return apply(piecewise{name: "softshrink", form: softshrink, a: lambda}, t)
}

func softshrink(x *Tensor, lambda, _ float64) *Tensor {
	rest := x.LtScalar(-lambda).Where(x.AddScalar(lambda), x.Clamp(0, 0))
	return x.GtScalar(lambda).Where(x.AddScalar(-lambda), rest)
}

type prelu struct{}

func (prelu) Info() Info { return info("prelu", "torch.nn.functional.prelu", SavesOperands) }

// spread returns the weights w in a shape that broadcasts with x.
func (prelu) spread(x, w *Tensor) *Tensor {
	if n := len(w.shape); n == 1 && len(x.shape) > 1 {
		shape := slices.Repeat([]int{1}, len(x.shape))
		shape[1] = w.shape[0]
		w = w.Reshape(shape...)
	} else if n == 1 {
		w = w.Reshape()
	}
	return w
}
func (p prelu) f(in []*Tensor) *Tensor {
	x := in[0]
	return x.GtScalar(0).Where(x, x.Mul(p.spread(x, in[1])))
}
func (p prelu) Forward(in []*Tensor) *Tensor {
	sameDType("prelu", in)
	x, w := in[0], in[1]
	channels := 1
	if len(x.shape) > 1 {
		channels = x.shape[1]
	}
	if n := w.Numel(); len(w.shape) > 1 || n != 1 && n != channels {
		fail("prelu", in, "weight has %d elements; want 1, or %d, the size of the input's dimension 1", n, channels)
	}
	return compose(p.f, in)
}
func (p prelu) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return both(dy, in,
		func(dy, x, w *Tensor) *Tensor {
			return dy.Mul(x.GtScalar(0).Where(constant(w, w.dtype, 1), p.spread(x, w)))
		},
		func(dy, x, w *Tensor) *Tensor {
			dw := dy.Mul(x.GtScalar(0).Where(constant(x, x.dtype, 0), x))
			return dw.sumTo(p.spread(x, w)).Reshape(w.shape...)
		})
}

// PReLU returns t above 0 and weight t elsewhere. weight has one element, or one for
// each channel (dimension 1) of t, and t's dtype. It is torch.nn.functional.prelu.
func (t *Tensor) PReLU(weight *Tensor) *Tensor { return apply(prelu{}, t, weight) }

// gelu is x Φ(x), where Φ is the normal distribution function. It rounds once.
type gelu struct{}

func (gelu) Info() Info {
	return info("gelu", "torch.nn.functional.gelu", SavesOperands)
}

// normal returns Φ(x) by erfc, because 1 + erf loses small values.
func (gelu) normal(x *Tensor) *Tensor { return x.MulScalar(-math.Sqrt2 / 2).Erfc().MulScalar(0.5) }

func (g gelu) f(in []*Tensor) *Tensor { return g.normal(in[0]).Mul(in[0]) }
func (g gelu) Forward(in []*Tensor) *Tensor {
	if x := in[0]; x.mem.backend.Offers(driver.Gelu, x.dtype, x.dtype) {
		return unary(driver.Gelu, x)
	}
	return compose(g.f, in)
}
func (gelu) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(geluGrad{}, dy, in[0])}
}

// geluGrad is dy (Φ(x) + x φ(x)), where φ is the normal density. Its operands are dy and x. It
// rounds once.
type geluGrad struct{}

func (geluGrad) Info() Info {
	return info("gelu_backward", "torch.ops.aten.gelu_backward", SavesOperands)
}
func (geluGrad) f(in []*Tensor) *Tensor {
	x := in[1]
	density := x.Pow(2).MulScalar(-0.5).Exp().MulScalar(1 / math.Sqrt(2*math.Pi))
	return in[0].Mul(gelu{}.normal(x).Add(x.Mul(density)))
}
func (g geluGrad) Forward(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	if x.mem.backend.Offers(driver.GeluGrad, dy.dtype, x.dtype, dy.dtype) {
		return pairwise("gelu_backward", driver.GeluGrad, x, dy)
	}
	return compose(g.f, in)
}
func (g geluGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor { return derive(g.f, d, in) }

// GELU returns t Φ(t), where Φ is the normal distribution function. It is
// torch.nn.functional.gelu.
func (t *Tensor) GELU() *Tensor { return apply(gelu{}, t) }

// geluTanh is x sigmoid(2 u). The definition's 1 + tanh(u) loses small values.
type geluTanh struct{}

func (geluTanh) Info() Info { return gelu{}.Info() }

// sigmoid returns sigmoid(2 u), which is 0 or 1 for large x, whose powers may overflow.
func (geluTanh) sigmoid(x *Tensor) *Tensor {
	x = x.Clamp(-1e4, 1e4)
	return x.Mul(x).Mul(x).MulScalar(0.044715).Add(x).MulScalar(2 * math.Sqrt(2/math.Pi)).Sigmoid()
}
func (g geluTanh) f(in []*Tensor) *Tensor { return in[0].Mul(g.sigmoid(in[0])) }
func (g geluTanh) Forward(in []*Tensor) *Tensor {
	if x := in[0]; x.mem.backend.Offers(driver.GeluTanh, x.dtype, x.dtype) {
		return unary(driver.GeluTanh, x)
	}
	return compose(g.f, in)
}
func (geluTanh) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return []*Tensor{apply(geluTanhGrad{}, dy, in[0])}
}

// geluTanhGrad is dy times the derivative of geluTanh. Its operands are dy and x.
type geluTanhGrad struct{}

func (geluTanhGrad) Info() Info { return geluGrad{}.Info() }
func (geluTanhGrad) f(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	s, c := geluTanh{}.sigmoid(x), 2*math.Sqrt(2/math.Pi)
	x = x.Clamp(-1e4, 1e4)
	return dy.Mul(s).Add(apply(sigmoidGrad{}, s, dy.Mul(x)).Mul(x.Mul(x).MulScalar(3 * 0.044715 * c).AddScalar(c)))
}
func (g geluTanhGrad) Forward(in []*Tensor) *Tensor {
	dy, x := in[0], in[1]
	if x.mem.backend.Offers(driver.GeluTanhGrad, dy.dtype, x.dtype, dy.dtype) {
		return pairwise("gelu_backward", driver.GeluTanhGrad, x, dy)
	}
	return compose(g.f, in)
}
func (g geluTanhGrad) VJP(d, _ *Tensor, in []*Tensor) []*Tensor { return derive(g.f, d, in) }

// GELUTanh returns t/2 (1 + tanh(sqrt(2/pi) (t + 0.044715 t³))), an approximation of GELU.
// It is torch.nn.functional.gelu with approximate="tanh".
func (t *Tensor) GELUTanh() *Tensor { return apply(geluTanh{}, t) }

// The following activations are composed of other operations: halves are computed in float32
// and rounded once.

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
	negative := x.LeScalar(0)
	below := negative.Where(x, constant(x, x.dtype, 0)).DivScalar(e.beta).Expm1().MulScalar(e.alpha)
	return negative.Where(below, x).MulScalar(e.scale)
}
func (e elu) Forward(in []*Tensor) *Tensor { return compose(e.f, in) }
func (e elu) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor { return dy.Mul(e.slope(x)) })
}

// slope returns the derivative. It is computed from exp(x), since exp(x) - 1 has lost what 1 is added to again.
func (e elu) slope(x *Tensor) *Tensor {
	negative := x.LeScalar(0)
	below := negative.Where(x, constant(x, x.dtype, 0)).DivScalar(e.beta).Exp().MulScalar(e.alpha * e.scale / e.beta)
	return negative.Where(below, constant(x, x.dtype, e.scale))
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
