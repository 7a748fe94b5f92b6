package tensor

import "slices"

// embedding looks up rows of a weight.
type embedding struct {
	padding int // row without a gradient; -1 if there is none
}

func (embedding) Info() Info {
	return info("embedding", "torch.nn.functional.embedding", SavesIndices)
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

// EmbeddingOptions are the options of Embedding.
type EmbeddingOptions struct {
	// Padded enables padding: the row PaddingIdx gets no gradient. It is
	// padding_idx=PaddingIdx. A negative PaddingIdx counts from the end.
	Padded     bool
	PaddingIdx int
	// MaxNorm, if it is not 0, limits the norm of the rows that are looked up: longer
	// rows are scaled down in place. NormType is the order of the norm; 0 stands for
	// 2.
	MaxNorm, NormType float64
}

// Embedding returns the rows of weight (n, d) at the indices t, integers of any shape (…), as
// (…, d). Autocast does not apply: a float32 weight gives float32. It is
// torch.nn.functional.embedding.
func Embedding(t, weight *Tensor, o EmbeddingOptions) *Tensor {
	given("embedding", t, weight)
	if len(weight.shape) != 2 {
		fail("embedding", []*Tensor{t, weight}, "weight is %d-D; want (n, d), one row for each index", len(weight.shape))
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
		fail(op, []*Tensor{weight}, "PaddingIdx %d is out of range; want %d to %d", o.PaddingIdx, -n, n-1)
	}
	return (o.PaddingIdx + n) % n
}

// limitRows scales rows down in place to o.MaxNorm, like
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
		factor := norms.AddScalar(1e-7).Reciprocal().MulScalar(o.MaxNorm)
		over := norms.AddScalar(-o.MaxNorm).Step()
		factor = over.Where(factor, OnesLike(factor))
		t.Set(rows.Mul(factor.To(rows.dtype)), which)
	})
}

// OneHot returns an int64 row for each integer of t, of size classes: 1 at the integer's index
// and 0 elsewhere. With classes -1 the size is the largest integer plus 1. It is
// torch.nn.functional.one_hot.
func (t *Tensor) OneHot(classes int) *Tensor {
	t.given("one_hot")
	if classes == -1 {
		classes = 1
		if t.Numel() > 0 {
			classes += int(slices.Max(t.Int64s()))
		}
	}
	if classes < 1 {
		fail("one_hot", []*Tensor{t}, "classes is %d; want at least 1, or -1 for the largest integer plus 1", classes)
	}
	p := positions("one_hot", t, t, 0, classes, false).Unsqueeze(-1)
	zero := constant(p, Int64, 0).expandTo(append(t.Shape(), classes))
	return apply(scatter{len(t.shape)}, zero, constant(p, Int64, 1).expandTo(p.shape), p)
}

// bagged reduces rows by bags. Its operands are the rows, the bag number of each row and, if
// there are weights, a factor for each row.
type bagged struct {
	bags int
	mode string
}

func (bagged) Info() Info {
	return info("embedding_bag", "torch.nn.functional.embedding_bag", SavesAll)
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
	index := bag.Unsqueeze(1).Expand(rows.shape...)
	if b.mode != "max" || rows.shape[0] == 0 {
		return zero.ScatterReduce(0, index, rows, map[string]string{"sum": "sum", "mean": "mean", "max": "amax"}[b.mode], ScatterReduceOptions{ExcludeSelf: true})
	}
	// The first of equal rows, whose gradient is the bag's.
	n := rows.shape[0]
	values := rows.Detach()
	largest := zero.ScatterReduce(0, index, values, "amax", ScatterReduceOptions{ExcludeSelf: true}).IndexSelect(0, bag)
	beyond := constant(bag, Int64, float64(n)).expandTo(zero.shape)
	each := ArangeAs(Int64, 0, float64(n), 1).ToDevice(rows.Device()).Unsqueeze(1).Expand(rows.shape...)
	each = values.Eq(largest).Or(values.IsNaN()).Where(each, constant(bag, Int64, float64(n)))
	first := beyond.Clone().ScatterReduce(0, index, each, "amin", ScatterReduceOptions{})
	empty := first.EqScalar(float64(n))
	return empty.Where(zero, rows.Gather(0, first.ClampMax(float64(n-1))))
}

// EmbeddingBagOptions are the options of EmbeddingBag.
type EmbeddingBagOptions struct {
	// Mode is "sum", "mean" or "max"; "" stands for "mean".
	Mode string
	// Offsets is the start of each bag in a vector of indices; the first is 0. An empty
	// bag gives 0. With nil Offsets each row of a matrix is a bag.
	Offsets *Tensor
	// Weights is a factor for each index, for mode "sum": per_sample_weights.
	Weights *Tensor
	// Padded enables padding: bags leave the index PaddingIdx out.
	Padded     bool
	PaddingIdx int
}

// EmbeddingBag returns the sum, mean or maximum of the rows of weight (n, d) at the indices of
// each bag of t, as (bags, d). It is torch.nn.functional.embedding_bag.
func EmbeddingBag(t, weight *Tensor, o EmbeddingBagOptions) *Tensor {
	given("embedding_bag", t, weight)
	if len(weight.shape) != 2 {
		fail("embedding_bag", []*Tensor{t, weight}, "weight is %d-D; want (num_embeddings, embedding_dim)", len(weight.shape))
	}
	if o.Mode == "" {
		o.Mode = "mean"
	}
	switch {
	case o.Mode != "sum" && o.Mode != "mean" && o.Mode != "max":
		fail("embedding_bag", []*Tensor{t, weight}, "unknown mode %q; want sum, mean or max", o.Mode)
	case o.Offsets == nil && len(t.shape) != 2:
		fail("embedding_bag", []*Tensor{t, weight}, "indices are %d-D without Offsets; want a row for each bag, or a vector and Offsets", len(t.shape))
	case o.Offsets != nil && (len(t.shape) != 1 || len(o.Offsets.shape) != 1):
		fail("embedding_bag", []*Tensor{t, weight, o.Offsets}, "indices and Offsets do not match; want two vectors")
	case o.Weights != nil && (o.Mode != "sum" || !slices.Equal(o.Weights.shape, t.shape)):
		fail("embedding_bag", []*Tensor{t, weight, o.Weights}, "Weights do not fit mode %s and the indices; want mode sum, and a weight for each index", o.Mode)
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
	in[0] = Embedding(ids, weight, e)
	return apply(bagged{bags, o.Mode}, in...)
}

// bags returns the bag number of each element, and the number of bags.
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
			fail("embedding_bag", []*Tensor{t, o.Offsets}, "Offsets are %v; want 0, then ascending numbers up to %d", starts, n)
		}
		for i := start; i < end; i++ {
			pollAt(int(i))
			of[i] = int64(b)
		}
	}
	return FromInt64s(of).ToDevice(t.Device()), len(starts)
}
