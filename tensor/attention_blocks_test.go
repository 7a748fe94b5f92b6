package tensor

import (
	"fmt"
	"slices"
	"testing"
)

// TestAttentionBlocks checks that several blocks of queries give the same bits as a single block.
func TestAttentionBlocks(t *testing.T) {
	const queries, keys = 1100, 1000
	g := NewGenerator(3)
	for _, c := range []struct {
		name  string
		heads int // of keys and values
		dtype DType
		o     attentionOptions
	}{
		{"plain", 2, Float32, attentionOptions{}},
		{"causal", 2, Float32, attentionOptions{IsCausal: true, Scale: 0.3}},
		{"mask", 2, Float32, attentionOptions{Mask: g.mask(0.7, []int{queries, keys})}},
		{"added mask", 2, BFloat16, attentionOptions{Mask: g.Randn(2, 1, keys)}},
		{"dropout", 2, Float32, attentionOptions{DropoutP: 0.2, IsCausal: true}},
		{"shared heads", 1, Float32, attentionOptions{EnableGQA: true}},
	} {
		q := g.Randn(2, queries, 8).To(c.dtype).Detach().RequireGrad()
		k, v := g.Randn(c.heads, keys, 8).To(c.dtype).Detach().RequireGrad(), g.Randn(c.heads, keys, 5).To(c.dtype).Detach().RequireGrad()
		y := attend(q, k, v, c.o)
		a, in := y.v.op.(attention), y.v.in
		one := compose(func(x []*Tensor) *Tensor {
			x = a.share(x)
			if !a.inBlocks(x) {
				t.Errorf("%s: attention is not computed in blocks", c.name)
			}
			return a.dropped(a.weights(x), x).MatMul(x[2])
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
		if fmt.Sprint(got[0].Shape()) != "[2 1100 8]" {
			t.Errorf("%s: got shape %v", c.name, got[0].Shape())
		}
	}
}
