package nn

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

// Linear is x Weightᵀ + Bias. It is torch.nn.Linear.
type Linear struct {
	Weight *tensor.Tensor // (out, in)
	Bias   *tensor.Tensor // (out), or nil
}

// NewLinear returns a float32 layer from in to out features. Weight and bias are drawn
// uniformly from ±1/√in, with torch's random numbers. It takes Bias and InitFrom, and
// panics if a size is below 1. It is torch.nn.Linear.
func NewLinear(in, out int, options ...Option) *Linear {
	return newLinear(in, out, configure("new_linear", config{bias: true}, options, "Bias", "InitFrom"))
}

func newLinear(in, out int, c config) *Linear {
	if in < 1 || out < 1 {
		panic(&tensor.Error{Op: "new_linear", Why: fmt.Sprintf("%d to %d features; want at least 1 each", in, out)})
	}
	bound := 1 / math.Sqrt(float64(in))
	l := &Linear{Weight: c.uniform(-bound, bound, out, in).RequireGrad()}
	if c.bias {
		l.Bias = c.uniform(-bound, bound, out).RequireGrad()
	}
	return l
}

// Forward maps x (…, in) to (…, out).
func (l *Linear) Forward(x *tensor.Tensor) *tensor.Tensor { return tensor.Linear(x, l.Weight, l.Bias) }

// String returns what torch prints.
func (l *Linear) String() string {
	return fmt.Sprintf("Linear(in_features=%d, out_features=%d, bias=%s)", l.Weight.Size(1), l.Weight.Size(0), truth(l.Bias != nil))
}

// Bilinear is x1 Weight x2 + Bias. It is torch.nn.Bilinear.
type Bilinear struct {
	Weight *tensor.Tensor // (out, in1, in2)
	Bias   *tensor.Tensor // (out), or nil
}

// NewBilinear returns a float32 layer from two inputs of in1 and in2 features to out.
// Weight and bias are drawn uniformly from ±1/√in1. It takes Bias and InitFrom. It is
// torch.nn.Bilinear.
func NewBilinear(in1, in2, out int, options ...Option) *Bilinear {
	if in1 < 1 || in2 < 1 || out < 1 {
		panic(&tensor.Error{Op: "new_bilinear", Why: fmt.Sprintf("in1 %d, in2 %d, out %d; want at least 1 feature each", in1, in2, out)})
	}
	c := configure("new_bilinear", config{bias: true}, options, "Bias", "InitFrom")
	bound := 1 / math.Sqrt(float64(in1))
	b := &Bilinear{Weight: c.uniform(-bound, bound, out, in1, in2).RequireGrad()}
	if c.bias {
		b.Bias = c.uniform(-bound, bound, out).RequireGrad()
	}
	return b
}

// Forward maps x1 (…, in1) and x2 (…, in2) to (…, out).
func (b *Bilinear) Forward(x1, x2 *tensor.Tensor) *tensor.Tensor {
	return tensor.Bilinear(x1, x2, b.Weight, b.Bias)
}

// String returns what torch prints.
func (b *Bilinear) String() string {
	return fmt.Sprintf("Bilinear(in1_features=%d, in2_features=%d, out_features=%d, bias=%s)", b.Weight.Size(1), b.Weight.Size(2), b.Weight.Size(0), truth(b.Bias != nil))
}

// NewIdentity returns a module that returns its input. It is torch.nn.Identity.
func NewIdentity() *Func {
	return &Func{"Identity()", func(x *tensor.Tensor) *tensor.Tensor { return x }}
}
