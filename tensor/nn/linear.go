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

// LinearOption configures a Linear.
type LinearOption func(*linearConfig)

type linearConfig struct {
	bias      bool
	generator *tensor.Generator
}

// NoBias makes a Linear without a bias; it has one by default.
func NoBias() LinearOption { return func(c *linearConfig) { c.bias = false } }

// InitFrom draws the parameters from g; by default from the generator that
// tensor.ManualSeed seeds.
func InitFrom(g *tensor.Generator) LinearOption { return func(c *linearConfig) { c.generator = g } }

// NewLinear returns a float32 layer from in to out features. Weight and bias are
// spread evenly over ±1/√in, from the same draws as torch's. It panics if a size
// is below 1. It is torch.nn.Linear.
func NewLinear(in, out int, options ...LinearOption) *Linear {
	if in < 1 || out < 1 {
		panic(&tensor.Error{Op: "new_linear", Why: fmt.Sprintf("%d to %d features; expected 1 or more of each", in, out)})
	}
	c := linearConfig{bias: true}
	for _, o := range options {
		o(&c)
	}
	uniform := tensor.Uniform
	if c.generator != nil {
		uniform = c.generator.Uniform
	}
	bound := 1 / math.Sqrt(float64(in))
	l := &Linear{Weight: uniform(-bound, bound, out, in).RequireGrad()}
	if c.bias {
		l.Bias = uniform(-bound, bound, out).RequireGrad()
	}
	return l
}

// Forward maps x (…, in) to (…, out).
func (l *Linear) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Linear(l.Weight, l.Bias) }

// String returns what torch prints.
func (l *Linear) String() string {
	return fmt.Sprintf("Linear(in_features=%d, out_features=%d, bias=%v)", l.Weight.Size(1), l.Weight.Size(0), l.Bias != nil)
}
