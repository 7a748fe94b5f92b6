package tensor

import (
	"math"
	"slices"

	"halfnote/internal/plumbing"
	"halfnote/tensor/driver"
)

// attentionOptions are the options of attention.
type attentionOptions = plumbing.AttentionOptions[*Tensor]

// attention is softmax(q kᵀ scale + mask) v. Its operands are q, k, v, then the mask, if
// any, and the dropout mask, unless the backend draws it. Operands of bfloat16 are multiplied as
// such: their float32 scores are scaled after the first product, and the weights of the values are
// rounded to bfloat16 before the second.
type attention struct {
	scale, dropout float64
	masked, causal bool
	first          int      // number of the first query, for the causal mask
	shared         bool     // keys and values have fewer heads than the queries
	drawn          *maskKey // key from which the backend draws the dropout mask
	kept           *keptSums
}

func (a attention) Info() Info {
	reads := SavesOperands
	if a.kept != nil && a.kept.Load() != nil {
		reads = SavesAll
	}
	return info("scaled_dot_product_attention", "torch.nn.functional.scaled_dot_product_attention", reads)
}
func (attention) products(in []*Tensor, y *Tensor) int {
	q, k := in[0].shape[len(in[0].shape)-1], in[1].shape[len(in[1].shape)-2]
	rows := y.Numel() / max(y.shape[len(y.shape)-1], 1)
	return y.Numel()*k + rows*k*q
}
func (a attention) Forward(in []*Tensor) *Tensor {
	sameDType("scaled_dot_product_attention", in[:3])
	if a.fused(in) {
		return a.atOnce(in)
	}
	narrowed := 0
	if in[0].dtype == BFloat16 && in[0].mem.backend.Offers(driver.Matmul, Float32, BFloat16, BFloat16) {
		narrowed = 3
	}
	y := composeFrom(narrowed, func(x []*Tensor) *Tensor { return a.inPieces(a.share(a.withMask(x))) }, in)
	return narrow(y, in[0].dtype) // a mask may be wider
}
func (a attention) VJP(dy, y *Tensor, in []*Tensor) []*Tensor {
	if IsGradEnabled() || a.left(y) == nil || a.masked && in[3].RequiresGrad() {
		return a.composed(dy, in)
	}
	return a.gradients(dy, y, in)
}

// composed returns the gradients, computed by other operations.
func (a attention) composed(dy *Tensor, in []*Tensor) []*Tensor {
	x := make([]*Tensor, len(in))
	for i, t := range in {
		x[i] = t.To(wideOf(t.dtype))
		if t.dtype == Bool {
			x[i] = t
		}
	}
	dy = dy.To(x[0].dtype)
	x = a.share(a.withMask(x))
	out := make([]*Tensor, len(in))
	if !IsGradEnabled() && a.inBlocks(x) && !(a.masked && in[3].RequiresGrad()) {
		grads := a.gradsInPieces(dy, x)
		out[0], out[1], out[2] = grads[0], a.unshare(grads[1], in[1]), a.unshare(grads[2], in[2])
		return out
	}
	p := a.weights(x)
	if in[2].RequiresGrad() {
		out[2] = a.unshare(a.dropped(p, x).Transpose(-1, -2).MatMul(dy), in[2])
	}
	dp := a.dropped(dy.MatMul(x[2].Transpose(-1, -2)), x).sumTo(p)
	ds := apply(softmaxGrad{len(p.shape) - 1}, dp, p)
	if in[0].RequiresGrad() {
		out[0] = ds.MatMul(x[1]).MulScalar(a.scale).sumTo(in[0])
	}
	if in[1].RequiresGrad() {
		out[1] = a.unshare(ds.Transpose(-1, -2).MatMul(x[0]).MulScalar(a.scale), in[1])
	}
	if a.masked && in[3].RequiresGrad() {
		out[3] = ds.sumTo(in[3])
	}
	return out
}

// weights returns the softmax of the scores, with 0 in rows whose keys are all masked.
func (a attention) weights(x []*Tensor) *Tensor {
	return a.normalized(a.maskedScores(x[0].MulScalar(a.scale).MatMul(x[1].Transpose(-1, -2)), x))
}

// normalized returns the softmax of the masked scores s.
func (a attention) normalized(s *Tensor) *Tensor {
	if !a.masked || s.Numel() == 0 {
		return s.Softmax(-1)
	}
	last := len(s.shape) - 1
	zero := constant(s, s.dtype, 0)
	none := elementwiseTo(Bool, driver.Equal, reduce(driver.ReduceMax, s.Detach(), []int{last}, s.dtype), constant(s, s.dtype, math.Inf(-1)))
	return none.Where(zero, none.Where(zero, s).Softmax(-1))
}

// maskedScores returns the scores s with the mask applied, if any.
func (a attention) maskedScores(s *Tensor, x []*Tensor) *Tensor {
	switch {
	case a.masked && x[3].dtype == Bool:
		return x[3].Where(s, constant(s, s.dtype, math.Inf(-1)))
	case a.masked:
		return s.Add(x[3])
	case a.causal:
		return causalMask(s, a.first).Where(s, constant(s, s.dtype, math.Inf(-1)))
	}
	return s
}

// withMask returns x with the dropout mask, if the backend draws it.
func (a attention) withMask(x []*Tensor) []*Tensor {
	if a.drawn == nil {
		return x
	}
	return append(slices.Clone(x), a.drawn.mask(x[0].mem.backend, 1-a.dropout, a.scores(x)))
}

// dropped returns p with dropout applied, if any.
func (a attention) dropped(p *Tensor, x []*Tensor) *Tensor {
	if a.dropout == 0 {
		return p
	}
	scaled := 0.0
	if a.dropout < 1 {
		scaled = 1 / (1 - a.dropout)
	}
	return apply(dropout{scaled}, p, x[len(x)-1])
}

// causalMask returns a mask for the scores s that is true where query first+i may attend to
// key j: j <= first+i.
func causalMask(s *Tensor, first int) *Tensor {
	position := func(first, n int) *Tensor {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(first + i)
		}
		return setContents(newTensor(s.mem.backend, Float32, []int{n}), x)
	}
	n := len(s.shape)
	return elementwiseTo(Bool, driver.LessEqual, position(0, s.shape[n-1]), column(position(first, s.shape[n-2])))
}

// elementwiseTo returns a comparison of x and y in dtype d.
func elementwiseTo(d DType, c driver.Code, x, y *Tensor) *Tensor {
	dst := newTensor(x.mem.backend, d, broadcast(c.String(), []*Tensor{x, y}))
	runBroadcast(driver.Kernel{Code: c}, dst, x, y)
	return dst
}

// ScaledDotProductAttention is nn.ScaledDotProductAttention.
func (functional) ScaledDotProductAttention(q, k, v *Tensor, o attentionOptions) *Tensor {
	const op = "scaled_dot_product_attention"
	given(op, q, k, v)
	in := []*Tensor{q, k, v}
	n := len(q.shape)
	if n < 2 || len(k.shape) < 2 || len(v.shape) < 2 || q.shape[n-1] != k.shape[len(k.shape)-1] || k.shape[len(k.shape)-2] != v.shape[len(v.shape)-2] {
		fail(op, in, "the shapes do not match; want queries (…, L, E), keys (…, S, E) and values (…, S, V)")
	}
	if o.EnableGQA {
		sharedHeads(op, q, k)
		sharedHeads(op, q, v)
	}
	if !(o.DropoutP >= 0 && o.DropoutP <= 1) {
		fail(op, in, "DropoutP is %v; want 0 to 1", o.DropoutP)
	}
	a := attention{scale: o.Scale, dropout: o.DropoutP, causal: o.IsCausal, shared: o.EnableGQA, kept: new(keptSums)}
	if a.scale == 0 {
		a.scale = 1 / math.Sqrt(float64(q.shape[n-1]))
	}
	leading := []int{}
	for i, t := range in {
		var ok bool
		shape := slices.Clone(t.shape[:len(t.shape)-2])
		if i > 0 && o.EnableGQA {
			shape[len(shape)-1] = q.shape[n-3]
		}
		if leading, ok = broadcastShapes(leading, shape); !ok {
			fail(op, in, "the leading dimensions do not broadcast; want queries (…, L, E), keys (…, S, E) and values (…, S, V)")
		}
	}
	scores := append(slices.Clone(leading), q.shape[n-2], k.shape[len(k.shape)-2])
	if m := o.Mask; m != nil {
		in, a.masked = append(in, m), true
		switch got, ok := broadcastShapes(scores, m.shape); {
		case o.IsCausal:
			fail(op, in, "both Mask and IsCausal are set; want at most one of them")
		case !ok || !slices.Equal(got, scores):
			fail(op, in, "cannot broadcast Mask to the scores' shape %s", shapeString(scores))
		case m.dtype != Bool && !m.dtype.IsFloat():
			failDType(op, in, "Mask has dtype %v; want bool or a floating-point dtype", m.dtype)
		}
	}
	if o.DropoutP > 0 {
		if b := q.mem.backend; b.Offers(driver.BernoulliBits, Int32) {
			key := generator.key()
			a.drawn = &key
		} else {
			in = append(in, generator.maskOn(b, 1-o.DropoutP, scores))
		}
	}
	return apply(a, in...)
}

// sharedHeads panics unless the number of q's heads is a multiple of the number of t's.
func sharedHeads(op string, q, t *Tensor) {
	n, m := len(q.shape), len(t.shape)
	if n < 3 || m < 3 || t.shape[m-3] == 0 || q.shape[n-3]%t.shape[m-3] != 0 {
		fail(op, []*Tensor{q, t}, "the heads cannot be shared; want the queries' number of heads (third dimension from the end) to be a multiple of that of keys and values")
	}
}

// share repeats the heads of keys and values to match the queries; unshare sums their
// gradients.
func (a attention) share(x []*Tensor) []*Tensor {
	if !a.shared {
		return x
	}
	x = slices.Clone(x)
	for i, t := range x[1:3] {
		m := len(t.shape)
		merged := slices.Clone(t.shape)
		merged[m-3] = x[0].shape[len(x[0].shape)-3]
		shape := slices.Insert(slices.Clone(t.shape), m-2, merged[m-3]/t.shape[m-3])
		x[1+i] = t.Unsqueeze(m - 2).expandTo(shape).Reshape(merged...)
	}
	return x
}

func (a attention) unshare(g, x *Tensor) *Tensor {
	if a.shared {
		m, n := len(x.shape), len(g.shape)
		times := g.shape[n-3] / x.shape[m-3]
		shape := slices.Clone(g.shape)
		shape[n-3] /= times
		g = g.Reshape(slices.Insert(shape, n-2, times)...).Sum(n - 2)
	}
	return g.sumTo(x)
}
