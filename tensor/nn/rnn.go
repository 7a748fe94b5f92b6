package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/internal/text"
	"halfnote/tensor"
)

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

// recurrent holds the state common to RNN, GRU and LSTM.
type recurrent struct {
	TrainingMode
	// Weights have torch's names, layer by layer: "weight_ih_l0", "weight_hh_l0",
	// "bias_ih_l0", "bias_hh_l0", "weight_hr_l0" with projections, then those with
	// "_reverse".
	Weights []Named

	name       string
	in, hidden int
	c          config
}

func newRecurrent(name, constructor string, gates, in, hidden int, c config) recurrent {
	switch {
	case in < 1 || hidden < 1 || c.layers < 1:
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("%d to %d features, NumLayers %d; want at least 1 each", in, hidden, c.layers)})
	case c.projection < 0 || c.projection >= hidden:
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("ProjSize to %d of %d features; want fewer than the hidden features", c.projection, hidden)})
	case !(c.dropout >= 0 && c.dropout <= 1):
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("DropoutP is %v; want a probability from 0 to 1", c.dropout)})
	}
	r := recurrent{name: name, in: in, hidden: hidden, c: c}
	bound := 1 / math.Sqrt(float64(hidden))
	add := func(name string, shape ...int) {
		r.Weights = append(r.Weights, Named{name, c.uniform(-bound, bound, shape...).RequireGrad()})
	}
	for layer := range c.layers {
		if layer > 0 {
			in = r.out() * r.directions()
		}
		for direction := range r.directions() {
			suffix := fmt.Sprintf("_l%d%s", layer, []string{"", "_reverse"}[direction])
			add("weight_ih"+suffix, gates*hidden, in)
			add("weight_hh"+suffix, gates*hidden, r.out())
			if c.bias {
				add("bias_ih"+suffix, gates*hidden)
				add("bias_hh"+suffix, gates*hidden)
			}
			if c.projection > 0 {
				add("weight_hr"+suffix, c.projection, hidden)
			}
		}
	}
	return r
}

// out returns the number of features of the output state.
func (r *recurrent) out() int {
	if r.c.projection > 0 {
		return r.c.projection
	}
	return r.hidden
}

func (r *recurrent) directions() int {
	if r.c.bidirectional {
		return 2
	}
	return 1
}

// weights are those of one layer in one direction.
type weights struct{ ih, hh, biasIH, biasHH, hr *tensor.Tensor }

// at returns the weights of the i-th network, layer by layer.
func (r *recurrent) at(i int) weights {
	n := len(r.Weights) / (r.c.layers * r.directions())
	list := r.Weights[i*n : (i+1)*n]
	w := weights{ih: list[0].Tensor, hh: list[1].Tensor}
	if r.c.bias {
		w.biasIH, w.biasHH = list[2].Tensor, list[3].Tensor
	}
	if r.c.projection > 0 {
		w.hr = list[n-1].Tensor
	}
	return w
}

// stepper returns the states after x, the first of which is the output.
type stepper func(x *tensor.Tensor, states []*tensor.Tensor, w weights) []*tensor.Tensor

// run reads x. Each network starts from its part of each of states, whose features are
// sizes; nil means zeros. Sequences end after lengths, if not nil.
func (r *recurrent) run(x *tensor.Tensor, lengths []int, states []*tensor.Tensor, sizes []int, step stepper) (out *tensor.Tensor, last []*tensor.Tensor) {
	r.check(x, lengths, states, sizes)
	if lengths != nil {
		return r.runLengths(x, lengths, states, sizes, step)
	}
	single := x.Dim() == 2
	if single {
		x = x.Unsqueeze(1)
		states = each(states, func(s *tensor.Tensor) *tensor.Tensor { return s.Unsqueeze(1) })
	} else if r.c.batchFirst {
		x = x.Transpose(0, 1)
	}
	stack := func(list []*tensor.Tensor) *tensor.Tensor { return tensor.Stack(0, list...) }
	output, last := r.layers(slicesOf(x), r.initial(x, x.Size(1), states, sizes), step, func(list []*tensor.Tensor) []*tensor.Tensor {
		return slicesOf(tensor.Dropout(stack(list), r.c.dropout, true))
	})
	out = stack(output)
	if single {
		return out.Squeeze(1), each(last, func(s *tensor.Tensor) *tensor.Tensor { return s.Squeeze(1) })
	} else if r.c.batchFirst {
		return out.Transpose(0, 1), last
	}
	return out, last
}

// runLengths is run through a packed sequence.
func (r *recurrent) runLengths(x *tensor.Tensor, lengths []int, states []*tensor.Tensor, sizes []int, step stepper) (out *tensor.Tensor, last []*tensor.Tensor) {
	var layout []Option
	times := x.Size(0)
	if r.c.batchFirst {
		layout, times = []Option{BatchFirst()}, x.Size(1)
	}
	p, last := r.runPacked(PackPaddedSequence(x, lengths, append(layout, EnforceSorted(false))...), states, sizes, step)
	out, _ = PadPackedSequence(p, append(layout, TotalLength(times))...)
	return out, last
}

// runPacked is run for a packed sequence. The states are in the original order of the
// sequences.
func (r *recurrent) runPacked(p PackedSequence, states []*tensor.Tensor, sizes []int, step stepper) (out PackedSequence, last []*tensor.Tensor) {
	r.checkPacked(p, states, sizes)
	reorder := func(states []*tensor.Tensor, indices []int) []*tensor.Tensor {
		if indices == nil {
			return states
		}
		return each(states, func(s *tensor.Tensor) *tensor.Tensor { return s.IndexSelect(1, positionsOn(s, indices)) })
	}
	states = reorder(states, p.SortedIndices)
	join := func(list []*tensor.Tensor) *tensor.Tensor { return tensor.Cat(0, list...) }
	output, last := r.layers(rowsOf(p.Data, p.BatchSizes), r.initial(p.Data, p.BatchSizes[0], states, sizes), step, func(list []*tensor.Tensor) []*tensor.Tensor {
		return rowsOf(tensor.Dropout(join(list), r.c.dropout, true), p.BatchSizes)
	})
	p.Data = join(output)
	return p, reorder(last, p.UnsortedIndices)
}

// each returns f of each of the tensors that are not nil.
func each(list []*tensor.Tensor, f func(*tensor.Tensor) *tensor.Tensor) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(list))
	for i, t := range list {
		if t != nil {
			out[i] = f(t)
		}
	}
	return out
}

// initial returns the states from which each network starts, by network.
func (r *recurrent) initial(x *tensor.Tensor, batch int, states []*tensor.Tensor, sizes []int) [][]*tensor.Tensor {
	first := make([][]*tensor.Tensor, r.c.layers*r.directions())
	for i, s := range states {
		if s == nil {
			s = zerosLike(x, len(first), batch, sizes[i])
		}
		for network, s := range slicesOf(s) {
			first[network] = append(first[network], s)
		}
	}
	return first
}

// layers reads input (sequences, features) at each time step, where the number of sequences
// does not increase, and returns the output at each time step and the last of each state, by
// network. drop is applied between layers in training.
func (r *recurrent) layers(input []*tensor.Tensor, first [][]*tensor.Tensor, step stepper, drop func([]*tensor.Tensor) []*tensor.Tensor) (output, last []*tensor.Tensor) {
	final := make([][]*tensor.Tensor, len(first[0]))
	for layer := range r.c.layers {
		if layer > 0 && r.c.dropout > 0 && r.Training() {
			input = drop(input)
		}
		outputs := make([][]*tensor.Tensor, len(input))
		for direction := range r.directions() {
			network := layer*r.directions() + direction
			s := pass(input, first[network], r.at(network), step, direction == 1, func(t int, y *tensor.Tensor) {
				outputs[t] = append(outputs[t], y)
			})
			for i := range s {
				final[i] = append(final[i], s[i])
			}
		}
		input = make([]*tensor.Tensor, len(outputs))
		for t, o := range outputs {
			input[t] = tensor.Cat(-1, o...)
		}
	}
	for _, f := range final {
		last = append(last, tensor.Stack(0, f...))
	}
	return input, last
}

// pass reads input with one network, from its end if it is reversed, calls show with the
// output at each time step and returns the last states. Where fewer sequences remain than
// before, the states of the ended ones are set aside; where there are more, the new ones
// begin from their first states.
func pass(input, first []*tensor.Tensor, w weights, step stepper, reversed bool, show func(t int, y *tensor.Tensor)) []*tensor.Tensor {
	rows := func(states []*tensor.Tensor, from, to int) []*tensor.Tensor {
		return each(states, func(s *tensor.Tensor) *tensor.Tensor { return s.Slice(0, from, to) })
	}
	s, batch := first, first[0].Size(0)
	if reversed {
		if n := input[len(input)-1].Size(0); n < batch {
			s = rows(first, 0, n)
		}
	}
	ended := make([][]*tensor.Tensor, len(s))
	for n := range input {
		t := n
		if reversed {
			t = len(input) - 1 - n
		}
		have, want := s[0].Size(0), input[t].Size(0)
		if want < have {
			for i, e := range rows(s, want, have) {
				ended[i] = append(ended[i], e)
			}
			s = rows(s, 0, want)
		} else if want > have {
			more := rows(first, have, want)
			for i := range more {
				more[i] = tensor.Cat(0, s[i], more[i].To(s[i].DType()))
			}
			s = more
		}
		s = step(input[t], s, w)
		show(t, s[0])
	}
	for i, e := range ended {
		if len(e) > 0 {
			slices.Reverse(e) // the longest sequence ended last
			s[i] = tensor.Cat(0, append([]*tensor.Tensor{s[i]}, e...)...)
		}
	}
	return s
}

// rowsOf splits x along its first dimension into parts of the given sizes, by halves as in
// slicesOf.
func rowsOf(x *tensor.Tensor, sizes []int) []*tensor.Tensor {
	if len(sizes) == 1 {
		return []*tensor.Tensor{x}
	}
	half, rows := len(sizes)/2, 0
	for _, n := range sizes[:half] {
		rows += n
	}
	return append(rowsOf(x.Slice(0, 0, rows), sizes[:half]), rowsOf(x.Slice(0, rows, x.Size(0)), sizes[half:])...)
}

// checkPacked panics unless p and the states match the layers.
func (r *recurrent) checkPacked(p PackedSequence, states []*tensor.Tensor, sizes []int) {
	op := strings.ToLower(r.name)
	p.check(op)
	if shape := p.Data.Shape(); len(shape) != 2 || shape[1] != r.in {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape}, Why: fmt.Sprintf("the packed data has the wrong shape; want (sum of lengths, in) with in = %d", r.in)})
	}
	for i, s := range states {
		r.checkState(op, p.Data.Shape(), s, []int{r.c.layers * r.directions(), p.BatchSizes[0], sizes[i]})
	}
}

// checkState panics if the state s is not nil and does not have the shape want.
func (r *recurrent) checkState(op string, input []int, s *tensor.Tensor, want []int) {
	if s != nil && !slices.Equal(s.Shape(), want) {
		panic(&tensor.Error{Op: op, Shapes: [][]int{input, s.Shape()}, Why: text.Sprintf("the state does not match the input; want %v: (layers·directions, batch if any, features)", want)})
	}
}

func (r *recurrent) check(x *tensor.Tensor, lengths []int, states []*tensor.Tensor, sizes []int) {
	op := strings.ToLower(r.name)
	layout := "(time, batch, in)"
	if r.c.batchFirst {
		layout = "(batch, time, in)"
	}
	shape := x.Shape()
	if n := len(shape); n < 2 || n > 3 || shape[n-1] != r.in {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape}, Why: fmt.Sprintf("the input has the wrong shape; want %s or (time, in) with in = %d", layout, r.in)})
	}
	time, batch := 0, 1
	if r.c.batchFirst && len(shape) == 3 {
		time, batch = 1, 0
	}
	if shape[time] == 0 {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape}, Why: "the sequence is empty; want at least one time step"})
	}
	if lengths != nil && (len(shape) != 3 || len(lengths) != shape[batch] || len(lengths) > 0 && (slices.Min(lengths) < 1 || slices.Max(lengths) > shape[time])) {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape}, Why: text.Sprintf("lengths %v; want one for each sequence of the batch, from 1 to the number of time steps", lengths)})
	}
	for i, s := range states {
		want := []int{r.c.layers * r.directions(), sizes[i]}
		if len(shape) == 3 {
			want = slices.Insert(want, 1, shape[batch])
		}
		r.checkState(op, shape, s, want)
	}
}

// slicesOf returns the slices of x along its first dimension. It splits by halves, so that
// adding up their gradients costs the size of x times the logarithm of their number.
func slicesOf(x *tensor.Tensor) []*tensor.Tensor {
	n := x.Size(0)
	if n == 1 {
		return []*tensor.Tensor{x.Squeeze(0)}
	}
	return append(slicesOf(x.Slice(0, 0, n/2)), slicesOf(x.Slice(0, n/2, n))...)
}

// String returns what torch prints.
func (r *recurrent) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(%d, %d", r.name, r.in, r.hidden)
	if r.c.projection > 0 {
		fmt.Fprintf(&b, ", proj_size=%d", r.c.projection)
	}
	if r.c.layers > 1 {
		fmt.Fprintf(&b, ", num_layers=%d", r.c.layers)
	}
	for _, o := range []struct {
		on   bool
		text string
	}{
		{!r.c.bias, ", bias=False"}, {r.c.batchFirst, ", batch_first=True"},
		{r.c.dropout > 0, fmt.Sprintf(", dropout=%v", r.c.dropout)}, {r.c.bidirectional, ", bidirectional=True"},
	} {
		if o.on {
			b.WriteString(o.text)
		}
	}
	return b.String() + ")"
}
