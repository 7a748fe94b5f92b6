package nn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

func TestRecurrentNames(t *testing.T) {
	l := nn.NewLSTM(3, 4, nn.NumLayers(2), nn.Bidirectional(), nn.ProjSize(2))
	want := ""
	for _, layer := range []string{"l0", "l0_reverse", "l1", "l1_reverse"} {
		for _, w := range []string{"weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr"} {
			want += " " + w + "_" + layer
		}
	}
	if got := names(nn.NamedParameters(l)); got != want[1:] {
		t.Errorf("got  %s\nwant %s", got, want[1:])
	}
	if got, want := names(nn.NamedParameters(map[string]any{"rnn": nn.NewRNN(2, 2, nn.Bias(false))})), "rnn.weight_ih_l0 rnn.weight_hh_l0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := names(nn.NamedParameters(nn.NewGRUCell(2, 2))), "weight_ih weight_hh bias_ih bias_hh"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := names(nn.NamedParameters(nn.NewMultiheadAttention(4, 2, nn.AddBiasKV()))), "in_proj_weight in_proj_bias bias_k bias_v out_proj.weight out_proj.bias"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	layer := nn.NewTransformerDecoderLayer(4, 2)
	if got, want := names(nn.NamedParameters(layer))[:60], "self_attn.in_proj_weight self_attn.in_proj_bias self_attn.ou"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	d := nn.NewTransformerDecoder(layer, 2, nn.NewLayerNorm([]int{4}, nn.Eps(1e-12), nn.Bias(false)))
	if ps := nn.NamedParameters(d); ps[len(ps)-1].Name != "norm.weight" || ps[len(ps)-2].Name != "layers.1.norm3.bias" {
		t.Errorf("got %s", names(ps[len(ps)-2:]))
	}
}

// TestRecurrentShapes checks that layers give the same results in each layout, and when run
// step by step.
func TestRecurrentShapes(t *testing.T) {
	x := tensor.Randn(5, 2, 3)
	g := nn.NewGRU(3, 4, nn.NumLayers(2))
	out, last := g.ForwardState(x, nil)
	if !slices.Equal(out.Shape(), []int{5, 2, 4}) || !slices.Equal(last.Shape(), []int{2, 2, 4}) {
		t.Errorf("got shapes %v and %v", out.Shape(), last.Shape())
	}
	var h *tensor.Tensor
	for i := range 5 {
		var y *tensor.Tensor
		if y, h = g.ForwardState(x.Slice(0, i, i+1), h); !tensor.Equal(y.Squeeze(0), out.Select(0, i)) {
			t.Errorf("a single step gives a different result for step %d", i)
		}
	}
	if !tensor.Equal(h, last) {
		t.Error("running step by step gives a different state")
	}
	first := nn.NewGRU(3, 4, nn.NumLayers(2), nn.BatchFirst())
	if err := nn.LoadStateDict(first, nn.StateDict(g)); err != nil {
		t.Fatal(err)
	}
	if got := first.Forward(x.Transpose(0, 1)).Transpose(0, 1); !tensor.Equal(got, out) {
		t.Error("BatchFirst gives a different result")
	}
	if got, _ := g.ForwardState(x.Select(1, 0), nil); !slices.Equal(got.Shape(), []int{5, 4}) || !tensor.Equal(got, out.Select(1, 0)) {
		t.Error("one sequence alone gives a different result")
	}
	if a, b := nn.NewLSTM(3, 4).Forward(x), nn.NewRNN(3, 4).Forward(x); !slices.Equal(a.Shape(), b.Shape()) {
		t.Errorf("got shapes %v and %v", a.Shape(), b.Shape())
	}
	for _, cell := range []nn.Module{nn.NewRNNCell(3, 4), nn.NewRNNCell(3, 4, nn.Nonlinearity("relu")), nn.NewGRUCell(3, 4), nn.NewLSTMCell(3, 4, nn.Bias(false))} {
		if got := cell.Forward(x.Select(0, 0)); !slices.Equal(got.Shape(), []int{2, 4}) {
			t.Errorf("%v: got shape %v", cell, got.Shape())
		}
	}
}

// TestSequenceDropout checks that dropout applies only in training and depends only on the
// seed.
func TestSequenceDropout(t *testing.T) {
	x := tensor.Randn(3, 2, 4)
	attention := nn.NewMultiheadAttention(4, 2, nn.DropoutP(0.5))
	lstm, encoder := nn.NewLSTM(4, 4, nn.NumLayers(2), nn.DropoutP(0.5)), nn.NewTransformerEncoderLayer(4, 2, nn.DimFeedforward(8))
	for name, c := range map[string]struct {
		model any
		f     func() *tensor.Tensor
	}{
		"lstm":      {lstm, func() *tensor.Tensor { return lstm.Forward(x) }},
		"encoder":   {encoder, func() *tensor.Tensor { return encoder.Forward(x) }},
		"attention": {attention, func() *tensor.Tensor { return attention.Forward(x) }},
		"weights":   {attention, func() *tensor.Tensor { _, w := attention.Attend(x, x, x); return w }},
	} {
		draw := func(seed int64) *tensor.Tensor {
			tensor.ManualSeed(seed)
			return c.f()
		}
		nn.Train(c.model)
		if a, b := draw(1), draw(2); tensor.Equal(a, b) || !tensor.Equal(a, draw(1)) {
			t.Errorf("%s: results differ for equal seeds, or agree for different ones", name)
		}
		nn.Eval(c.model)
		if !tensor.Equal(draw(1), draw(2)) {
			t.Errorf("%s: dropout was applied in evaluation", name)
		}
	}
}

func TestSequenceStrings(t *testing.T) {
	for want, m := range map[string]fmt.Stringer{
		"GRU(3, 4, num_layers=2, bias=False, batch_first=True, dropout=0.5, bidirectional=True)": nn.NewGRU(3, 4, nn.NumLayers(2), nn.Bias(false), nn.BatchFirst(), nn.DropoutP(0.5), nn.Bidirectional()),
		"Bilinear(in1_features=2, in2_features=3, out_features=4, bias=False)":                   nn.NewBilinear(2, 3, 4, nn.Bias(false)),
		"LSTM(3, 4, proj_size=2)": nn.NewLSTM(3, 4, nn.ProjSize(2)),
		"RNN(3, 4)":               nn.NewRNN(3, 4, nn.Nonlinearity("relu")),
		"RNNCell(3, 4, bias=False, nonlinearity=relu)": nn.NewRNNCell(3, 4, nn.Nonlinearity("relu"), nn.Bias(false)),
		"GRUCell(2, 3)":  nn.NewGRUCell(2, 3),
		"LSTMCell(2, 3)": nn.NewLSTMCell(2, 3),
		"LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=False)":  nn.NewLayerNorm([]int{4}, nn.Bias(false)),
		"LayerNorm((2, 3), eps=1e-12, elementwise_affine=True, bias=True)": nn.NewLayerNorm([]int{2, 3}, nn.Eps(1e-12)),
	} {
		if got := m.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestSequenceErrors(t *testing.T) {
	g := nn.NewGRU(3, 4)
	m := nn.NewMultiheadAttention(4, 2)
	x := tensor.Zeros(3, 2, 4)
	for want, f := range map[string]func(){
		"tensor: new_gru: 0 to 4 features, NumLayers 1":                                                                                                func() { nn.NewGRU(0, 4) },
		"tensor: new_rnn: DropoutP is 2; want a probability from 0 to 1":                                                                               func() { nn.NewRNN(1, 4, nn.DropoutP(2)) },
		"tensor: new_lstm: ProjSize to 4 of 4 features; want fewer than the hidden features":                                                           func() { nn.NewLSTM(1, 4, nn.ProjSize(4)) },
		"tensor: new_gru: option ProjSize is not supported here":                                                                                       func() { nn.NewGRU(1, 4, nn.ProjSize(2)) },
		"tensor: new_gru_cell: 0 to 1 features":                                                                                                        func() { nn.NewGRUCell(0, 1) },
		"tensor: gru: shape (2, 3, 4): the input has the wrong shape; want (time, batch, in) or (time, in) with in = 3":                                func() { g.Forward(tensor.Zeros(2, 3, 4)) },
		"tensor: gru: shape (5, 2, 3): lengths (5, 6); want one for each sequence of the batch, from 1 to the number of time steps":                    func() { g.ForwardLengths(tensor.Zeros(5, 2, 3), nil, []int{5, 6}) },
		"tensor: gru: shape (5, 2, 3): lengths (5,)":                                                                                                   func() { g.ForwardLengths(tensor.Zeros(5, 2, 3), nil, []int{5}) },
		"tensor: gru: shape (0, 2, 3): the sequence is empty":                                                                                          func() { g.Forward(tensor.Zeros(0, 2, 3)) },
		"tensor: gru: shapes (5, 2, 3) and (1, 3, 4): the state does not match the input; want (1, 2, 4): (layers·directions, batch if any, features)": func() { g.ForwardState(tensor.Zeros(5, 2, 3), tensor.Zeros(1, 3, 4)) },
		"tensor: new_multihead_attention: embed 5, heads 2, kdim 5, vdim 5":                                                                            func() { nn.NewMultiheadAttention(5, 2) },
		"tensor: multi_head_attention_forward: shapes (3, 2, 4), (3, 2, 4) and (4, 2, 4): shapes of queries, keys and values do not match; want (L, batch, 4), (S, batch, 4) and (S, batch, 4), or all without batch": func() { m.Attend(x, x, tensor.Zeros(4, 2, 4)) },
		"tensor: multi_head_attention_forward: shape (3, 2): KeyPaddingMask has the wrong shape; want (batch, S) = (2, 3)":                                                                                            func() { m.Attend(x, x, x, nn.KeyPaddingMask(tensor.Zeros(3, 2))) },
		"tensor: multi_head_attention_forward: shape (2, 3): AttnMask has the wrong shape; want (L, S) = (3, 3) or (batch·heads, L, S) = (4, 3, 3)":                                                                   func() { m.Attend(x, x, x, nn.AttnMask(tensor.Zeros(2, 3))) },
		"tensor: new_bilinear: in1 0, in2 3, out 4":  func() { nn.NewBilinear(0, 3, 4) },
		"tensor: new_layer_norm: shape ():":          func() { nn.NewLayerNorm(nil) },
		"tensor: new_transformer_encoder: -1 layers": func() { nn.NewTransformerEncoder(nn.NewTransformerEncoderLayer(4, 2), -1, nil) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
