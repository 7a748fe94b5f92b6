package amp_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestSequenceDTypes checks the dtypes of sequence layers under autocast, and that the layers can
// be trained.
func TestSequenceDTypes(t *testing.T) {
	x, mask := tensor.Randn(5, 2, 4), tensor.Zeros(5, 5)
	attention := nn.NewMultiheadAttention(4, 2)
	for name, c := range map[string]struct {
		model any
		f     func() *tensor.Tensor
		want  tensor.DType
	}{
		"lstm":      layer(nn.NewLSTM(4, 3, nn.NumLayers(2)), x, tensor.Float16),
		"gru":       layer(nn.NewGRU(4, 3, nn.Bidirectional()), x, tensor.Float16),
		"rnn":       layer(nn.NewRNN(4, 3), x, tensor.Float16),
		"gru cell":  layer(nn.NewGRUCell(4, 3), x.Select(0, 0), tensor.Float16),
		"lstm cell": layer(nn.NewLSTMCell(4, 3), x.Select(0, 0), tensor.Float16),
		"attention": {attention, func() *tensor.Tensor {
			y, _ := attention.Attend(x, x, x, nn.AttnMask(mask))
			return y
		}, tensor.Float16},
		"weights":    {attention, func() *tensor.Tensor { _, w := attention.Attend(x, x, x); return w }, tensor.Float32},
		"encoder":    layer(nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(8)), x, tensor.Float32),
		"norm first": layer(nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(8), nn.NormFirst()), x, tensor.Float32),
	} {
		var y *tensor.Tensor
		amp.Autocast(amp.Float16, func() { y = c.f() })
		if y.DType() != c.want {
			t.Errorf("%s: got %v, want %v", name, y.DType(), c.want)
		}
		y.Float().Pow(2).Mean().Backward()
		for _, p := range nn.NamedParameters(c.model) {
			unused := name == "weights" && p.Name != "in_proj_weight" && p.Name != "in_proj_bias"
			if g := p.Tensor.Grad(); !unused && (g == nil || g.DType() != tensor.Float32) {
				t.Errorf("%s: gradient of %s: got %v, want float32", name, p.Name, g)
			}
		}
		nn.ZeroGrad(c.model)
	}
	for name, f := range map[string]func() *tensor.Tensor{
		"scaled_dot_product_attention": func() *tensor.Tensor {
			return nn.ScaledDotProductAttention(x, x, x, nn.AttnMask(tensor.Zeros(2, 2)))
		},
		"einsum": func() *tensor.Tensor { return tensor.Einsum("tbi,tbj->bij", x, x.Half()) },
		"addmm": func() *tensor.Tensor {
			return tensor.Zeros(2, 5).AddMM(x.Select(1, 0).T().Slice(0, 0, 2), tensor.Zeros(5, 5), tensor.AddMMOptions{})
		},
	} {
		amp.Autocast(amp.BFloat16, func() {
			if d := f().DType(); d != tensor.BFloat16 {
				t.Errorf("%s: got %v, want bfloat16", name, d)
			}
		})
	}
	amp.Autocast(amp.Float16, func() {
		h := tensor.Ones(3).Half()
		if d := h.Dot(tensor.Ones(3)).DType(); d != tensor.Float32 {
			t.Errorf("dot of float16 and float32: got %v, want float32", d)
		}
		if d := h.CosineSimilarity(h, 0, 1e-8).DType(); d != tensor.Float32 {
			t.Errorf("cosine_similarity of float16: got %v, want float32", d)
		}
		if d := h.VectorNorm(2, tensor.PNormOptions{DType: tensor.Float16}).DType(); d != tensor.Float16 {
			t.Errorf("a norm as float16: got %v, want float16", d)
		}
	})
}

func layer(m nn.Module, x *tensor.Tensor, want tensor.DType) struct {
	model any
	f     func() *tensor.Tensor
	want  tensor.DType
} {
	return struct {
		model any
		f     func() *tensor.Tensor
		want  tensor.DType
	}{m, func() *tensor.Tensor { return m.Forward(x) }, want}
}
