package nn

import (
	"halfnote/internal/plumbing"
	"halfnote/tensor"
)

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

// DistanceFunction is the distance of a triplet loss: a function of two tensors (n, …) to (n); the
// pairwise distance by default. It is distance_function.
func DistanceFunction(f func(x, y *tensor.Tensor) *tensor.Tensor) Option {
	return Option{"DistanceFunction", func(c *config) { c.distance = f }}
}

// TripletMarginWithDistanceLoss returns the mean of max(0, d(x, positive) - d(x, negative) +
// Margin) for a distance d. It takes DistanceFunction, Margin, 1 by default, DistanceSwap and Reduction. It
// is torch.nn.functional.triplet_margin_with_distance_loss.
func TripletMarginWithDistanceLoss(x, positive, negative *tensor.Tensor, options ...Option) *tensor.Tensor {
	return NewTripletMarginWithDistanceLoss(options...).Forward(x, positive, negative)
}

// NewTripletMarginWithDistanceLoss returns TripletMarginWithDistanceLoss as a module.
// Forward takes anchor, positive and negative. It is
// torch.nn.TripletMarginWithDistanceLoss.
func NewTripletMarginWithDistanceLoss(options ...Option) *Loss {
	return newLoss("TripletMarginWithDistanceLoss", config{margin: 1}, options, "DistanceFunction Margin DistanceSwap", func(in []*tensor.Tensor, c config) *tensor.Tensor {
		third("triplet_margin_with_distance_loss", in, "negative")
		distance := c.distance
		if distance == nil {
			distance = NewPairwiseDistance().Forward
		}
		near, far := distance(in[0], in[1]), distance(in[0], in[2])
		if c.loss.Swap {
			far = far.Minimum(distance(in[1], in[2]))
		}
		loss := near.Sub(far).AddScalar(c.margin).ClampMin(0)
		switch c.loss.Reduction {
		case plumbing.ReduceNone:
			return loss
		case plumbing.ReduceSum:
			return loss.Sum()
		}
		return loss.Mean()
	})
}
