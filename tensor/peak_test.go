package tensor

import (
	"runtime"
	"testing"

	"halfnote/internal/testenv"
)

// peakCase is an operation whose plain formula needs an array as large as the product of its operands'
// sizes. forward and backward bound the peak of memory, in multiples of the bytes of operands, result
// and, in backward, gradients.
type peakCase struct {
	name              string
	f                 func(in []*Tensor) *Tensor
	in                [][]int
	forward, backward float64
}

var peakCases = []peakCase{
	{"cdist", func(in []*Tensor) *Tensor { return in[0].CDist(in[1], 2) }, [][]int{{600, 64}, {600, 64}}, 1.5, 2},
	{"cdist of order 1", func(in []*Tensor) *Tensor { return in[0].CDist(in[1], 1) }, [][]int{{600, 64}, {600, 64}}, 1.75, 2},
	{"cdist of order 3", func(in []*Tensor) *Tensor { return in[0].CDist(in[1], 3) }, [][]int{{600, 64}, {600, 64}}, 1.75, 2.5},
	{"pdist", func(in []*Tensor) *Tensor { return in[0].PDist(2) }, [][]int{{700, 64}}, 1.5, 2},
	{"multilabel_margin_loss", func(in []*Tensor) *Tensor {
		targets := make([]int, in[0].Numel())
		for i := range targets {
			targets[i] = i%in[0].Size(1)%4 - 1 + 2*min(i%in[0].Size(1), 1)
		}
		return functional{}.MultiLabelMarginLoss(in[0], FromInts(targets, in[0].Shape()...), lossOptions{})
	}, [][]int{{64, 1000}}, 20, 40},
	{"multi_margin_loss", func(in []*Tensor) *Tensor {
		return functional{}.MultiMarginLoss(in[0], Zeros(2000).Long(), 1, lossOptions{})
	}, [][]int{{2000, 500}}, 10, 18},
	{"triplet_margin_loss", func(in []*Tensor) *Tensor {
		return functional{}.TripletMarginLoss(in[0], in[1], in[2], 1, lossOptions{})
	}, [][]int{{4000, 64}, {4000, 64}, {4000, 64}}, 5, 9},
	{"cosine_embedding_loss", func(in []*Tensor) *Tensor {
		return functional{}.CosineEmbeddingLoss(in[0], in[1], Ones(4000), 0, lossOptions{})
	}, [][]int{{4000, 64}, {4000, 64}}, 5, 9},
	{"pairwise_distance", func(in []*Tensor) *Tensor { return in[0].PairwiseDistance(in[1], 2, 1e-6) }, [][]int{{4000, 64}, {4000, 64}}, 4, 8},
	{"cosine_similarity", func(in []*Tensor) *Tensor { return in[0].CosineSimilarity(in[1], 1, 1e-8) }, [][]int{{4000, 64}, {4000, 64}}, 5, 18},
	{"kl_div", func(in []*Tensor) *Tensor { return functional{}.KLDiv(in[0], in[1], lossOptions{}) }, [][]int{{4000, 64}, {4000, 64}}, 6, 14},
	{"einsum of three matrices", func(in []*Tensor) *Tensor { return Einsum("ij,jk,kl->il", in...) }, [][]int{{300, 300}, {300, 300}, {300, 300}}, 1.5, 4},
	{"einsum of columns", func(in []*Tensor) *Tensor { return Einsum("bi,bj->ij", in...) }, [][]int{{2000, 100}, {2000, 100}}, 1.5, 3},
	{"renorm", func(in []*Tensor) *Tensor { return in[0].Renorm(2, 0, 1) }, [][]int{{2000, 200}}, 5, 15},
	{"conv2d", func(in []*Tensor) *Tensor { return Conv2d(in[0], in[1], nil, ConvOptions{}) }, [][]int{{4, 16, 48, 48}, {16, 16, 5, 5}}, 2, 3},
	{"avg_pool2d", func(in []*Tensor) *Tensor {
		return functional{}.AvgPool(in[0], 2, []int{5}, poolOptions{Stride: []int{1}})
	}, [][]int{{4, 16, 48, 48}}, 2, 3},
	{"max_pool2d", func(in []*Tensor) *Tensor {
		return functional{}.MaxPool(in[0], 2, []int{5}, poolOptions{Stride: []int{1}})
	}, [][]int{{4, 16, 48, 48}}, 4, 4},
	{"kron", func(in []*Tensor) *Tensor { return in[0].Kron(in[1]) }, [][]int{{30, 30}, {30, 30}}, 1.5, 4},
	{"prod", func(in []*Tensor) *Tensor { return in[0].Prod(1) }, [][]int{{2000, 200}}, 4, 14},
}

// TestPeakMemory checks that the memory of operations, apart from operands and results, does not grow
// with the product of sizes.
func TestPeakMemory(t *testing.T) {
	g := NewGenerator(1)
	share := testenv.Share(t, 2)
	for i, c := range peakCases {
		if i%share != 0 {
			continue
		}
		in, bytes := make([]*Tensor, len(c.in)), 0
		for i, shape := range c.in {
			in[i] = g.Rand(shape...).RequireGrad()
			bytes += in[i].Bytes()
		}
		grads := bytes
		peak := func(f func()) float64 {
			runtime.GC()
			runtime.GC()
			before := Memory().Live
			ResetPeakMemory()
			f()
			return float64(Memory().Peak - before)
		}
		var y *Tensor
		forward := peak(func() { NoGrad(func() { y = c.f(in) }) })
		bytes += y.Bytes()
		y = nil
		backward := peak(func() { c.f(in).Sum().Backward() })
		if ratio := forward / float64(bytes); ratio > c.forward {
			t.Errorf("%s: forward peaks at %.2f times the %d bytes of operands and result; want %v or less", c.name, ratio, bytes, c.forward)
		}
		if ratio := backward / float64(bytes+grads); ratio > c.backward {
			t.Errorf("%s: backward peaks at %.2f times the %d bytes of operands, result and gradients; want %v or less", c.name, ratio, bytes+grads, c.backward)
		}
	}
}
