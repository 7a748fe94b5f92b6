package optim

import (
	"fmt"
	"math"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// muon is K. Jordan and others, "Muon: An optimizer for hidden layers in neural networks" (2024).
type muon struct{}

// NewMuon returns an optimizer of matrices with learning rate lr, commonly 0.02: a step has the direction of the gradient's running mean, with all
// singular values near 1. Weight decay, 0.1 by default, is subtracted from the parameter itself. Biases, embeddings and other parameters need another
// optimizer, such as AdamW. It takes Momentum (0.95 by default), Nesterov (on by default) and PlainMomentum, WeightDecay, Eps (1e-7), Maximize, NSSteps, NSCoefficients,
// NSDType and AdjustLR, and panics like [NewSGD], and for a parameter that is not a matrix. It is torch.optim.Muon.
func NewMuon(params []*tensor.Tensor, lr float64, options ...Option) *Optimizer {
	defaults := Group{
		LR: lr, WeightDecay: 0.1, Momentum: 0.95, Nesterov: true, Eps: 1e-7, NSSteps: 5, NSCoefficients: [3]float64{3.4445, -4.7750, 2.0315},
		AdjustLR: "original", NSDType: tensor.BFloat16,
	}
	return newOptimizer("Muon", muon{}, "momentum nesterov weight_decay eps maximize ns_steps ns_coefficients ns_dtype adjust_lr_fn", params, defaults, options)
}

// PlainMomentum disables Nesterov momentum, which Muon has by default.
func PlainMomentum() Option { return Option{"nesterov", func(g *Group) { g.Nesterov = false }} }

// NSSteps sets the number of Newton-Schulz steps, below 100; 5 by default.
func NSSteps(n int) Option { return Option{"ns_steps", func(g *Group) { g.NSSteps = float64(n) }} }

// NSCoefficients sets the coefficients of the Newton-Schulz polynomial a x + b x³ + c x⁵ of singular values; 3.4445, -4.775 and 2.0315 by default.
func NSCoefficients(a, b, c float64) Option {
	return Option{"ns_coefficients", func(g *Group) { g.NSCoefficients = [3]float64{a, b, c} }}
}

// NSDType sets the dtype of the Newton-Schulz steps: float16, float32, float64, or bfloat16, the default and torch's only one.
func NSDType(d tensor.DType) Option { return Option{"ns_dtype", func(g *Group) { g.NSDType = d }} }

// AdjustLR sets how the learning rate for a matrix (a, b) follows from that of the group: "original", the default, multiplies by the root of the
// larger of 1 and a/b, "match_rms_adamw" by 0.2 times the root of the larger of a and b, and "spectral_unclamped" by the root of a/b. It is adjust_lr_fn.
func AdjustLR(name string) Option {
	return Option{"adjust_lr_fn", func(g *Group) { g.AdjustLR = name }}
}

// adjustments are the factors of AdjustLR for a matrix (a, b).
var adjustments = map[string]func(a, b float64) float64{
	"original":           func(a, b float64) float64 { return math.Sqrt(max(1, a/b)) },
	"match_rms_adamw":    func(a, b float64) float64 { return 0.2 * math.Sqrt(max(a, b)) },
	"spectral_unclamped": func(a, b float64) float64 { return math.Sqrt(a / b) },
}

// check returns what is wrong with a group's settings or parameters.
func (muon) check(g *Group) error {
	if !g.NSDType.IsFloat() || g.NSDType.IsStorage() {
		return fmt.Errorf("ns_dtype is %v; want bfloat16, float16, float32 or float64", g.NSDType)
	}
	for i, p := range g.params {
		if len(p.Shape()) != 2 {
			return fmt.Errorf("parameter %d is of shape %s; want matrices: give biases and others to another optimizer, such as NewAdamW", i, text.Shape(p.Shape()))
		}
	}
	return nil
}

func (muon) step(p, g *tensor.Tensor, o *Group, r record) {
	mean := r.tensor("momentum_buffer", p)
	mean.Assign(blend(mean, g, 1-o.Momentum))
	u := mean
	if o.Nesterov {
		u = blend(g, mean, o.Momentum)
	}
	x := newtonSchulz(u, o)
	p.MulScalarAssign(1 - float64(o.LR*o.WeightDecay))
	a, b := float64(p.Shape()[0]), float64(p.Shape()[1])
	rate := numberOf(p, o.LR*adjustments[o.AdjustLR](a, b))
	p.Assign(p.Double().AddScaled(x.Double(), -rate).To(p.DType()))
}

// numberOf returns x rounded to the dtype in which p is computed: float64 for float64, otherwise float32.
func numberOf(p *tensor.Tensor, x float64) float64 {
	if p.DType() == tensor.Float64 {
		return x
	}
	return float64(float32(x))
}

// blend returns x + w (y - x), from the nearer end: torch's lerp with the fused multiply-add that it has on processors with AVX2. The sum in float64 is
// exact, so the result is rounded once, as the step of the weight is: bits of a direction in bfloat16 hang on it.
func blend(x, y *tensor.Tensor, w float64) *tensor.Tensor {
	var d *tensor.Tensor
	if x.DType() == tensor.Float64 {
		d = y.Sub(x)
	} else {
		d = y.Float().Sub(x.Float()).Double()
	}
	weight := numberOf(x, w)
	if weight < 0.5 {
		return x.Double().AddScaled(d, weight).To(x.DType())
	}
	return y.Double().AddScaled(d, -numberOf(x, 1-weight)).To(x.DType())
}

// newtonSchulz returns u (a, b) with its singular values moved towards 1, as the group's dtype.
func newtonSchulz(u *tensor.Tensor, o *Group) *tensor.Tensor {
	x := u.To(o.NSDType)
	tall := u.Shape()[0] > u.Shape()[1]
	if tall {
		x = x.T()
	}
	x = x.Div(x.Norm().ClampMin(o.Eps))
	a, b, c := o.NSCoefficients[0], o.NSCoefficients[1], o.NSCoefficients[2]
	for range int(o.NSSteps) {
		gram := x.MM(x.T())
		gram = gram.AddMM(gram, gram, tensor.AddMMOptions{Beta: b, Alpha: c})
		x = x.AddMM(gram, x, tensor.AddMMOptions{Beta: a})
	}
	if tall {
		x = x.T()
	}
	return x
}
