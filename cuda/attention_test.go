//go:build cuda && linux && cgo

package cuda_test

import (
	"math"
	"testing"

	"halfnote/amp"
	"halfnote/cuda/internal/fake"
	"halfnote/tensor"
	"halfnote/tensor/nn"
	"halfnote/tensor/nn/models"
)

type ten = *tensor.Tensor

// TestAttention compares the results and gradients of attention in half precision with those of
// float32, which is composed of products and a softmax. It also counts launches: one for a result,
// two for gradients.
func TestAttention(t *testing.T) {
	type shape [4]int // batch, heads, positions, features
	for _, c := range []struct {
		name    string
		q, k, v shape
		o       []nn.Option
		mask    []int
		bool    bool
		sums    int // additional launches: sums of gradients of broadcast operands, random numbers
	}{
		{name: "projections", q: shape{2, 3, 20, 64}, k: shape{2, 3, 37, 64}, v: shape{2, 3, 37, 64}},
		{name: "causal", q: shape{1, 2, 70, 16}, k: shape{1, 2, 70, 16}, v: shape{1, 2, 70, 24}, o: []nn.Option{nn.IsCausal()}},
		{name: "padding", q: shape{2, 2, 9, 32}, k: shape{2, 2, 13, 32}, v: shape{2, 2, 13, 32}, mask: []int{2, 1, 1, 13}},
		{name: "mask of heads", q: shape{2, 2, 9, 20}, k: shape{2, 2, 13, 20}, v: shape{2, 2, 13, 9}, mask: []int{2, 9, 13}, bool: true},
		{name: "dropout", q: shape{1, 2, 33, 64}, k: shape{1, 2, 29, 64}, v: shape{1, 2, 29, 64}, o: []nn.Option{nn.DropoutP(0.3), nn.Scale(0.2)}, sums: 1},
		{name: "shared heads", q: shape{2, 6, 10, 8}, k: shape{2, 2, 11, 8}, v: shape{2, 2, 11, 8}, o: []nn.Option{nn.EnableGQA(), nn.Scale(-0.3)}, mask: []int{6, 1, 11}, sums: 9},
		{name: "one batch of keys", q: shape{3, 1, 10, 8}, k: shape{1, 1, 11, 8}, v: shape{3, 1, 11, 8}, sums: 9},
	} {
		for _, d := range []tensor.DType{tensor.Float16, tensor.BFloat16} {
			g := tensor.NewGenerator(int64(len(c.name)))
			operand := func(s shape) ten {
				all := g.Randn(s[0], s[2], 3, s[1], s[3]).To(d).ToDevice(tensor.CUDA)
				return all.Select(2, 1).Transpose(1, 2).Detach()
			}
			q, k, v := operand(c.q), operand(c.k), operand(c.v)
			var mask ten
			if c.mask != nil {
				mask = g.Randn(c.mask...).ToDevice(tensor.CUDA)
				if c.bool {
					mask = mask.GtScalar(-0.5)
				} else {
					mask = mask.To(d)
				}
			}
			dy := g.Randn(c.q[0], c.q[1], c.q[2], c.v[3]).To(d).ToDevice(tensor.CUDA)
			run := func(d tensor.DType) (list []ten, launches [2]int) {
				o, in := c.o, []ten{}
				switch {
				case c.bool:
					o = append(o, nn.AttnMask(mask))
				case mask != nil:
					o = append(o, nn.AttnMask(mask.To(d)))
				}
				for _, x := range []ten{q, k, v} {
					in = append(in, x.To(d).Detach().RequireGrad())
				}
				to := dy.To(d)
				tensor.ManualSeed(5)
				start := fake.Launches()
				y := nn.ScaledDotProductAttention(in[0], in[1], in[2], o...)
				launches[0] = fake.Launches() - start
				start = fake.Launches()
				reruns := 0 // launches of the same kernel in float32
				stop := tensor.Observe(func(e tensor.Event) {
					if e.Op.Name != "scaled_dot_product_attention_backward" {
						return
					}
					start := fake.Launches()
					in := append([]ten(nil), e.Operands...)
					for i, x := range in {
						if x.DType().IsFloat() {
							in[i] = x.Float()
						}
					}
					if i := apart(e.Result, e.Rerun(in), d); i >= 0 {
						t.Errorf("%s: gradients of %v: element %d differs from float32", c.name, d, i)
					}
					reruns = fake.Launches() - start
				})
				list = append([]ten{y}, tensor.GradWith(y, in, tensor.BackwardOptions{Gradient: to})...)
				stop()
				launches[1] = fake.Launches() - start - reruns
				return list, launches
			}
			got, launches := run(d)
			want, _ := run(tensor.Float32)
			for i, x := range want {
				what := []string{"result", "gradient of queries", "gradient of keys", "gradient of values"}[i]
				if at := apart(got[i], x, d); at >= 0 || got[i].DType() != d {
					t.Errorf("%s: %s: element %d: got %v %v, want %v", c.name, what, at, got[i].DType(), got[i].Float64s()[max(at, 0)], x.Float64s()[max(at, 0)])
				}
			}
			if !fake.Real() && (launches[0] > 1+c.sums || launches[1] > 2+c.sums) {
				t.Errorf("%s: launches: got %d and %d for gradients, want at most %d and %d", c.name, launches[0], launches[1], 1+c.sums, 2+c.sums)
			}
		}
	}
}

// apart returns the index of the first element that differs by more than the rounding error of d,
// or -1.
func apart(got, want ten, d tensor.DType) int {
	a, b := got.Float64s(), want.Float64s()
	size := 0.0
	for _, x := range b {
		size += x * x / float64(len(b))
	}
	for i, x := range b {
		if !(math.Abs(a[i]-x) <= 4*tensor.FInfo(d).Eps*(math.Sqrt(size)+math.Abs(x))) {
			return i
		}
	}
	return -1
}

// TestAttentionLayers checks that attention layers under autocast use the kernels, whose gradients
// are one operation.
func TestAttentionLayers(t *testing.T) {
	tensor.ManualSeed(1)
	x := tensor.Randn(2, 5, 16).ToDevice(tensor.CUDA)
	padding := tensor.FromBools([]bool{false, false, false, false, true, false, false, true, true, true}, 2, 5).ToDevice(tensor.CUDA)
	mask := nn.SquareSubsequentMask(5).ToDevice(tensor.CUDA)
	self := nn.NewMultiheadAttention(16, 2, nn.BatchFirst(), nn.DropoutP(0.1))
	whole := nn.NewTransformer(16, 2, 1, 1, nn.DimFeedforward(32), nn.BatchFirst())
	bert := models.NewBERT(models.BERTConfig{Vocabulary: 40, Hidden: 16, Layers: 2, Heads: 2, Intermediate: 32, Positions: 8, Types: 2, Dropout: 0.1})
	nn.To(self, tensor.CUDA)
	nn.To(whole, tensor.CUDA)
	nn.To(bert, tensor.CUDA)
	attend := func(options ...nn.Option) func() ten {
		options = append(options, nn.NeedWeights(false))
		return func() ten {
			y, _ := self.Attend(x, x, x, options...)
			return y
		}
	}
	for _, c := range []struct {
		name string
		want int
		f    func() ten
	}{
		{"causal", 1, attend(nn.IsCausal())},
		{"padding", 1, attend(nn.KeyPaddingMask(padding))},
		{"mask and padding", 1, attend(nn.KeyPaddingMask(padding), nn.AttnMask(mask))},
		{"transformer", 3, func() ten { return whole.Forward(x, x, nn.TgtMask(mask)) }},
		{"bert", 2, func() ten {
			hidden, _ := bert.ForwardInput(models.BERTInput{IDs: tensor.Ones(2, 5).To(tensor.Int64).ToDevice(tensor.CUDA), Mask: padding.Not()})
			return hidden
		}},
	} {
		for _, p := range []amp.Policy{amp.Float16, amp.BFloat16} {
			got := 0
			stop := tensor.Observe(func(e tensor.Event) {
				if e.Op.Name == "scaled_dot_product_attention_backward" {
					got++
				}
			})
			var y ten
			amp.Autocast(p, func() { y = c.f() })
			y.Sum().Backward()
			stop()
			if got != c.want {
				t.Errorf("%s in %v: got %d gradients from the kernels, want %d", c.name, y.DType(), got, c.want)
			}
		}
	}
}

// TestAttentionRecomputed checks that a checkpoint of attention with dropout gives the same
// gradients, and that gradients for second derivatives, which come from products and a softmax, agree
// with them.
func TestAttentionRecomputed(t *testing.T) {
	g := tensor.NewGenerator(4)
	draw := func() ten { return g.Randn(1, 2, 35, 16).BFloat16().ToDevice(tensor.CUDA).RequireGrad() }
	in := []ten{draw(), draw(), draw()}
	attend := func(in ...ten) ten {
		return nn.ScaledDotProductAttention(in[0], in[1], in[2], nn.DropoutP(0.4), nn.IsCausal())
	}
	grads := func(f func(in ...ten) ten, graph bool) []ten {
		tensor.ManualSeed(9)
		return tensor.GradWith(f(in...).Sum(), in, tensor.BackwardOptions{CreateGraph: graph})
	}
	want := grads(attend, false)
	again := grads(func(in ...ten) ten { return tensor.Checkpoint(attend, in...) }, false)
	graph := grads(attend, true)
	for i, w := range want {
		if !tensor.Equal(again[i], w) {
			t.Errorf("gradient %d differs with a checkpoint", i)
		}
		if at := apart(graph[i].Detach(), w, tensor.BFloat16); at >= 0 {
			t.Errorf("gradient %d with CreateGraph: element %d: got %v, want %v", i, at, graph[i].Float64s()[at], w.Float64s()[at])
		}
	}
	for i, h := range tensor.Grad(graph[0].Mul(graph[0]).Sum(), in[0], in[1], in[2]) {
		if size := h.Abs().Sum().Item(); !(size > 0 && size < 1e6) {
			t.Errorf("second derivative %d: got %v as the sum of magnitudes, want a positive number below 1e6", i, size)
		}
	}
}

// TestAttentionLowestMask checks masks of the lowest finite number instead of -Inf: a query whose
// keys are all masked attends to them equally.
func TestAttentionLowestMask(t *testing.T) {
	const d = tensor.BFloat16
	x := tensor.NewGenerator(4).Randn(1, 40, 8).To(d).ToDevice(tensor.CUDA)
	mask := tensor.Full(-tensor.FInfo(d).Max, 1, 40).To(d).ToDevice(tensor.CUDA)
	y := nn.ScaledDotProductAttention(x, x, x, nn.AttnMask(mask))
	want := x.Float().Mean(1).Unsqueeze(1).Expand(1, 40, 8)
	if at := apart(y, want, d); at >= 0 {
		t.Errorf("element %d: got %v, want %v", at, y.Float64s()[at], want.Float64s()[at])
	}
}

// TestAttentionOfManyAxes checks attention on a batch with more axes than kernels support.
func TestAttentionOfManyAxes(t *testing.T) {
	g := tensor.NewGenerator(4)
	axes := []int{4, 2, 3, 0, 1, 5, 6}
	var many, flat []ten
	for range 3 {
		x := g.Randn(2, 2, 2, 1, 2, 2, 3, 8).Half().ToDevice(tensor.CUDA).Select(3, 0).Permute(axes...)
		many, flat = append(many, x.Detach().RequireGrad()), append(flat, x.Reshape(32, 3, 8).Detach().RequireGrad())
	}
	run := func(in []ten) []ten {
		y := nn.ScaledDotProductAttention(in[0], in[1], in[2])
		return append([]ten{y}, tensor.Grad(y.Mul(y).Sum(), in...)...)
	}
	want := run(flat)
	for i, x := range run(many) {
		if !tensor.Equal(x.Reshape(32, 3, 8), want[i]) {
			t.Errorf("tensor %d differs from that with one batch axis", i)
		}
	}
}

// TestAttentionWithoutTensorCores checks attention on a GPU that the kernels do not support.
func TestAttentionWithoutTensorCores(t *testing.T) {
	if !child(t, fake.Options{Capability: 70}) {
		return
	}
	x := tensor.NewGenerator(4).Randn(1, 2, 7, 8).Half()
	on := func(d tensor.Device) ten {
		x := x.ToDevice(d)
		return nn.ScaledDotProductAttention(x, x, x, nn.IsCausal())
	}
	if at := apart(on(tensor.CUDA), on(tensor.CPU), tensor.Float16); at >= 0 {
		t.Errorf("element %d differs from the CPU", at)
	}
}
