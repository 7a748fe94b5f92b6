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
