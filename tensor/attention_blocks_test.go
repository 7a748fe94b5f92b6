package tensor

import (
	"slices"
	"testing"
)

// TestAttentionBlocks checks that several blocks of queries, or groups of heads, give the same bits as
// a single block.
func TestAttentionBlocks(t *testing.T) {
	const keys = 1000
	g := NewGenerator(3)
	for _, c := range []struct {
		name    string
		queries int // 1100 are computed in blocks, 200 in groups of heads
		heads   int // of keys and values
		dtype   DType
		o       attentionOptions
	}{
		{"plain", 1100, 2, Float32, attentionOptions{}},
		{"causal", 1100, 2, Float32, attentionOptions{IsCausal: true, Scale: 0.3}},
		{"mask", 1100, 2, Float32, attentionOptions{Mask: g.mask(0.7, []int{1100, keys})}},
		{"added mask", 1100, 2, BFloat16, attentionOptions{Mask: g.Randn(2, 1, keys)}},
		{"dropout", 1100, 2, Float32, attentionOptions{DropoutP: 0.2, IsCausal: true}},
		{"shared heads", 1100, 1, Float32, attentionOptions{EnableGQA: true}},
		{"groups", 200, 2, BFloat16, attentionOptions{}},
		{"groups, mask", 200, 2, Float32, attentionOptions{Mask: g.mask(0.7, []int{2, 1, keys})}},
		{"groups, dropout", 200, 1, BFloat16, attentionOptions{DropoutP: 0.2, IsCausal: true, EnableGQA: true}},
	} {
		queries := c.queries
		q := g.Randn(2, queries, 8).To(c.dtype).Detach().RequireGrad()
		k, v := g.Randn(c.heads, keys, 8).To(c.dtype).Detach().RequireGrad(), g.Randn(c.heads, keys, 5).To(c.dtype).Detach().RequireGrad()
		y := attend(q, k, v, c.o)
		a, in := y.v.op.(attention), y.v.in
		one := composeFrom(map[DType]int{BFloat16: 3}[c.dtype], func(x []*Tensor) *Tensor {
			x = a.share(x)
			if a.inBlocks(x) != (queries > queryBlock) || 2*queries*keys <= groupScores {
				t.Errorf("%s: attention is not computed in blocks or groups", c.name)
			}
			if c.dtype == Float32 {
				return a.dropped(a.weights(x), x).MatMul(x[2])
			}
			k := x[1].Transpose(-1, -2)
			s := unsetTensor(x[0].mem.backend, Float32, productShape(x[0], k))
			multiplyTo(s, []*Tensor{x[0], k})
			return a.dropped(a.normalized(a.maskedScores(s.MulScalar(a.scale), x)), x).To(c.dtype).MatMul(x[2])
		}, in)
		if !slices.Equal(y.Bits(), narrow(one, c.dtype).Bits()) {
			t.Errorf("%s: the result differs from that of a single block", c.name)
		}
		dy := g.Randn(y.Shape()...).To(c.dtype)
		got := GradWith(y, []*Tensor{q, k, v}, BackwardOptions{Gradient: dy, RetainGraph: true})
		want := GradWith(y, []*Tensor{q, k, v}, BackwardOptions{Gradient: dy, CreateGraph: true})
		for i := range want {
			if !slices.Equal(got[i].Bits(), want[i].Detach().Bits()) {
				t.Errorf("%s: gradient %d differs from that of a single block", c.name, i)
			}
		}
		if !slices.Equal(got[0].Shape(), []int{2, queries, 8}) {
			t.Errorf("%s: got shape %v", c.name, got[0].Shape())
		}
	}
}
