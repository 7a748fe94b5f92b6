package tensor

import (
	"cmp"
	"math"
	"slices"

	"halfnote/tensor/driver"
)

// Losses of margins between numbers, distances or classes.

type marginRankingLoss struct {
	reduction
	margin float64
}

func (marginRankingLoss) Info() Info {
	return info("margin_ranking_loss", "torch.nn.functional.margin_ranking_loss", SavesOperands)
}
func (marginRankingLoss) promotes() {}
func (l marginRankingLoss) f(in []*Tensor) *Tensor {
	return l.of(in[2].Neg().Mul(in[0].Sub(in[1])).AddScalar(l.margin).ClampMin(0))
}
func (l marginRankingLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l marginRankingLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// MarginRankingLoss is nn.MarginRankingLoss.
func (functional) MarginRankingLoss(t, other, target *Tensor, margin float64, o lossOptions) *Tensor {
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
	far := in[1].EqScalar(1).Where(zero, x.Neg().AddScalar(l.margin).ClampMin(0))
	near := in[1].EqScalar(-1).Where(zero, x)
	return l.of(far.Add(near))
}
func (l hingeEmbeddingLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l hingeEmbeddingLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// HingeEmbeddingLoss is nn.HingeEmbeddingLoss.
func (functional) HingeEmbeddingLoss(t, target *Tensor, margin float64, o lossOptions) *Tensor {
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
	apart := in[2].EqScalar(-1).Where(cos.AddScalar(-l.margin).ClampMin(0), zero)
	return l.of(alike.Add(apart))
}
func (l cosineEmbeddingLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }
func (l cosineEmbeddingLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// CosineEmbeddingLoss is nn.CosineEmbeddingLoss.
func (functional) CosineEmbeddingLoss(t, other, target *Tensor, margin float64, o lossOptions) *Tensor {
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
	return positive.Sub(negative).AddScalar(margin).ClampMin(0)
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

// TripletMarginLoss is nn.TripletMarginLoss.
func (functional) TripletMarginLoss(t, positive, negative *Tensor, margin float64, o lossOptions) *Tensor {
	const op = "triplet_margin_loss"
	sameShape(op, t, positive)
	sameShape(op, t, negative)
	l := tripletMarginLoss{elements(o, op), margin, cmp.Or(o.P, 2), cmp.Or(o.Eps, 1e-6), o.Swap}
	if len(t.shape) == 0 || !(l.p > 0) || !(margin > 0) {
		fail(op, []*Tensor{t, positive, negative}, "margin is %v and P is %v; want both above 0, and inputs (N, D) or (D)", margin, l.p)
	}
	return apply(l, t, positive, negative)
}

// multiMarginLoss has as operands the input (N, C), classes (N, 1), a mask (N, C) of the other
// classes, and class weights (C) if any.
type multiMarginLoss struct {
	reduction
	p, margin float64
}

func (multiMarginLoss) Info() Info {
	return info("multi_margin_loss", "torch.nn.functional.multi_margin_loss", SavesOperands)
}

func (l multiMarginLoss) f(in []*Tensor) *Tensor {
	x, class := in[0], in[1]
	z := x.Sub(x.Gather(1, class)).AddScalar(l.margin).ClampMin(0)
	if l.p == 2 {
		z = z.Mul(z)
	}
	if len(in) > 3 {
		z = z.Mul(in[3].Unsqueeze(0).Expand(x.shape...).Gather(1, class))
	}
	return l.of(in[2].Where(z, constant(z, z.dtype, 0)).Mean(1))
}

func (l multiMarginLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }

func (l multiMarginLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(l.f, dy, in)
}

// MultiMarginLoss is nn.MultiMarginLoss.
func (functional) MultiMarginLoss(t, target *Tensor, margin float64, o lossOptions) *Tensor {
	const op = "multi_margin_loss"
	given(op, t, target)
	if len(t.shape) == 1 && len(target.shape) == 0 {
		return functional{}.MultiMarginLoss(t.Unsqueeze(0), target.Unsqueeze(0), margin, o).reshapedIf(o.Reduction == reduceNone, nil)
	}
	l := multiMarginLoss{elements(o, op), max(o.P, 1), margin}
	if l.p != 1 && l.p != 2 || len(t.shape) != 2 {
		fail(op, []*Tensor{t, target}, "P is %v; want 1 or 2, and an input (N, C) or (C)", o.P)
	}
	o.IgnoreIndex = []int{}
	c := classesOf(op, t, target, o)
	others := hostSlice[bool](op, t.Numel())
	for i := range others {
		pollAt(i)
		others[i] = i%t.shape[1] != int(c.index[i/t.shape[1]])
	}
	in := []*Tensor{t, FromInt64s(c.index, len(c.index), 1), FromBools(others, t.shape...)}
	if o.Weight != nil {
		in = append(in, o.Weight.Detach()) // checkClasses has checked its gradient
	}
	return apply(l, in...)
}

// multilabelMarginLoss has as operands the input (N, C), classes (N, K), a mask of the valid
// ones among them (N, K), and a mask of the classes that are not targets (N, C), for up to K
// targets a row.
type multilabelMarginLoss struct{ reduction }

func (multilabelMarginLoss) Info() Info {
	return info("multilabel_margin_loss", "torch.nn.functional.multilabel_margin_loss", SavesOperands)
}

func (l multilabelMarginLoss) f(in []*Tensor) *Tensor {
	sum := ZerosLike(in[0].Select(1, 0))
	l.each(in, func(_, z *Tensor) { sum = sum.Add(z.Sum(1)) })
	return l.of(sum.MulScalar(1 / float64(in[0].shape[1])))
}

// each calls body for one target of each row after another, so that pairs of classes are never
// in memory: with the target classes of all rows, (N, 1), and the amounts by which the classes
// that are not targets violate the margin, (N, C).
func (multilabelMarginLoss) each(in []*Tensor, body func(class, z *Tensor)) {
	x := in[0]
	zero := constant(x, x.dtype, 0)
	for i := range in[1].shape[1] {
		class := in[1].Slice(1, i, i+1)
		z := x.Sub(x.Gather(1, class)).AddScalar(1).ReLU()
		body(class, in[2].Slice(1, i, i+1).Mul(in[3]).Where(z, zero))
	}
}

func (l multilabelMarginLoss) Forward(in []*Tensor) *Tensor { return compose(l.f, in) }

// VJP multiplies the gradient of each row by a count for each class: the number of targets
// whose margin it violates, or for a target minus the number of classes that violate its margin.
func (l multilabelMarginLoss) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return widely(dy, in[0], func(dy, x *Tensor) *Tensor {
		var near *Tensor
		NoGrad(func() {
			near = ZerosLike(x)
			l.each(append([]*Tensor{x.Detach()}, in[1:]...), func(class, z *Tensor) {
				z = z.Step()
				near = near.Add(z).ScatterAdd(1, class, z.KeepDim().Sum(1).Neg())
			})
		})
		g := l.share(dy, 1/float64(x.shape[1]), x.shape[0])
		if l.reduction == reduceNone {
			g = g.Unsqueeze(1)
		}
		return near.Mul(g)
	})
}

// MultiLabelMarginLoss is nn.MultiLabelMarginLoss.
func (functional) MultiLabelMarginLoss(t, target *Tensor, o lossOptions) *Tensor {
	const op = "multilabel_margin_loss"
	given(op, t, target)
	if len(t.shape) == 1 && len(target.shape) == 1 {
		return functional{}.MultiLabelMarginLoss(t.Unsqueeze(0), target.Unsqueeze(0), o).reshapedIf(o.Reduction == reduceNone, nil)
	}
	sameShape(op, t, target)
	if target.dtype.IsFloat() || len(t.shape) != 2 {
		failDType(op, []*Tensor{t, target}, "input and target do not match; want an input (N, C) or (C), and int64 class indices of its shape")
	}
	n := t.shape[1]
	index := target.Int64s()
	counts, others := hostSlice[bool](op, len(index)), hostSlice[bool](op, len(index))
	most := 1 // largest number of targets in a row
	for row := 0; row < len(index); row += n {
		driver.Poll()
		for i := range n {
			others[row+i] = true
		}
		i := 0
		for ; i < n && index[row+i] != -1; i++ {
			c := index[row+i]
			if c < 0 || c >= int64(n) {
				fail(op, []*Tensor{t, target}, "the target at %v is %d; want a class from 0 to %d, or -1 after the last target", place(row+i, t.shape), c, n-1)
			}
			counts[row+i], others[row+int(c)] = true, false
		}
		most = max(most, i)
		clear(index[row+i : row+n])
	}
	narrowed := func(t *Tensor) *Tensor { return t.Slice(1, 0, min(most, n)) }
	return apply(multilabelMarginLoss{elements(o, op)}, t, narrowed(FromInt64s(index, t.shape...)), narrowed(FromBools(counts, t.shape...)), FromBools(others, t.shape...))
}
