package nn

import "halfnote/tensor"

// RNN is a multi-layer recurrent network. It is torch.nn.RNN.
type RNN struct {
	recurrent
	relu bool
}

// NewRNN returns float32 layers from in features to hidden states of size hidden. Weights
// and biases are drawn uniformly from ±1/√hidden. It takes Nonlinearity, NumLayers,
// Bidirectional, BatchFirst, DropoutP (0 by default, between layers), Bias and InitFrom. It is
// torch.nn.RNN.
func NewRNN(in, hidden int, options ...Option) *RNN {
	c := configure("new_rnn", config{bias: true, sequence: sequence{layers: 1, nonlinearity: "tanh"}}, options,
		"Nonlinearity", "NumLayers", "Bidirectional", "BatchFirst", "DropoutP", "Bias", "InitFrom")
	relu := c.relu()
	return &RNN{newRecurrent("RNN", "new_rnn", 1, in, hidden, c), relu}
}

// ForwardState reads x (time, batch, in), or (time, in), starting from the states h (layers,
// batch, hidden), nil for zeros. It returns the last layer's states at each time step (time, batch, hidden)
// and each layer's last state, in h's shape. Bidirectional doubles the layers in h and the
// features in out.
func (r *RNN) ForwardState(x, h *tensor.Tensor) (out, last *tensor.Tensor) {
	return r.ForwardLengths(x, h, nil)
}

// ForwardLengths is ForwardState for sequences of the given lengths, one for each of the
// batch: later elements are not read, out is 0 there, and the last states are those at the sequences'
// ends. It is ForwardState between torch's pack_padded_sequence and pad_packed_sequence.
func (r *RNN) ForwardLengths(x, h *tensor.Tensor, lengths []int) (out, last *tensor.Tensor) {
	out, states := r.run(x, lengths, []*tensor.Tensor{h}, []int{r.hidden}, r.step)
	return out, states[0]
}

// ForwardPacked is ForwardState for a packed sequence, whose data is (sum of lengths, in). h
// and last are in the original order of the sequences.
func (r *RNN) ForwardPacked(x PackedSequence, h *tensor.Tensor) (out PackedSequence, last *tensor.Tensor) {
	out, states := r.runPacked(x, []*tensor.Tensor{h}, []int{r.hidden}, r.step)
	return out, states[0]
}

func (r *RNN) step(x *tensor.Tensor, s []*tensor.Tensor, w weights) []*tensor.Tensor {
	cell := tensor.RNNTanhCell
	if r.relu {
		cell = tensor.RNNReLUCell
	}
	return []*tensor.Tensor{cell(x, s[0], w.ih, w.hh, w.biasIH, w.biasHH)}
}

// Forward returns ForwardState's states at each time step, starting from zeros.
func (r *RNN) Forward(x *tensor.Tensor) *tensor.Tensor {
	out, _ := r.ForwardState(x, nil)
	return out
}

// GRU is a multi-layer network of gated recurrent units. It is torch.nn.GRU.
type GRU struct{ recurrent }

// NewGRU returns float32 layers from in features to hidden states of size hidden. Weights
// and biases are drawn uniformly from ±1/√hidden. It takes NumLayers, Bidirectional,
// BatchFirst, DropoutP (0 by default, between layers), Bias and InitFrom. It is torch.nn.GRU.
func NewGRU(in, hidden int, options ...Option) *GRU {
	c := configure("new_gru", config{bias: true, sequence: sequence{layers: 1, nonlinearity: "tanh"}}, options,
		"NumLayers", "Bidirectional", "BatchFirst", "DropoutP", "Bias", "InitFrom")
	return &GRU{newRecurrent("GRU", "new_gru", 3, in, hidden, c)}
}

// ForwardState is RNN's ForwardState.
func (g *GRU) ForwardState(x, h *tensor.Tensor) (out, last *tensor.Tensor) {
	return g.ForwardLengths(x, h, nil)
}

// ForwardLengths is RNN's ForwardLengths.
func (g *GRU) ForwardLengths(x, h *tensor.Tensor, lengths []int) (out, last *tensor.Tensor) {
	out, states := g.run(x, lengths, []*tensor.Tensor{h}, []int{g.hidden}, g.step)
	return out, states[0]
}

// ForwardPacked is RNN's ForwardPacked.
func (g *GRU) ForwardPacked(x PackedSequence, h *tensor.Tensor) (out PackedSequence, last *tensor.Tensor) {
	out, states := g.runPacked(x, []*tensor.Tensor{h}, []int{g.hidden}, g.step)
	return out, states[0]
}

func (g *GRU) step(x *tensor.Tensor, s []*tensor.Tensor, w weights) []*tensor.Tensor {
	return []*tensor.Tensor{tensor.GRUCell(x, s[0], w.ih, w.hh, w.biasIH, w.biasHH)}
}

// Forward returns ForwardState's states at each time step, starting from zeros.
func (g *GRU) Forward(x *tensor.Tensor) *tensor.Tensor {
	out, _ := g.ForwardState(x, nil)
	return out
}

// LSTM is a multi-layer long short-term memory. It is torch.nn.LSTM.
type LSTM struct{ recurrent }

// NewLSTM returns float32 layers from in features to hidden states of size hidden. Weights
// and biases are drawn uniformly from ±1/√hidden. It takes NumLayers, Bidirectional,
// BatchFirst, DropoutP (0 by default, between layers), ProjSize, Bias and InitFrom. It is
// torch.nn.LSTM.
func NewLSTM(in, hidden int, options ...Option) *LSTM {
	c := configure("new_lstm", config{bias: true, sequence: sequence{layers: 1, nonlinearity: "tanh"}}, options,
		"NumLayers", "Bidirectional", "BatchFirst", "DropoutP", "ProjSize", "Bias", "InitFrom")
	return &LSTM{newRecurrent("LSTM", "new_lstm", 4, in, hidden, c)}
}

// ForwardState is RNN's ForwardState with the cell states c next to the hidden states. With
// ProjSize, h and out have its number of features.
func (l *LSTM) ForwardState(x, h, c *tensor.Tensor) (out, lastH, lastC *tensor.Tensor) {
	return l.ForwardLengths(x, h, c, nil)
}

// ForwardLengths is RNN's ForwardLengths.
func (l *LSTM) ForwardLengths(x, h, c *tensor.Tensor, lengths []int) (out, lastH, lastC *tensor.Tensor) {
	out, states := l.run(x, lengths, []*tensor.Tensor{h, c}, []int{l.out(), l.hidden}, l.step)
	return out, states[0], states[1]
}

// ForwardPacked is RNN's ForwardPacked.
func (l *LSTM) ForwardPacked(x PackedSequence, h, c *tensor.Tensor) (out PackedSequence, lastH, lastC *tensor.Tensor) {
	out, states := l.runPacked(x, []*tensor.Tensor{h, c}, []int{l.out(), l.hidden}, l.step)
	return out, states[0], states[1]
}

func (l *LSTM) step(x *tensor.Tensor, s []*tensor.Tensor, w weights) []*tensor.Tensor {
	if w.hr == nil {
		h, c := tensor.LSTMStep(x, s[0], s[1], w.ih, w.hh, w.biasIH, w.biasHH)
		return []*tensor.Tensor{h, c}
	}
	h, c := tensor.LSTMCell(x, s[0], s[1], w.ih, w.hh, w.biasIH, w.biasHH)
	return []*tensor.Tensor{tensor.Linear(h, w.hr, nil), c}
}

// Forward returns ForwardState's hidden states at each time step, starting from zeros.
func (l *LSTM) Forward(x *tensor.Tensor) *tensor.Tensor {
	out, _, _ := l.ForwardState(x, nil, nil)
	return out
}
