package tensor

import (
	"cmp"
	"math"
	"slices"
)

// Losses of margins between numbers or distances.

type marginRankingLoss struct {
	reduction
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

// marginRankingLoss is nn.MarginRankingLoss.
func (t *Tensor) marginRankingLoss(other, target *Tensor, margin float64, o lossOptions) *Tensor {
	const op = "margin_ranking_loss"
	sameShape(op, t, other)
	sameShape(op, t, target)
	return apply(marginRankingLoss{elements(o, op), margin}, t, other, target)
}

type hingeEmbeddingLoss struct {
	reduction
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

// hingeEmbeddingLoss is nn.HingeEmbeddingLoss.
func (t *Tensor) hingeEmbeddingLoss(target *Tensor, margin float64, o lossOptions) *Tensor {
	const op = "hinge_embedding_loss"
	sameShape(op, t, target)
	return apply(hingeEmbeddingLoss{elements(o, op), margin}, t, target)
}

type cosineEmbeddingLoss struct {
	reduction
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

// cosineEmbeddingLoss is nn.CosineEmbeddingLoss.
func (t *Tensor) cosineEmbeddingLoss(other, target *Tensor, margin float64, o lossOptions) *Tensor {
	const op = "cosine_embedding_loss"
	given(op, target)
	sameShape(op, t, other)
	if n := len(t.shape); n < 1 || n > 2 || !slices.Equal(target.shape, t.shape[:n-1]) {
		fail(op, []*Tensor{t, other, target}, "inputs and target do not match; want inputs (N, D) with targets (N), or inputs (D) with a scalar target")
	}
	return apply(cosineEmbeddingLoss{elements(o, op), margin}, t, other, target)
}

type tripletMarginLoss struct {
	reduction
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

// tripletMarginLoss is nn.TripletMarginLoss.
func (t *Tensor) tripletMarginLoss(positive, negative *Tensor, margin float64, o lossOptions) *Tensor {
	const op = "triplet_margin_loss"
	sameShape(op, t, positive)
	sameShape(op, t, negative)
	l := tripletMarginLoss{elements(o, op), margin, cmp.Or(o.P, 2), cmp.Or(o.Eps, 1e-6), o.Swap}
	if len(t.shape) == 0 || !(l.p > 0) || !(margin > 0) {
		fail(op, []*Tensor{t, positive, negative}, "margin is %v and P is %v; want both above 0, and inputs (N, D) or (D)", margin, l.p)
	}
	return apply(l, t, positive, negative)
}
