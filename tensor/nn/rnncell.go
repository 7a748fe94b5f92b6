package nn

import (
	"fmt"
	"math"

	"halfnote/tensor"
)

// cell holds the state common to layers of one recurrent step.
type cell struct {
	WeightIH *tensor.Tensor // (gates hidden, in)
	WeightHH *tensor.Tensor // (gates hidden, hidden)
	BiasIH   *tensor.Tensor // (gates hidden), or nil
	BiasHH   *tensor.Tensor // (gates hidden), or nil
}

func newCell(constructor string, gates, in, hidden int, c config) cell {
	if in < 1 || hidden < 1 {
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("%d to %d features; want at least 1 each", in, hidden)})
	}
	bound := 1 / math.Sqrt(float64(hidden))
	draw := func(shape ...int) *tensor.Tensor { return c.uniform(-bound, bound, shape...).RequireGrad() }
	w := cell{WeightIH: draw(gates*hidden, in), WeightHH: draw(gates*hidden, hidden)}
	if c.bias {
		w.BiasIH, w.BiasHH = draw(gates*hidden), draw(gates*hidden)
	}
	return w
}

// initial returns h, or zeros like x if it is nil.
func (c *cell) initial(x, h *tensor.Tensor) *tensor.Tensor {
	if h != nil {
		return h
	}
	return zerosLike(x, append(x.Shape()[:x.Dim()-1], c.WeightHH.Size(1))...)
}

func (c *cell) string(name, more string) string {
	if c.BiasIH == nil {
		more = ", bias=False" + more
	}
	return fmt.Sprintf("%s(%d, %d%s)", name, c.WeightIH.Size(1), c.WeightHH.Size(1), more)
}

// RNNCell is one step of a recurrent network. It is torch.nn.RNNCell.
type RNNCell struct {
	cell
	relu bool
}

// NewRNNCell returns a float32 cell from in features to a state of size hidden. Weights and
// biases are drawn uniformly from ±1/√hidden. It takes Nonlinearity, Bias and
// InitFrom. It is torch.nn.RNNCell.
func NewRNNCell(in, hidden int, options ...Option) *RNNCell {
	c := configure("new_rnn_cell", config{bias: true, sequence: sequence{nonlinearity: "tanh"}}, options, "Nonlinearity", "Bias", "InitFrom")
	relu := c.relu()
	return &RNNCell{newCell("new_rnn_cell", 1, in, hidden, c), relu}
}

// ForwardState returns the state after x (n, in) or (in), from the state h (n, hidden) or
// (hidden), nil for zeros.
func (r *RNNCell) ForwardState(x, h *tensor.Tensor) *tensor.Tensor {
	step := tensor.RNNTanhCell
	if r.relu {
		step = tensor.RNNReLUCell
	}
	return step(x, r.initial(x, h), r.WeightIH, r.WeightHH, r.BiasIH, r.BiasHH)
}

// Forward is ForwardState starting from zeros.
func (r *RNNCell) Forward(x *tensor.Tensor) *tensor.Tensor { return r.ForwardState(x, nil) }

// String returns what torch prints.
func (r *RNNCell) String() string {
	if r.relu {
		return r.string("RNNCell", ", nonlinearity=relu")
	}
	return r.string("RNNCell", "")
}

// GRUCell is one step of a gated recurrent unit. It is torch.nn.GRUCell.
type GRUCell struct{ cell }

// NewGRUCell returns a float32 cell from in features to a state of size hidden. Weights and
// biases are drawn uniformly from ±1/√hidden. It takes Bias and InitFrom. It is
// torch.nn.GRUCell.
func NewGRUCell(in, hidden int, options ...Option) *GRUCell {
	c := configure("new_gru_cell", config{bias: true}, options, "Bias", "InitFrom")
	return &GRUCell{newCell("new_gru_cell", 3, in, hidden, c)}
}

// ForwardState returns the state after x (n, in) or (in), from the state h (n, hidden) or
// (hidden), nil for zeros.
func (g *GRUCell) ForwardState(x, h *tensor.Tensor) *tensor.Tensor {
	return tensor.GRUCell(x, g.initial(x, h), g.WeightIH, g.WeightHH, g.BiasIH, g.BiasHH)
}

// Forward is ForwardState starting from zeros.
func (g *GRUCell) Forward(x *tensor.Tensor) *tensor.Tensor { return g.ForwardState(x, nil) }

// String returns what torch prints.
func (g *GRUCell) String() string { return g.string("GRUCell", "") }

// LSTMCell is one step of a long short-term memory. It is torch.nn.LSTMCell.
type LSTMCell struct{ cell }

// NewLSTMCell returns a float32 cell from in features to states of size hidden. Weights and
// biases are drawn uniformly from ±1/√hidden. It takes Bias and InitFrom. It is
// torch.nn.LSTMCell.
func NewLSTMCell(in, hidden int, options ...Option) *LSTMCell {
	c := configure("new_lstm_cell", config{bias: true}, options, "Bias", "InitFrom")
	return &LSTMCell{newCell("new_lstm_cell", 4, in, hidden, c)}
}

// ForwardState returns the hidden and the cell state after x (n, in) or (in), from the states h and
// c, (n, hidden) or (hidden), nil for zeros.
func (l *LSTMCell) ForwardState(x, h, c *tensor.Tensor) (nextH, nextC *tensor.Tensor) {
	return tensor.LSTMCell(x, l.initial(x, h), l.initial(x, c), l.WeightIH, l.WeightHH, l.BiasIH, l.BiasHH)
}

// Forward returns ForwardState's hidden state, starting from zeros.
func (l *LSTMCell) Forward(x *tensor.Tensor) *tensor.Tensor {
	h, _ := l.ForwardState(x, nil, nil)
	return h
}

// String returns what torch prints.
func (l *LSTMCell) String() string { return l.string("LSTMCell", "") }

// zerosLike returns zeros of x's dtype and device.
func zerosLike(x *tensor.Tensor, shape ...int) *tensor.Tensor {
	return tensor.Zeros(shape...).To(x.DType()).ToDevice(x.Device())
}
