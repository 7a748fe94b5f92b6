package torchtest

import (
	"strings"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("sequence", sequence())

func sequence() cases {
	all := cases{}
	attention := func(form string, o []nn.Option) {
		all[strings.TrimSpace("scaled_dot_product_attention "+form)] = func(in []T) T {
			o := o
			if len(in) == 4 {
				o = append(o, nn.AttnMask(in[3]))
			}
			return nn.ScaledDotProductAttention(in[0], in[1], in[2], o...)
		}
	}
	for _, form := range []string{"", "matrices", "one", "bool mask", "mask", "mask of each"} {
		attention(form, []nn.Option{})
	}
	attention("causal", []nn.Option{nn.IsCausal()})
	attention("scale", []nn.Option{nn.Scale(0.3)})
	attention("shared heads", []nn.Option{nn.EnableGQA()})

	for op, f := range map[string]func(x, h, wIH, wHH, bIH, bHH T) T{
		"rnn_tanh_cell": tensor.RNNTanhCell, "rnn_relu_cell": tensor.RNNReLUCell, "gru_cell": tensor.GRUCell,
	} {
		for _, form := range []string{"", " single", " empty", ", no bias"} {
			all[op+form] = func(in []T) T {
				in = append(in, nil, nil)
				return f(in[0], in[1], in[2], in[3], in[4], in[5])
			}
		}
	}
	for _, form := range []string{"", " single", " empty", ", no bias"} {
		all["lstm_cell"+form] = func(in []T) T {
			in = append(in, nil, nil)
			h, c := tensor.LSTMCell(in[0], in[1], in[2], in[3], in[4], in[5], in[6])
			return tensor.Cat(-1, h, c)
		}
	}

	for name, m := range map[string]func() interface{ ForwardState(x, h T) (T, T) }{
		"RNN": func() interface{ ForwardState(x, h T) (T, T) } { return nn.NewRNN(4, 3) },
		"RNN layers": func() interface{ ForwardState(x, h T) (T, T) } {
			return nn.NewRNN(4, 3, nn.NumLayers(2), nn.Bidirectional())
		},
		"RNN batch first": func() interface{ ForwardState(x, h T) (T, T) } {
			return nn.NewRNN(4, 3, nn.BatchFirst(), nn.Bias(false))
		},
		"RNN single": func() interface{ ForwardState(x, h T) (T, T) } { return nn.NewRNN(4, 3, nn.NumLayers(2)) },
		"RNN relu":   func() interface{ ForwardState(x, h T) (T, T) } { return nn.NewRNN(4, 3, nn.Nonlinearity("relu")) },
		"GRU":        func() interface{ ForwardState(x, h T) (T, T) } { return nn.NewGRU(4, 3) },
		"GRU layers": func() interface{ ForwardState(x, h T) (T, T) } {
			return nn.NewGRU(4, 3, nn.NumLayers(2), nn.Bidirectional())
		},
		"GRU batch first": func() interface{ ForwardState(x, h T) (T, T) } {
			return nn.NewGRU(4, 3, nn.BatchFirst(), nn.Bias(false))
		},
		"GRU single": func() interface{ ForwardState(x, h T) (T, T) } { return nn.NewGRU(4, 3, nn.NumLayers(2)) },
	} {
		all[name] = func(in []T) T {
			net := m()
			in = adopt(net, in)
			return flat(net.ForwardState(in[0], in[1]))
		}
	}
	lstm := func(name string, options ...nn.Option) {
		all[name] = func(in []T) T {
			net := nn.NewLSTM(4, 3, options...)
			if name == "LSTM projection" {
				net = nn.NewLSTM(4, 5, options...)
			}
			in = adopt(net, in)
			out, h, c := net.ForwardState(in[0], in[1], in[2])
			return flat(out, h, c)
		}
	}
	lstm("LSTM")
	lstm("LSTM layers", nn.NumLayers(2), nn.Bidirectional())
	lstm("LSTM batch first", nn.BatchFirst(), nn.Bias(false))
	lstm("LSTM single", nn.NumLayers(2))
	lstm("LSTM projection", nn.NumLayers(2), nn.Bidirectional(), nn.ProjSize(2))

	lengths := []int{2, 4, 1}
	all["LSTM lengths"] = func(in []T) T {
		net := nn.NewLSTM(4, 2, nn.NumLayers(2), nn.Bidirectional())
		in = adopt(net, in)
		out, h, c := net.ForwardLengths(in[0], in[1], in[2], lengths)
		return flat(out, h, c)
	}
	all["GRU lengths"] = func(in []T) T {
		net := nn.NewGRU(4, 2, nn.Bidirectional())
		in = adopt(net, in)
		return flat(net.ForwardLengths(in[0], in[1], lengths))
	}
	all["RNN lengths"] = func(in []T) T {
		net := nn.NewRNN(4, 2)
		in = adopt(net, in)
		return flat(net.ForwardLengths(in[0], in[1], lengths))
	}

	attend := func(form string, operands int, how []nn.Option, options ...nn.Option) {
		all[strings.TrimSpace("MultiheadAttention "+form)] = func(in []T) T {
			m := nn.NewMultiheadAttention(4, 2, options...)
			in = adopt(m, in)
			q, k, v := in[0], in[0], in[0]
			if operands > 1 {
				k, v = in[1], in[2]
			}
			masks := how
			if operands == 5 {
				masks = append([]nn.Option{nn.KeyPaddingMask(in[3]), nn.AttnMask(in[4])}, how...)
			} else if operands == 4 {
				masks = append([]nn.Option{nn.AttnMask(in[3])}, how...)
			}
			out, weights := m.Attend(q, k, v, masks...)
			if weights == nil {
				return out
			}
			return flat(out, weights)
		}
	}
	noWeights := nn.NeedWeights(false)
	attend("", 1, nil)
	attend("cross", 3, nil)
	attend("no weights", 3, []nn.Option{noWeights}, nn.Bias(false))
	attend("masks", 5, nil)
	attend("masks, no weights", 5, []nn.Option{noWeights})
	attend("float mask of each head", 4, []nn.Option{nn.AverageAttnWeights(false)})
	attend("causal", 1, []nn.Option{nn.IsCausal(), noWeights})
	attend("batch first", 3, nil, nn.BatchFirst(), nn.KDim(3), nn.VDim(5))
	attend("added", 5, nil, nn.AddBiasKV(), nn.AddZeroAttn())
	attend("single", 1, nil)

	all["TransformerEncoderLayer"] = func(in []T) T {
		m := nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(6))
		in = adopt(m, in)
		return m.Forward(in[0])
	}
	all["TransformerEncoderLayer norm first"] = func(in []T) T {
		m := nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(6), nn.NormFirst(), nn.Activation("gelu"), nn.BatchFirst(), nn.Bias(false))
		in = adopt(m, in)
		return m.ForwardMasked(in[0], nn.SrcKeyPaddingMask(in[1]))
	}
	all["TransformerDecoderLayer"] = func(in []T) T {
		m := nn.NewTransformerDecoderLayer(4, 2, nn.DimFeedforward(6))
		in = adopt(m, in)
		return m.Forward(in[0], in[1])
	}
	all["TransformerDecoderLayer norm first"] = func(in []T) T {
		m := nn.NewTransformerDecoderLayer(4, 2, nn.DimFeedforward(6), nn.NormFirst())
		in = adopt(m, in)
		return m.Forward(in[0], in[1], nn.MemoryMask(in[2]), nn.MemoryKeyPaddingMask(in[3]))
	}
	all["TransformerEncoder"] = func(in []T) T {
		m := nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(6)), 2, nn.NewLayerNorm([]int{4}))
		in = adopt(m, in)
		return m.Forward(in[0])
	}
	all["Transformer"] = func(in []T) T {
		m := nn.NewTransformer(4, 2, 1, 1, nn.DimFeedforward(6))
		in = adopt(m, in)
		return m.Forward(in[0], in[1], nn.TgtMask(nn.SquareSubsequentMask(3)))
	}

	all["Bilinear"] = func(in []T) T {
		m := nn.NewBilinear(3, 4, 2)
		in = adopt(m, in)
		return m.Forward(in[0], in[1])
	}
	for name, make := range map[string]func() any{
		"Bilinear":                func() any { return nn.NewBilinear(3, 4, 2) },
		"RNNCell":                 func() any { return nn.NewRNNCell(5, 4) },
		"LSTMCell":                func() any { return nn.NewLSTMCell(5, 4) },
		"GRUCell":                 func() any { return nn.NewGRUCell(5, 4, nn.Bias(false)) },
		"LSTM":                    func() any { return nn.NewLSTM(3, 4, nn.NumLayers(2), nn.Bidirectional(), nn.ProjSize(2)) },
		"GRU":                     func() any { return nn.NewGRU(3, 4, nn.NumLayers(2)) },
		"MultiheadAttention":      func() any { return nn.NewMultiheadAttention(6, 2, nn.AddBiasKV()) },
		"MultiheadAttention kdim": func() any { return nn.NewMultiheadAttention(6, 2, nn.KDim(3), nn.VDim(5)) },
		"TransformerEncoderLayer": func() any { return nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(6)) },
		"Transformer":             func() any { return nn.NewTransformer(4, 2, 2, 2, nn.DimFeedforward(6)) },
	} {
		all["drawn "+name] = func([]T) T {
			tensor.ManualSeed(7)
			var ps []T
			for _, p := range nn.Parameters(make()) {
				ps = append(ps, p.Detach())
			}
			return flat(ps...)
		}
	}
	return all
}

// adopt sets the parameters of model to the last operands and switches model to use. It returns
// the other operands, followed by some nil.
func adopt(model any, in []T) []T {
	nn.Eval(model)
	ps := nn.Parameters(model)
	n := len(in) - len(ps)
	for i, p := range ps {
		*p = *in[n+i]
	}
	return append(in[:n:n], nil, nil, nil)
}

// flat returns the elements of all tensors in one vector.
func flat(ts ...T) T {
	rows := make([]T, len(ts))
	for i, t := range ts {
		rows[i] = t.Reshape(t.Numel())
	}
	return tensor.Cat(0, rows...)
}
