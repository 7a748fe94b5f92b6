package nn

import (
	"fmt"

	"halfnote/tensor"
)

// Dropout sets elements, or whole features, to 0 at random in training and returns its
// input unchanged in evaluation. The constructors select the variant.
type Dropout struct {
	TrainingMode
	name string
	p    float64
	dims [2]int // numbers of dimensions that the input may have; 0 means any
	f    func(x *tensor.Tensor, p float64, training bool) *tensor.Tensor
}

func newDropout(name string, p float64, dims [2]int, f func(*tensor.Tensor, float64, bool) *tensor.Tensor) *Dropout {
	if !(p >= 0 && p <= 1) {
		panic(&tensor.Error{Op: name, Why: fmt.Sprintf("the probability is %v; want a number from 0 to 1", p)})
	}
	return &Dropout{name: name, p: p, dims: dims, f: f}
}

// Forward drops elements of x.
func (d *Dropout) Forward(x *tensor.Tensor) *tensor.Tensor {
	n := x.Dim()
	if d.dims[1] > 0 && n != d.dims[0] && n != d.dims[1] {
		panic(&tensor.Error{Op: d.name, Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("input is %d-D; want %d-D, or %d-D with a batch", n, d.dims[0], d.dims[1])})
	}
	if n == d.dims[0] && d.dims[1] > 0 {
		return d.f(x.Unsqueeze(0), d.p, d.Training()).Reshape(x.Shape()...)
	}
	return d.f(x, d.p, d.Training())
}

// String returns what torch prints.
func (d *Dropout) String() string { return fmt.Sprintf("%s(p=%v, inplace=False)", d.name, d.p) }

// NewDropout returns a Dropout of elements with probability p; torch's default is 0.5.
// It panics unless p is in [0, 1]. It is torch.nn.Dropout.
func NewDropout(p float64) *Dropout {
	return newDropout("Dropout", p, [2]int{}, tensor.Dropout)
}

// NewDropout1d returns a Dropout of rows of (N, C, L) or (C, L). It is
// torch.nn.Dropout1d.
func NewDropout1d(p float64) *Dropout {
	return newDropout("Dropout1d", p, [2]int{2, 3}, tensor.FeatureDropout)
}

// NewDropout2d returns a Dropout of planes of (N, C, H, W) or (C, H, W). It is
// torch.nn.Dropout2d, which takes three dimensions for (N, C, L).
func NewDropout2d(p float64) *Dropout {
	return newDropout("Dropout2d", p, [2]int{3, 4}, tensor.FeatureDropout)
}

// NewDropout3d returns a Dropout of volumes of (N, C, D, H, W) or (C, D, H, W). It is
// torch.nn.Dropout3d.
func NewDropout3d(p float64) *Dropout {
	return newDropout("Dropout3d", p, [2]int{4, 5}, tensor.FeatureDropout)
}

// NewAlphaDropout returns a Dropout that preserves mean and variance after SELU. It is
// torch.nn.AlphaDropout.
func NewAlphaDropout(p float64) *Dropout {
	return newDropout("AlphaDropout", p, [2]int{}, tensor.AlphaDropout)
}

// NewFeatureAlphaDropout returns an AlphaDropout of whole features of (N, C, …). It is
// torch.nn.FeatureAlphaDropout.
func NewFeatureAlphaDropout(p float64) *Dropout {
	return newDropout("FeatureAlphaDropout", p, [2]int{}, tensor.FeatureAlphaDropout)
}
