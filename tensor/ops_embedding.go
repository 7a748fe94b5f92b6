package tensor

import "slices"

// embedding looks up rows of a weight.
type embedding struct {
	padding int // whose row gets no gradient, -1 if there is none
}

func (embedding) Info() Info {
	return Info{"embedding", "torch.nn.functional.embedding", Keep, ReadsIndices}
}
func (embedding) Forward(in []*Tensor) *Tensor {
	weight, ids := in[0], in[1]
	y := indexSelect{0}.Forward([]*Tensor{weight, reshape{shape: []int{ids.Numel()}}.Forward([]*Tensor{ids})})
	return shaped(y, append(slices.Clone(ids.shape), weight.shape[1]))
}
func (e embedding) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	weight, ids := in[0], in[1]
	if e.padding >= 0 {
		padding := ids.Eq(constant(ids, Int64, float64(e.padding)))
		dy = apply(maskedFill{0}, dy, padding.Unsqueeze(-1))
	}
	n := ids.Numel()
	return []*Tensor{apply(indexAdd{0, 1}, zerosOf(dy, weight.shape), dy.Reshape(n, weight.shape[1]), ids.Reshape(n)), nil}
}

// EmbeddingOptions are what Embedding may be told.
type EmbeddingOptions struct {
	// Padded says that PaddingIdx is a number for padding, whose row gets no
	// gradient: padding_idx=PaddingIdx. A negative one counts from the end.
	Padded     bool
	PaddingIdx int
	// MaxNorm, if it is not 0, is the largest norm that a row may have: rows that
	// are looked up are scaled down to it, in place. NormType is the norm's p, 0
	// for 2.
	MaxNorm, NormType float64
}

// Embedding returns the rows of weight (n, d) that t, integers of any shape (…), names, as
// (…, d). Autocast leaves it alone: a float32 weight gives float32. It is
// torch.nn.functional.embedding.
func (t *Tensor) Embedding(weight *Tensor, o EmbeddingOptions) *Tensor {
	given("embedding", t, weight)
	if len(weight.shape) != 2 {
		fail("embedding", []*Tensor{t, weight}, "the second is the weight; expected a row for each number, (n, d)")
	}
	ids := positions("embedding", weight, t, 0, weight.shape[0], false)
	if o.MaxNorm != 0 {
		weight.limitRows(ids, o)
	}
	return apply(embedding{o.padding("embedding", weight)}, weight, ids)
}

func (o EmbeddingOptions) padding(op string, weight *Tensor) int {
	if !o.Padded {
		return -1
	}
	n := weight.shape[0]
	if o.PaddingIdx < -n || o.PaddingIdx >= n {
		fail(op, []*Tensor{weight}, "padding index %d is out of range; expected %d to %d", o.PaddingIdx, -n, n-1)
	}
	return (o.PaddingIdx + n) % n
}

// limitRows scales rows down to the norm that they may have, as
// torch.embedding_renorm_.
func (t *Tensor) limitRows(ids *Tensor, o EmbeddingOptions) {
	p := o.NormType
	if p == 0 {
		p = 2
	}
	NoGrad(func() {
		which, _, _ := ids.Unique()
		rows := t.Detach().IndexSelect(0, which)
		norms := rows.Float().Abs().Pow(p).KeepDim().Sum(1).Pow(1 / p)
		factor := norms.AddScalar(1e-7).Reciprocal().Scale(o.MaxNorm)
		over := norms.AddScalar(-o.MaxNorm).Step()
		factor = over.Where(factor, OnesLike(factor))
		t.Set(rows.Mul(factor.To(rows.dtype)), which)
	})
}

// OneHot returns for each integer of t a row of classes numbers, int64, of which its own
// is 1 and the others are 0; for -1 classes as many as the largest integer needs. It
// is torch.nn.functional.one_hot.
func (t *Tensor) OneHot(classes int) *Tensor {
	t.given("one_hot")
	if classes == -1 {
		classes = 1
		if t.Numel() > 0 {
			classes += int(slices.Max(t.Int64s()))
		}
	}
	if classes < 1 {
		fail("one_hot", []*Tensor{t}, "%d classes; expected 1 or more, or -1 for as many as there are", classes)
	}
	p := positions("one_hot", t, t, 0, classes, false).Unsqueeze(-1)
	zero := constant(p, Int64, 0).expandTo(append(t.Shape(), classes))
	return apply(scatter{len(t.shape)}, zero, constant(p, Int64, 1).expandTo(p.shape), p)
}

// bagged reduces rows by bags: its operands are the rows, the number of each one's bag
// and, if they are weighted, a factor for each.
type bagged struct {
	bags int
	mode string
}

func (bagged) Info() Info {
	return Info{"embedding_bag", "torch.nn.functional.embedding_bag", Keep, ReadsAll}
}
func (b bagged) Forward(in []*Tensor) *Tensor { return compose(b.of, in) }
func (b bagged) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor {
	return derive(b.of, dy, in)
}

func (b bagged) of(in []*Tensor) *Tensor {
	rows, bag := in[0], in[1]
	if len(in) > 2 {
		rows = rows.Mul(in[2].Unsqueeze(1))
	}
	zero := zerosOf(rows, []int{b.bags, rows.shape[1]})
	how := map[string]string{"sum": "sum", "mean": "mean", "max": "amax"}[b.mode]
	return zero.ScatterReduce(0, bag.Unsqueeze(1).Expand(rows.shape...), rows, how, ScatterReduceOptions{ExcludeSelf: true})
}

// EmbeddingBagOptions are what EmbeddingBag may be told.
type EmbeddingBagOptions struct {
	// Mode is "sum", "mean" or "max"; "" stands for "mean".
	Mode string
	// Offsets says where each bag begins in a vector of numbers, the first at 0;
	// a bag may be empty, and gives 0. nil takes the rows of a matrix as bags.
	Offsets *Tensor
	// Weights has a factor for each number, for sums: per_sample_weights.
	Weights *Tensor
	// Padded says that PaddingIdx is a number for padding, which bags leave out.
	Padded     bool
	PaddingIdx int
}

// EmbeddingBag returns the sum, mean or maximum of the rows of weight (n, d) that each bag of
// t names, as (bags, d). It is torch.nn.functional.embedding_bag.
func (t *Tensor) EmbeddingBag(weight *Tensor, o EmbeddingBagOptions) *Tensor {
	given("embedding_bag", t, weight)
	if o.Mode == "" {
		o.Mode = "mean"
	}
	switch {
	case o.Mode != "sum" && o.Mode != "mean" && o.Mode != "max":
		fail("embedding_bag", []*Tensor{t, weight}, "there is no mode %q; expected sum, mean or max", o.Mode)
	case o.Offsets == nil && len(t.shape) != 2:
		fail("embedding_bag", []*Tensor{t, weight}, "the first has the numbers; expected a row for each bag, or a vector and Offsets")
	case o.Offsets != nil && (len(t.shape) != 1 || len(o.Offsets.shape) != 1):
		fail("embedding_bag", []*Tensor{t, weight, o.Offsets}, "with Offsets, the third, the numbers come in one vector; expected vectors of both")
	case o.Weights != nil && (o.Mode != "sum" || !slices.Equal(o.Weights.shape, t.shape)):
		fail("embedding_bag", []*Tensor{t, weight, o.Weights}, "mode %s with weights, the third; expected sum, and a weight for each number", o.Mode)
	}
	bag, bags := o.bags(t)
	ids := t.Ravel()
	in := []*Tensor{nil, bag}
	if o.Weights != nil {
		in = append(in, o.Weights.Ravel())
	}
	e := EmbeddingOptions{Padded: o.Padded, PaddingIdx: o.PaddingIdx}
	if o.Padded {
		padding := constant(ids, ids.dtype, float64(e.padding("embedding_bag", weight)))
		kept := FromInt64s(trueAt(ids.Ne(padding))).ToDevice(t.Device())
		ids = ids.IndexSelect(0, kept)
		for i := range in[1:] {
			in[1+i] = in[1+i].IndexSelect(0, kept)
		}
	}
	in[0] = ids.Embedding(weight, e)
	return apply(bagged{bags, o.Mode}, in...)
}

// bags returns the number of each element's bag, and how many there are.
func (o EmbeddingBagOptions) bags(t *Tensor) (*Tensor, int) {
	n := t.Numel()
	of := hostSlice[int64]("embedding_bag", n)
	if o.Offsets == nil {
		for i := range of {
			pollAt(i)
			of[i] = int64(i / t.shape[1])
		}
		return FromInt64s(of).ToDevice(t.Device()), t.shape[0]
	}
	starts := o.Offsets.Int64s()
	for b, start := range starts {
		end := int64(n)
		if b+1 < len(starts) {
			end = starts[b+1]
		}
		if start < 0 || end > int64(n) || start > end || b == 0 && start != 0 {
			fail("embedding_bag", []*Tensor{t, o.Offsets}, "offsets %v; expected numbers from 0 up to %d, in order", starts, n)
		}
		for i := start; i < end; i++ {
			pollAt(int(i))
			of[i] = int64(b)
		}
	}
	return FromInt64s(of).ToDevice(t.Device()), len(starts)
}
