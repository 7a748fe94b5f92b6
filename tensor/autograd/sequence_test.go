package autograd_test

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func init() {
	type T = *tensor.Tensor
	attend := nn.ScaledDotProductAttention
	rows := func(n int, a, b T) T { // (n, 3)
		return tensor.Cat(0, a, b, a.Neg(), b.MulScalar(0.5)).Slice(0, 0, n)
	}
	cases = append(cases, []derivative{
		{"scaled_dot_product_attention", func(a, b T) T { return attend(a, b, a.Slice(1, 0, 2)) }},
		{"scaled_dot_product_attention, mask", func(a, b T) T {
			return attend(a, b, b, nn.AttnMask(b.Slice(1, 0, 2)), nn.Scale(2))
		}},
		{"scaled_dot_product_attention, bool mask", func(a, b T) T {
			return attend(a.Unsqueeze(0), b, b, nn.AttnMask(tensor.FromBools([]bool{true, false, false, false}, 2, 2)))
		}},
		{"scaled_dot_product_attention, causal", func(a, b T) T {
			return attend(a.T(), b.T(), a.T(), nn.IsCausal())
		}},
		{"scaled_dot_product_attention, shared", func(a, b T) T {
			return attend(a.Reshape(2, 1, 3), b.Slice(0, 0, 1).Reshape(1, 3, 1).Expand(1, 3, 3), b.Slice(0, 0, 1).Reshape(1, 3, 1), nn.EnableGQA())
		}},
		{"scaled_dot_product_attention, dropout", func(a, b T) T {
			tensor.ManualSeed(3)
			return attend(a.T(), b.T(), b.T(), nn.DropoutP(0.4))
		}},
		{"rnn_tanh_cell", func(a, b T) T {
			return tensor.RNNTanhCell(a, b.Slice(1, 0, 2), b, a.Slice(1, 1, 3), a.Select(1, 0), b.Select(1, 2))
		}},
		{"rnn_relu_cell", func(a, b T) T {
			return tensor.RNNReLUCell(a, b.Slice(1, 0, 2), b, a.Slice(1, 1, 3), nil, nil).Pow(3)
		}},
		{"gru_cell", func(a, b T) T {
			w := rows(6, a, b)
			return tensor.GRUCell(a, b.Slice(1, 0, 2), w, w.Slice(1, 0, 2), w.Select(1, 0), w.Select(1, 2))
		}},
		{"lstm_cell", func(a, b T) T {
			w := rows(8, a, b)
			h, c := tensor.LSTMCell(a, b.Slice(1, 0, 2), b.Slice(1, 1, 3), w, w.Slice(1, 0, 2), w.Select(1, 1), w.Select(1, 2))
			return h.Add(c.Pow(2))
		}},
		{"lstm", func(a, b T) T {
			w := rows(8, a, b)
			h, c := tensor.LSTMStep(a, b.Slice(1, 0, 2), b.Slice(1, 1, 3), w, w.Slice(1, 0, 2), w.Select(1, 1), w.Select(1, 2))
			return h.Add(c.Pow(2))
		}},
	}...)
}
