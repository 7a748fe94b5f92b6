package nn

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// LayerNorm subtracts the mean over the last dimensions, divides by the standard
// deviation, multiplies by Weight and adds Bias. It is torch.nn.LayerNorm.
type LayerNorm struct {
	Weight *tensor.Tensor // in the shape of the last dimensions
	Bias   *tensor.Tensor // likewise, or nil

	eps float64
}

// NewLayerNorm returns a float32 layer for last dimensions of that shape, with weights 1
// and biases 0. It takes Eps (1e-5 by default) and NoBias. It is torch.nn.LayerNorm.
func NewLayerNorm(shape []int, options ...Option) *LayerNorm {
	c := config{bias: true}
	c.eps = 1e-5
	return newLayerNorm(shape, configure("new_layer_norm", c, options, "Eps", "NoBias"))
}

func newLayerNorm(shape []int, c config) *LayerNorm {
	if len(shape) == 0 || slices.Min(shape) < 1 {
		panic(&tensor.Error{Op: "new_layer_norm", Shapes: [][]int{shape}, Why: "expected one size or more, each 1 or more"})
	}
	l := &LayerNorm{Weight: tensor.Ones(shape...).RequireGrad(), eps: c.eps}
	if c.bias {
		l.Bias = tensor.Zeros(shape...).RequireGrad()
	}
	return l
}

// Forward maps x (…, shape) to the same shape.
func (l *LayerNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return x.LayerNorm(l.Weight.Shape(), l.Weight, l.Bias, tensor.NormOptions{Eps: l.eps})
}

// String returns what torch prints.
func (l *LayerNorm) String() string {
	return fmt.Sprintf("LayerNorm(%s, eps=%g, elementwise_affine=True, bias=%s)", tuple(l.Weight.Shape()), l.eps, truth(l.Bias != nil))
}

// Eps is what normalization adds to the variance; the constructor says the default. It
// is eps.
func Eps(e float64) Option { return Option{"Eps", func(c *config) { c.eps = e }} }
