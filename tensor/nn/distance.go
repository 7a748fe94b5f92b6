package nn

import "halfnote/tensor"

// Pair is a function of two tensors as a module.
type Pair struct {
	name string
	f    func(x, y *tensor.Tensor) *tensor.Tensor
}

// Forward returns the function of x and y, which broadcast.
func (p *Pair) Forward(x, y *tensor.Tensor) *tensor.Tensor { return p.f(x, y) }

// String returns what torch prints.
func (p *Pair) String() string { return p.name + "()" }

// Dim is the dimension along which a function or a module works; each documents its
// default.
func Dim(d int) Option { return Option{"Dim", func(c *config) { c.dim = d }} }

// KeepDim keeps a reduced dimension with size 1; it is removed by default. It is
// keepdim=True.
func KeepDim() Option { return Option{"KeepDim", func(c *config) { c.keepDim = true }} }

// NewCosineSimilarity returns a module computing the cosine similarity of two tensors along a
// dimension, which is removed: see [tensor.Tensor.CosineSimilarity]. It takes Dim, 1 by
// default, and Eps, 1e-8 by default. It is torch.nn.CosineSimilarity.
func NewCosineSimilarity(options ...Option) *Pair {
	start := config{dim: 1}
	start.eps = 1e-8
	c := configure("cosine_similarity", start, options, "Dim", "Eps")
	return &Pair{"CosineSimilarity", func(x, y *tensor.Tensor) *tensor.Tensor {
		return x.CosineSimilarity(y, c.dim, c.eps)
	}}
}

// NewPairwiseDistance returns a module computing the norm of the difference of two tensors along the
// last dimension: see [tensor.Tensor.PairwiseDistance]. It takes P, 2 by default, Eps,
// 1e-6 by default, and KeepDim. It is torch.nn.PairwiseDistance.
func NewPairwiseDistance(options ...Option) *Pair {
	start := config{loss: lossOptions{P: 2}}
	start.eps = 1e-6
	c := configure("pairwise_distance", start, options, "P", "Eps", "KeepDim")
	return &Pair{"PairwiseDistance", func(x, y *tensor.Tensor) *tensor.Tensor {
		if c.keepDim {
			return x.KeepDim().PairwiseDistance(y, c.loss.P, c.eps)
		}
		return x.PairwiseDistance(y, c.loss.P, c.eps)
	}}
}
