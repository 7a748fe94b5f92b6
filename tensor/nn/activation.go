package nn

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

// Func is a module without parameters.
type Func struct {
	name string
	f    func(*tensor.Tensor) *tensor.Tensor
}

// Forward applies the function to x.
func (a *Func) Forward(x *tensor.Tensor) *tensor.Tensor { return a.f(x) }

// String returns what torch prints.
func (a *Func) String() string { return a.name }

// activation returns f as a module that prints as name with its arguments.
func activation(name string, f func(*tensor.Tensor) *tensor.Tensor, args ...any) *Func {
	for i, a := range args {
		args[i] = literal(a)
	}
	return &Func{fmt.Sprintf(name, args...), f}
}

// NewReLU returns max(x, 0) as a module. It is torch.nn.ReLU.
func NewReLU() *Func { return activation("ReLU()", (*tensor.Tensor).ReLU) }

// NewReLU6 returns min(max(x, 0), 6) as a module. It is torch.nn.ReLU6.
func NewReLU6() *Func { return activation("ReLU6()", (*tensor.Tensor).ReLU6) }

// NewTanh returns the hyperbolic tangent as a module. It is torch.nn.Tanh.
func NewTanh() *Func { return activation("Tanh()", (*tensor.Tensor).Tanh) }

// NewSigmoid returns 1/(1+exp(-x)) as a module. It is torch.nn.Sigmoid.
func NewSigmoid() *Func { return activation("Sigmoid()", (*tensor.Tensor).Sigmoid) }

// NewLogSigmoid returns log(1/(1+exp(-x))) as a module. It is torch.nn.LogSigmoid.
func NewLogSigmoid() *Func { return activation("LogSigmoid()", (*tensor.Tensor).LogSigmoid) }

// NewSiLU returns x/(1+exp(-x)) as a module. It is torch.nn.SiLU.
func NewSiLU() *Func { return activation("SiLU()", (*tensor.Tensor).SiLU) }

// NewMish returns x tanh(log(1+exp(x))) as a module. It is torch.nn.Mish.
func NewMish() *Func { return activation("Mish()", (*tensor.Tensor).Mish) }

// NewHardswish returns x min(max(x+3, 0), 6)/6 as a module. It is torch.nn.Hardswish.
func NewHardswish() *Func { return activation("Hardswish()", (*tensor.Tensor).Hardswish) }

// NewHardsigmoid returns min(max(x+3, 0), 6)/6 as a module. It is torch.nn.Hardsigmoid.
func NewHardsigmoid() *Func { return activation("Hardsigmoid()", (*tensor.Tensor).Hardsigmoid) }

// NewSELU returns the scaled exponential linear unit as a module. It is torch.nn.SELU.
func NewSELU() *Func { return activation("SELU()", (*tensor.Tensor).SELU) }

// NewSoftsign returns x/(1+|x|) as a module. It is torch.nn.Softsign.
func NewSoftsign() *Func { return activation("Softsign()", (*tensor.Tensor).Softsign) }

// NewTanhshrink returns x - tanh(x) as a module. It is torch.nn.Tanhshrink.
func NewTanhshrink() *Func { return activation("Tanhshrink()", (*tensor.Tensor).Tanhshrink) }

// NewGELU returns x Φ(x) as a module, where Φ is the standard normal distribution function.
// It is torch.nn.GELU.
func NewGELU() *Func { return activation("GELU(approximate='none')", (*tensor.Tensor).GELU) }

// NewGELUTanh returns the tanh approximation of GELU as a module. It is torch.nn.GELU with
// approximate="tanh".
func NewGELUTanh() *Func { return activation("GELU(approximate='tanh')", (*tensor.Tensor).GELUTanh) }

// NewLeakyReLU returns x where x is positive and slope x elsewhere, as a module. It is
// torch.nn.LeakyReLU, whose slope is 0.01 by default.
func NewLeakyReLU(slope float64) *Func {
	return activation("LeakyReLU(negative_slope=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.LeakyReLU(slope) }, slope)
}

// NewELU returns x where x is positive and alpha (exp(x) - 1) elsewhere, as a module. It is
// torch.nn.ELU, whose alpha is 1 by default.
func NewELU(alpha float64) *Func {
	return activation("ELU(alpha=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.ELU(alpha) }, alpha)
}

// NewCELU returns x where x is positive and alpha (exp(x/alpha) - 1) elsewhere, as a module.
// It is torch.nn.CELU, whose alpha is 1 by default.
func NewCELU(alpha float64) *Func {
	return activation("CELU(alpha=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.CELU(alpha) }, alpha)
}

// NewSoftplus returns log(1 + exp(beta x))/beta, or x where beta x exceeds threshold, as a
// module. It is torch.nn.Softplus, whose beta is 1 and threshold 20 by default.
func NewSoftplus(beta, threshold float64) *Func {
	return activation("Softplus(beta=%s, threshold=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.SoftplusWith(beta, threshold) }, beta, threshold)
}

// NewHardtanh returns min(max(x, low), high) as a module. It is torch.nn.Hardtanh, whose
// bounds are -1 and 1 by default.
func NewHardtanh(low, high float64) *Func {
	return activation("Hardtanh(min_val=%s, max_val=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Hardtanh(low, high) }, low, high)
}

// NewThreshold returns x where x exceeds threshold and value elsewhere, as a module. It is
// torch.nn.Threshold.
func NewThreshold(threshold, value float64) *Func {
	return activation("Threshold(threshold=%s, value=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Threshold(threshold, value) }, threshold, value)
}

// NewHardshrink returns x where |x| exceeds lambda and 0 elsewhere, as a module. It is
// torch.nn.Hardshrink, whose lambda is 0.5 by default.
func NewHardshrink(lambda float64) *Func {
	return activation("Hardshrink(%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Hardshrink(lambda) }, lambda)
}

// NewSoftshrink returns x moved towards 0 by lambda, or 0 where |x| is at most lambda, as a
// module. It is torch.nn.Softshrink, whose lambda is 0.5 by default.
func NewSoftshrink(lambda float64) *Func {
	return activation("Softshrink(%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Softshrink(lambda) }, lambda)
}

// NewGLU returns the first half of x along dim times the sigmoid of the second, as a
// module. It is torch.nn.GLU, whose dim is -1 by default.
func NewGLU(dim int) *Func {
	return activation("GLU(dim=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.GLU(dim) }, dim)
}

// NewSoftmax returns the softmax along dim as a module. It is torch.nn.Softmax.
func NewSoftmax(dim int) *Func {
	return activation("Softmax(dim=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Softmax(dim) }, dim)
}

// NewLogSoftmax returns the logarithm of the softmax along dim as a module. It is
// torch.nn.LogSoftmax.
func NewLogSoftmax(dim int) *Func {
	return activation("LogSoftmax(dim=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.LogSoftmax(dim) }, dim)
}

// NewSoftmin returns the softmax of -x along dim as a module. It is torch.nn.Softmin.
func NewSoftmin(dim int) *Func {
	return activation("Softmin(dim=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Softmin(dim) }, dim)
}

// NewSoftmax2d returns the softmax over the channels of (n, c, h, w) or (c, h, w), as a module.
// It is torch.nn.Softmax2d.
func NewSoftmax2d() *Func {
	return activation("Softmax2d()", func(x *tensor.Tensor) *tensor.Tensor {
		if n := x.Dim(); n != 3 && n != 4 {
			panic(&tensor.Error{Op: "softmax2d", Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("input is %d-D; want (n, c, h, w) or (c, h, w)", n)})
		}
		return x.Softmax(-3)
	})
}

// NewFlatten returns a module that merges dimensions start to end into one; by default 1 to
// the last. It is torch.nn.Flatten.
func NewFlatten(startEnd ...int) *Func {
	start, end := 1, -1
	switch len(startEnd) {
	case 0:
	case 2:
		end = startEnd[1]
		fallthrough
	case 1:
		start = startEnd[0]
	default:
		panic(&tensor.Error{Op: "flatten", Why: fmt.Sprintf("%d arguments; want at most two, the first and the last dimension", len(startEnd))})
	}
	return activation("Flatten(start_dim=%s, end_dim=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Flatten(start, end) }, start, end)
}

// NewUnflatten returns a module that splits dimension dim into the given sizes, one of which
// may be -1 and is inferred. It is torch.nn.Unflatten.
func NewUnflatten(dim int, sizes ...int) *Func {
	return activation("Unflatten(dim=%s, unflattened_size=%s)", func(x *tensor.Tensor) *tensor.Tensor { return x.Unflatten(dim, sizes...) }, dim, tuple(sizes))
}

// RReLU is x where x is positive and a slope times x elsewhere: a random slope for each
// element in training, the mean slope in evaluation. It is torch.nn.RReLU.
type RReLU struct {
	TrainingMode
	lower, upper float64
}

// NewRReLU returns an RReLU whose slopes are drawn uniformly from lower to upper, as torch
// draws them: see [tensor.RReLU]. Torch's defaults are 1/8 and 1/3. It panics unless
// lower is at most upper and both are finite.
func NewRReLU(lower, upper float64) *RReLU {
	if !(lower <= upper && upper-lower <= math.MaxFloat64) {
		panic(&tensor.Error{Op: "new_rrelu", Why: fmt.Sprintf("slopes from lower %v to upper %v; want finite bounds, lower at most upper", lower, upper)})
	}
	return &RReLU{lower: lower, upper: upper}
}

// Forward applies the function to x.
func (r *RReLU) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.RReLU(x, r.lower, r.upper, r.Training())
}

// String returns what torch prints.
func (r *RReLU) String() string {
	return fmt.Sprintf("RReLU(lower=%s, upper=%s)", python(r.lower), python(r.upper))
}

// PReLU is x where x is positive and Weight times x elsewhere. Each channel (dimension 1)
// has its own weight, or all share one. It is torch.nn.PReLU.
type PReLU struct {
	Weight *tensor.Tensor // (channels) or (1)
}

// NewPReLU returns a PReLU of channels weights, or of 1, that start at slope. Torch's
// default slope is 0.25.
func NewPReLU(channels int, slope float64) *PReLU {
	if channels < 1 {
		panic(&tensor.Error{Op: "new_prelu", Why: fmt.Sprintf("%d channels; want at least 1", channels)})
	}
	return &PReLU{tensor.Full(slope, channels).RequireGrad()}
}

// Forward applies the function to x (N, C, …).
func (p *PReLU) Forward(x *tensor.Tensor) *tensor.Tensor { return x.PReLU(p.Weight) }

// String returns what torch prints.
func (p *PReLU) String() string { return fmt.Sprintf("PReLU(num_parameters=%d)", p.Weight.Numel()) }

// Tau is the temperature of a Gumbel softmax; 1 by default.
func Tau(t float64) Option { return Option{"Tau", func(c *config) { c.tau = t }} }

// Hard makes a Gumbel softmax return one-hot samples, with the gradient of the probabilities;
// off by default. It is hard=True.
func Hard() Option { return Option{"Hard", func(c *config) { c.hard = true }} }

// GumbelSoftmax returns samples of the Gumbel-softmax distribution of logits x, in x's
// shape, drawn by the generator that tensor.ManualSeed seeds, the same as torch's for
// float32: E. Jang and others, "Categorical Reparameterization with Gumbel-Softmax" (2017).
// It takes Tau, Hard and Dim, -1 by default. It panics unless tau is above 0. It is
// torch.nn.functional.gumbel_softmax.
func GumbelSoftmax(x *tensor.Tensor, options ...Option) *tensor.Tensor {
	const op = "gumbel_softmax"
	c := configure(op, config{dim: -1, tau: 1}, options, "Tau", "Hard", "Dim")
	if !(c.tau > 0) {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("Tau is %v; want a number above 0", c.tau)})
	}
	required(op, "input", x)
	if !x.DType().IsFloat() {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("logits have dtype %v; want a floating-point dtype", x.DType())})
	}
	noise := tensor.Exponential(1, x.Shape()...).To(x.DType()).ToDevice(x.Device()).Log().Neg()
	soft := x.Add(noise).DivScalar(c.tau).Softmax(c.dim)
	if !c.hard {
		return soft
	}
	_, index := soft.Detach().Max(c.dim)
	index = index.Unsqueeze(c.dim)
	hard := tensor.ZerosLike(soft).Scatter(c.dim, index, tensor.OnesLike(index).To(soft.DType()))
	return hard.Sub(soft.Detach()).Add(soft)
}
