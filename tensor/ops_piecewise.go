package tensor

import "slices"

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
}

func (p piecewise) Info() Info {
	return info(p.name, "torch.nn.functional."+p.name, SavesOperands)
}
func (p piecewise) f(in []*Tensor) *Tensor       { return p.form(in[0], p.a, p.b) }
func (p piecewise) Forward(in []*Tensor) *Tensor { return compose(p.f, in) }
func (p piecewise) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(p.f, dy, in)
}

// LeakyReLU returns t above 0 and slope t elsewhere; torch's slope is 0.01. It is
// torch.nn.functional.leaky_relu.
func (t *Tensor) LeakyReLU(slope float64) *Tensor {
	return apply(piecewise{"leaky_relu", leaky, slope, 0}, t)
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
	return apply(piecewise{"threshold", above, threshold, value}, t)
}

func above(x *Tensor, threshold, value float64) *Tensor {
	return x.LeScalar(threshold).Where(constant(x, x.dtype, value), x)
}

// Hardsigmoid returns t/6 + 1/2 limited to the range from 0 to 1. It is
// torch.nn.functional.hardsigmoid.
func (t *Tensor) Hardsigmoid() *Tensor { return apply(piecewise{"hardsigmoid", hardsigmoid, 0, 0}, t) }

func hardsigmoid(x *Tensor, _, _ float64) *Tensor { return x.AddScalar(3).ReLU6().DivScalar(6) }

// Hardswish returns t Hardsigmoid(t). It is torch.nn.functional.hardswish.
func (t *Tensor) Hardswish() *Tensor { return apply(piecewise{"hardswish", hardswish, 0, 0}, t) }

func hardswish(x *Tensor, _, _ float64) *Tensor {
	return x.Mul(hardsigmoid(x, 0, 0)) // in this order, for large x
}

// Hardshrink returns t, or 0 between -lambda and lambda; torch's lambda is 0.5. It is
// torch.nn.functional.hardshrink.
func (t *Tensor) Hardshrink(lambda float64) *Tensor {
	return apply(piecewise{"hardshrink", hardshrink, lambda, 0}, t)
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
	return apply(piecewise{"softshrink", softshrink, lambda, 0}, t)
}

func softshrink(x *Tensor, lambda, _ float64) *Tensor {
	rest := x.LtScalar(-lambda).Where(x.AddScalar(lambda), x.Clamp(0, 0))
	return x.GtScalar(lambda).Where(x.AddScalar(-lambda), rest)
}

type prelu struct{}

func (prelu) Info() Info { return info("prelu", "torch.nn.functional.prelu", SavesOperands) }
func (prelu) f(in []*Tensor) *Tensor {
	x, w := in[0], in[1]
	if n := len(w.shape); n == 1 && len(x.shape) > 1 {
		shape := slices.Repeat([]int{1}, len(x.shape))
		shape[1] = w.shape[0]
		w = w.Reshape(shape...)
	} else if n == 1 {
		w = w.Reshape()
	}
	return x.GtScalar(0).Where(x, x.Mul(w))
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
	return derive(p.f, dy, in)
}

// PReLU returns t above 0 and weight t elsewhere. weight has one element, or one for
// each channel (dimension 1) of t, and t's dtype. It is torch.nn.functional.prelu.
func (t *Tensor) PReLU(weight *Tensor) *Tensor { return apply(prelu{}, t, weight) }
