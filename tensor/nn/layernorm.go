package nn

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// LayerNorm subtracts the mean over the last dimensions, divides by the standard
// deviation, multiplies by Weight and adds Bias. It is torch.nn.LayerNorm.
type LayerNorm struct {
	Weight *tensor.Tensor // shape of the last dimensions, or nil
	Bias   *tensor.Tensor // shape of the last dimensions, or nil

	shape []int
	eps   float64
}

// NewLayerNorm returns a float32 layer that normalises last dimensions of the given shape,
// with weights 1 and biases 0. It takes Eps (1e-5 by default), Affine and Bias. It is
// torch.nn.LayerNorm.
func NewLayerNorm(shape []int, options ...Option) *LayerNorm {
	c := config{bias: true, vision: visionConfig{affine: true}}
	c.eps = 1e-5
	c = configure("new_layer_norm", c, options, "Eps", "Affine", "Bias")
	l := newLayerNorm(shape, c)
	if !c.vision.affine {
		l.Weight, l.Bias = nil, nil
	}
	return l
}

func newLayerNorm(shape []int, c config) *LayerNorm {
	if len(shape) == 0 || slices.Min(shape) < 1 {
		panic(&tensor.Error{Op: "new_layer_norm", Shapes: [][]int{shape}, Why: "want one or more sizes of at least 1"})
	}
	l := &LayerNorm{shape: slices.Clone(shape), eps: c.eps}
	l.Weight, l.Bias = weightAndBias(c.bias, shape...)
	return l
}

// Forward maps x (…, shape) to the same shape.
func (l *LayerNorm) Forward(x *tensor.Tensor) *tensor.Tensor {
	return tensor.LayerNorm(x, l.shape, l.Weight, l.Bias, tensor.NormOptions{Eps: l.eps})
}

// String returns what torch prints.
func (l *LayerNorm) String() string {
	return fmt.Sprintf("LayerNorm(%s, eps=%g, elementwise_affine=%s, bias=%s)", tuple(l.shape), l.eps, truth(l.Weight != nil), truth(l.Bias != nil))
}

// Eps is the term that normalisation adds to the variance; each constructor documents its
// default. It is eps.
func Eps(e float64) Option { return Option{"Eps", func(c *config) { c.eps = e }} }
