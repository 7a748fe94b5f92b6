package tensor

import (
	"cmp"
	"math"
	"slices"
)

// Losses of margins between numbers or distances.

type marginRankingLoss struct {
	Reduction
	margin float64
}

func (marginRankingLoss) Info() Info {
	return info("margin_ranking_loss", "torch.nn.functional.margin_ranking_loss", SavesOperands)
}
func (marginRankingLoss) promotes() {}
func (l marginRankingLoss) f(in []*Tensor) *Tensor {
	return l.of(in[2].Neg().Mul(in[0].Sub(in[1])).AddScalar(l.margin).ReLU())
}
func (l marginRankingLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l marginRankingLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// MarginRankingLoss returns the mean of max(0, -target (t - other) + margin), where target is
// 1 if t should be larger and -1 if other should be. All have the same shape; torch's default
// margin is 0. It computes in float32 and rounds once. It is
// torch.nn.functional.margin_ranking_loss.
func (t *Tensor) MarginRankingLoss(other, target *Tensor, margin float64, o LossOptions) *Tensor {
	const op = "margin_ranking_loss"
	sameShape(op, t, other)
	sameShape(op, t, target)
	return apply(marginRankingLoss{o.elements(op), margin}, t, other, target)
}

type hingeEmbeddingLoss struct {
	Reduction
	margin float64
}

func (hingeEmbeddingLoss) Info() Info {
	return info("hinge_embedding_loss", "torch.nn.functional.hinge_embedding_loss", SavesOperands)
}
func (hingeEmbeddingLoss) promotes() {}
func (l hingeEmbeddingLoss) f(in []*Tensor) *Tensor {
	x := in[0]
	zero := constant(x, x.dtype, 0)
	far := in[1].EqScalar(1).Where(zero, x.Neg().AddScalar(l.margin).ReLU())
	near := in[1].EqScalar(-1).Where(zero, x)
	return l.of(far.Add(near))
}
func (l hingeEmbeddingLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l hingeEmbeddingLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// HingeEmbeddingLoss returns the mean of t where target is 1 and of max(0, margin - t) where
// it is -1, for distances t and targets of the same shape. torch's default margin is 1. It
// computes in float32 and rounds once. It is torch.nn.functional.hinge_embedding_loss.
func (t *Tensor) HingeEmbeddingLoss(target *Tensor, margin float64, o LossOptions) *Tensor {
	const op = "hinge_embedding_loss"
	sameShape(op, t, target)
	return apply(hingeEmbeddingLoss{o.elements(op), margin}, t, target)
}

type cosineEmbeddingLoss struct {
	Reduction
	margin float64
}

func (cosineEmbeddingLoss) Info() Info {
	return info("cosine_embedding_loss", "torch.nn.functional.cosine_embedding_loss", SavesOperands)
}
func (cosineEmbeddingLoss) promotes() {}
func (l cosineEmbeddingLoss) f(in []*Tensor) *Tensor {
	dot := func(x, y *Tensor) *Tensor { return x.Mul(y).Sum(-1) }
	x, y := in[0], in[1]
	squares := dot(x, x).AddScalar(1e-12).Mul(dot(y, y).AddScalar(1e-12))
	cos := dot(x, y).Div(squares.Sqrt())
	zero := constant(cos, cos.dtype, 0)
	alike := in[2].EqScalar(1).Where(cos.Neg().AddScalar(1), zero)
	apart := in[2].EqScalar(-1).Where(cos.AddScalar(-l.margin).ReLU(), zero)
	return l.of(alike.Add(apart))
}
func (l cosineEmbeddingLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l cosineEmbeddingLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// CosineEmbeddingLoss returns the mean of 1 - cos where target is 1 and of max(0, cos - margin)
// where it is -1, where cos is the cosine of the angle between rows of t and other, (N, D) or
// (D), for targets (N) or (). torch's default margin is 0. It computes in float32 and rounds
// once. It is torch.nn.functional.cosine_embedding_loss.
func (t *Tensor) CosineEmbeddingLoss(other, target *Tensor, margin float64, o LossOptions) *Tensor {
	const op = "cosine_embedding_loss"
	given(op, target)
	sameShape(op, t, other)
	if n := len(t.shape); n < 1 || n > 2 || !slices.Equal(target.shape, t.shape[:n-1]) {
		fail(op, []*Tensor{t, other, target}, "inputs and target do not match; expected inputs (N, D) with targets (N), or inputs (D) with a scalar target")
	}
	return apply(cosineEmbeddingLoss{o.elements(op), margin}, t, other, target)
}

type tripletMarginLoss struct {
	Reduction
	margin, p, eps float64
	swap           bool
}

func (tripletMarginLoss) Info() Info {
	return info("triplet_margin_loss", "torch.nn.functional.triplet_margin_loss", SavesOperands)
}
func (tripletMarginLoss) promotes() {}
func (l tripletMarginLoss) f(in []*Tensor) *Tensor {
	apart := func(x, y *Tensor) *Tensor { return x.Sub(y).AddScalar(l.eps).pNorm(l.p) }
	return l.of(tripletMargin(apart(in[0], in[1]), apart(in[0], in[2]), l.margin, l.swap, func() *Tensor { return apart(in[1], in[2]) }))
}
func (l tripletMarginLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l tripletMarginLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// tripletMargin is max(0, positive - negative + margin). If swap is set, negative is the
// smaller of negative and between.
func tripletMargin(positive, negative *Tensor, margin float64, swap bool, between func() *Tensor) *Tensor {
	if swap {
		negative = negative.Minimum(between())
	}
	return positive.Sub(negative).AddScalar(margin).ReLU()
}

// pNorm returns the norm of order p over the last dimension.
func (t *Tensor) pNorm(p float64) *Tensor {
	switch {
	case p == 2:
		return t.Norm(-1)
	case p == 1:
		return t.Abs().Sum(-1)
	case math.IsInf(p, 1):
		return t.Abs().Amax(-1)
	}
	return t.Abs().Pow(p).Sum(-1).Pow(1 / p)
}

// TripletMarginLoss returns the mean of max(0, d(t, positive) - d(t, negative) + margin),
// where d is the norm of order P, 2 by default, of the difference of rows plus Eps, 1e-6 by
// default. All are (N, D) or (D); torch's default margin is 1. With Swap it uses
// d(positive, negative) where that is smaller. It computes in float32 and rounds once. It is
// torch.nn.functional.triplet_margin_loss.
func (t *Tensor) TripletMarginLoss(positive, negative *Tensor, margin float64, o LossOptions) *Tensor {
	const op = "triplet_margin_loss"
	sameShape(op, t, positive)
	sameShape(op, t, negative)
	l := tripletMarginLoss{o.elements(op), margin, cmp.Or(o.P, 2), cmp.Or(o.Eps, 1e-6), o.Swap}
	if len(t.shape) == 0 || !(l.p > 0) || !(margin > 0) {
		fail(op, []*Tensor{t, positive, negative}, "margin is %v and P is %v; expected both above 0, and inputs (N, D) or (D)", margin, l.p)
	}
	return apply(l, t, positive, negative)
}

// TripletMarginWithDistanceLoss is TripletMarginLoss with the caller's distance function,
// which returns one number for each pair of rows. It is composed of other operations. It is
// torch.nn.functional.triplet_margin_with_distance_loss.
func (t *Tensor) TripletMarginWithDistanceLoss(positive, negative *Tensor, distance func(x, y *Tensor) *Tensor, margin float64, o LossOptions) *Tensor {
	given("triplet_margin_with_distance_loss", t, positive, negative)
	need("triplet_margin_with_distance_loss", "distance", distance != nil, "a function of two tensors")
	y := tripletMargin(distance(t, positive), distance(t, negative), margin, o.Swap, func() *Tensor { return distance(positive, negative) })
	return o.elements("triplet_margin_with_distance_loss").of(y)
}
