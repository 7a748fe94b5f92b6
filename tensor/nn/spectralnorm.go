package nn

import (
	"fmt"
	"slices"

	"halfnote/tensor"
)

// SpectralNormalization computes a weight as Original divided by an estimate of its largest
// singular value, which each call in training improves by the power method: T. Miyato and
// others, "Spectral Normalization for Generative Adversarial Networks" (2018). It is torch's
// _SpectralNorm.
type SpectralNormalization struct {
	Original *tensor.Tensor
	Vectors  SingularVectors `nn:"0"`

	dim, iterations int
	eps             float64
}

// SingularVectors are estimates of the unit singular vectors of the largest singular value;
// nil for a 1-D weight.
type SingularVectors struct {
	TrainingMode
	U *tensor.Tensor `nn:"_u"` // (rows)
	V *tensor.Tensor `nn:"_v"` // (columns)
}

// NPowerIterations is the number of power iterations of SpectralNorm at each call in
// training; 1 by default. It is n_power_iterations.
func NPowerIterations(n int) Option {
	return Option{"NPowerIterations", func(c *config) { c.iterations = n }}
}

// SpectralNorm returns m with a weight divided by its largest singular value, or by its
// length if it is 1-D. A weight of more than two dimensions is a matrix with a row for each
// index of Dim. It takes TensorName, "weight" by default, NPowerIterations, 1 by default, Eps,
// the smallest length to divide by, 1e-12 by default, and Dim, 0 by default and 1 for
// transposed convolutions. The initial vectors are the same as torch's. The parameter is
// "parametrizations.weight.original", the vectors are "parametrizations.weight.0._u" and
// "parametrizations.weight.0._v". [RemoveParametrizations] undoes it. It is
// torch.nn.utils.parametrizations.spectral_norm.
func SpectralNorm(m Module, options ...Option) *Parametrized {
	const op = "spectral_norm"
	start := config{tensorName: "weight", iterations: 1}
	start.eps = 1e-12
	inner := m
	if p, ok := m.(*Parametrized); ok {
		inner = p.Module
	}
	switch inner.(type) {
	case *ConvTranspose1d, *ConvTranspose2d, *ConvTranspose3d:
		start.dim = 1
	}
	c := configure(op, start, options, "TensorName", "NPowerIterations", "Eps", "Dim")
	if c.iterations < 1 {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("NPowerIterations is %d; want at least 1", c.iterations)})
	}
	return parametrize(op, m, c.tensorName, func(weight *tensor.Tensor) Parametrization {
		s := &SpectralNormalization{Original: weight, dim: dimension(op, weight, c.dim), iterations: c.iterations, eps: c.eps}
		if weight.Dim() > 1 {
			tensor.NoGrad(func() { s.begin() })
		}
		return s
	})
}

// begin draws the vectors and takes as many steps as torch does: 15, plus those of the call
// that checks a parametrization.
func (s *SpectralNormalization) begin() {
	matrix := s.matrix().Detach()
	draw := func(n int) *tensor.Tensor {
		return s.unit(tensor.Randn(n).To(matrix.DType()).ToDevice(matrix.Device()))
	}
	s.Vectors.U = draw(matrix.Size(0))
	s.Vectors.V = draw(matrix.Size(1))
	s.step(matrix, 15+s.iterations)
}

// matrix returns the weight with a row for each index of dimension dim.
func (s *SpectralNormalization) matrix() *tensor.Tensor {
	order := []int{s.dim}
	for d := range s.Original.Dim() {
		if d != s.dim {
			order = append(order, d)
		}
	}
	w := s.Original
	if !slices.IsSorted(order) {
		w = w.Permute(order...)
	}
	return w.Flatten(1)
}

// unit returns x divided by its length or by eps, whichever is larger.
func (s *SpectralNormalization) unit(x *tensor.Tensor) *tensor.Tensor {
	return x.Div(x.Norm().ClampMin(s.eps))
}

// step runs power iterations on the vectors.
func (s *SpectralNormalization) step(matrix *tensor.Tensor, times int) {
	for range times {
		s.Vectors.U.Assign(s.unit(matrix.MV(s.Vectors.V)))
		s.Vectors.V.Assign(s.unit(matrix.T().MV(s.Vectors.U)))
	}
}

func (s *SpectralNormalization) compute() *tensor.Tensor {
	if s.Original.Dim() == 1 {
		return s.unit(s.Original)
	}
	matrix := s.matrix()
	if s.Vectors.Training() {
		tensor.NoGrad(func() { s.step(matrix.Detach(), s.iterations) })
	}
	// The next call changes the vectors, which this call's derivative reads.
	u, v := s.Vectors.U.Clone(), s.Vectors.V.Clone()
	return s.Original.Div(u.VDot(matrix.MV(v)))
}

func (s *SpectralNormalization) original() *tensor.Tensor { return s.Original }

// String returns what torch prints.
func (s *SpectralNormalization) String() string { return "_SpectralNorm()" }
