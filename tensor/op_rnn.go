package tensor

import "slices"

// One step of a recurrent network. x is (n, in) or (in), the state h is (n, hidden) or
// (hidden), the weights are (gates·hidden, in) and (gates·hidden, hidden), and the biases are
// (gates·hidden) or both nil. Steps are computed in float32 and rounded once.

// recurrent has the operands x, h, c for LSTM, and the weights.
type recurrent struct{ states int }

// gates returns x wIHᵀ + bIH and h wHHᵀ + bHH.
func (r recurrent) gates(in []*Tensor) (fromInput, fromState *Tensor) {
	w := in[1+r.states:]
	var bIH, bHH *Tensor
	if len(w) == 4 {
		bIH, bHH = w[2], w[3]
	}
	return Linear(in[0], w[0], bIH), Linear(in[1], w[1], bHH)
}

// gate returns the i-th of n equal parts of the last dimension.
func gate(t *Tensor, i, n int) *Tensor {
	hidden := t.shape[len(t.shape)-1] / n
	return t.Slice(-1, i*hidden, (i+1)*hidden)
}

type rnnTanhCell struct{ recurrent }

func (rnnTanhCell) Info() Info {
	return info("rnn_tanh_cell", "torch.rnn_tanh_cell", SavesOperands)
}
func (r rnnTanhCell) f(in []*Tensor) *Tensor {
	x, h := r.gates(in)
	return x.Add(h).Tanh()
}
func (r rnnTanhCell) Forward(in []*Tensor) *Tensor {
	sameDType("rnn_tanh_cell", in)
	return compose(r.f, in)
}
func (r rnnTanhCell) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(r.f, dy, in) }

type rnnReLUCell struct{ recurrent }

func (rnnReLUCell) Info() Info {
	return info("rnn_relu_cell", "torch.rnn_relu_cell", SavesOperands)
}
func (r rnnReLUCell) f(in []*Tensor) *Tensor {
	x, h := r.gates(in)
	return x.Add(h).ReLU()
}
func (r rnnReLUCell) Forward(in []*Tensor) *Tensor {
	sameDType("rnn_relu_cell", in)
	return compose(r.f, in)
}
func (r rnnReLUCell) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(r.f, dy, in) }

type gruCell struct{ recurrent }

func (gruCell) Info() Info { return info("gru_cell", "torch.gru_cell", SavesOperands) }
func (g gruCell) f(in []*Tensor) *Tensor {
	x, h := g.gates(in)
	reset := gate(x, 0, 3).Add(gate(h, 0, 3)).Sigmoid()
	update := gate(x, 1, 3).Add(gate(h, 1, 3)).Sigmoid()
	fresh := gate(x, 2, 3).Add(gate(h, 2, 3).Mul(reset)).Tanh()
	return in[1].Sub(fresh).Mul(update).Add(fresh)
}
func (g gruCell) Forward(in []*Tensor) *Tensor {
	sameDType("gru_cell", in)
	return compose(g.f, in)
}
func (g gruCell) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(g.f, dy, in) }

// lstmCell returns h and c, concatenated along the last dimension.
type lstmCell struct {
	recurrent
	layer bool // a step of a layer
}

func (l lstmCell) Info() Info {
	if l.layer {
		return info("lstm", "torch.lstm", SavesOperands)
	}
	return info("lstm_cell", "torch.lstm_cell", SavesOperands)
}
func (l lstmCell) f(in []*Tensor) *Tensor {
	x, h := l.gates(in)
	all := x.Add(h)
	c := gate(all, 1, 4).Sigmoid().Mul(in[2]).Add(gate(all, 0, 4).Sigmoid().Mul(gate(all, 2, 4).Tanh()))
	return Cat(-1, gate(all, 3, 4).Sigmoid().Mul(c.Tanh()), c)
}
func (l lstmCell) Forward(in []*Tensor) *Tensor {
	sameDType(l.Info().Name, in)
	return compose(l.f, in)
}
func (l lstmCell) VJP(dy, _ *Tensor, in []*Tensor) []*Tensor { return derive(l.f, dy, in) }

// products counts the multiplications of the two matrix products.
func (r recurrent) products(in []*Tensor, _ *Tensor) int {
	w := in[1+r.states:]
	rows := in[0].Numel() / max(w[0].shape[1], 1)
	return rows * (w[0].Numel() + w[1].Numel())
}

// RNNTanhCell returns tanh(x wIHᵀ + bIH + h wHHᵀ + bHH), the next state. It is
// torch.rnn_tanh_cell.
func RNNTanhCell(x, h, wIH, wHH, bIH, bHH *Tensor) *Tensor {
	return apply(rnnTanhCell{recurrent{1}}, cellOperands("rnn_tanh_cell", 1, []*Tensor{x, h}, wIH, wHH, bIH, bHH)...)
}

// RNNReLUCell returns max(x wIHᵀ + bIH + h wHHᵀ + bHH, 0), the next state. It is
// torch.rnn_relu_cell.
func RNNReLUCell(x, h, wIH, wHH, bIH, bHH *Tensor) *Tensor {
	return apply(rnnReLUCell{recurrent{1}}, cellOperands("rnn_relu_cell", 1, []*Tensor{x, h}, wIH, wHH, bIH, bHH)...)
}

// GRUCell returns the next state of a gated recurrent unit. Its weights hold the gates in
// the order reset, update, new. It is torch.gru_cell.
func GRUCell(x, h, wIH, wHH, bIH, bHH *Tensor) *Tensor {
	return apply(gruCell{recurrent{1}}, cellOperands("gru_cell", 3, []*Tensor{x, h}, wIH, wHH, bIH, bHH)...)
}

// LSTMCell returns the next states of long short-term memory: the hidden state h and the
// cell state c. Its weights hold the gates in the order input, forget, cell, output. It is
// torch.lstm_cell.
func LSTMCell(x, h, c, wIH, wHH, bIH, bHH *Tensor) (nextH, nextC *Tensor) {
	return lstmCell{recurrent{2}, false}.step(x, h, c, wIH, wHH, bIH, bHH)
}

// LSTMStep is LSTMCell as a step of a layer. They differ under autocast for the CPU: the
// operations of a cell are cast one by one, and a layer runs in the policy's dtype as a whole.
// It is a step of torch.lstm.
func LSTMStep(x, h, c, wIH, wHH, bIH, bHH *Tensor) (nextH, nextC *Tensor) {
	return lstmCell{recurrent{2}, true}.step(x, h, c, wIH, wHH, bIH, bHH)
}

func (l lstmCell) step(x, h, c, wIH, wHH, bIH, bHH *Tensor) (nextH, nextC *Tensor) {
	y := apply(l, cellOperands(l.Info().Name, 4, []*Tensor{x, h, c}, wIH, wHH, bIH, bHH)...)
	return gate(y, 0, 2), gate(y, 1, 2)
}

// cellOperands returns the operands of a cell with the given number of gates in one list.
func cellOperands(op string, gates int, in []*Tensor, wIH, wHH, bIH, bHH *Tensor) []*Tensor {
	given(op, in...)
	need(op, "wIH", wIH != nil, "a tensor")
	need(op, "wHH", wHH != nil, "a tensor")
	states := in[1:]
	in = append(in, wIH, wHH)
	if bIH != nil && bHH != nil {
		in = append(in, bIH, bHH)
	} else if bIH != nil || bHH != nil {
		fail(op, in, "only one bias is set; want both bIH and bHH or neither")
	}
	x, n := in[0], len(in[0].shape)
	if n < 1 || n > 2 || len(wIH.shape) != 2 || len(wHH.shape) != 2 || x.shape[n-1] != wIH.shape[1] {
		fail(op, in, "input and weight do not match; want input (n, in) or (in,) and weight (%d hidden, in)", gates)
	}
	hidden := wIH.shape[0] / gates
	sizes := []int{wHH.shape[1], hidden} // LSTM's h may be a projection
	if wIH.shape[0] != gates*hidden || wHH.shape[0] != gates*hidden || len(states) == 1 && sizes[0] != hidden {
		fail(op, in, "the weights do not match; want (%d hidden, in) and (%d hidden, hidden)", gates, gates)
	}
	for i, s := range states {
		want := append(slices.Clone(x.shape[:n-1]), sizes[i])
		if !slices.Equal(s.shape, want) {
			fail(op, in, "state has shape %s; want %s", shapeString(s.shape), shapeString(want))
		}
	}
	for _, b := range in[len(states)+3:] {
		if len(b.shape) != 1 || b.shape[0] != gates*hidden {
			fail(op, in, "bias has shape %s; want (%d,)", shapeString(b.shape), gates*hidden)
		}
	}
	return in
}

func (r rnnTanhCell) parts(in []*Tensor) *Tensor { return r.f(in) }
func (r rnnReLUCell) parts(in []*Tensor) *Tensor { return r.f(in) }
func (g gruCell) parts(in []*Tensor) *Tensor     { return g.f(in) }
func (l lstmCell) parts(in []*Tensor) *Tensor    { return l.f(in) }
