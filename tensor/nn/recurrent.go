package nn

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"halfnote/tensor"
)

// recurrent is what the networks of layers of cells have in common.
type recurrent struct {
	Mode
	// Weights are named as in torch: "weight_ih_l0", "weight_hh_l0", "bias_ih_l0",
	// "bias_hh_l0", with projections "weight_hr_l0", then those with "_reverse", layer
	// by layer.
	Weights []Named

	name       string
	in, hidden int
	c          config
}

func newRecurrent(name, constructor string, gates, in, hidden int, c config) recurrent {
	switch {
	case in < 1 || hidden < 1 || c.layers < 1:
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("%d to %d features in %d layers; expected 1 or more of each", in, hidden, c.layers)})
	case c.projection < 0 || c.projection >= hidden:
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("a projection to %d of %d features; expected fewer than those", c.projection, hidden)})
	case !(c.dropout >= 0 && c.dropout <= 1):
		panic(&tensor.Error{Op: constructor, Why: fmt.Sprintf("dropout with probability %v; expected 0 to 1", c.dropout)})
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

// out returns the number of features of the state that goes out.
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

// stepper returns the states after x, the first of which goes out.
type stepper func(x *tensor.Tensor, states []*tensor.Tensor, w weights) []*tensor.Tensor

// run reads x, each network starting from its part of each of states, whose features
// sizes names; nil stands for zeros. Sequences end after lengths, unless that is nil.
func (r *recurrent) run(x *tensor.Tensor, lengths []int, states []*tensor.Tensor, sizes []int, step stepper) (out *tensor.Tensor, last []*tensor.Tensor) {
	single := x.Dim() == 2
	r.check(x, lengths, states, sizes)
	if single {
		x = x.Unsqueeze(1)
	} else if r.c.batchFirst {
		x = x.Transpose(0, 1)
	}
	networks := r.c.layers * r.directions()
	first := make([][]*tensor.Tensor, len(states))
	for i, s := range states {
		if s == nil {
			s = zerosBeside(x, networks, x.Size(1), sizes[i])
		} else if single {
			s = s.Unsqueeze(1)
		}
		first[i] = slicesOf(s)
	}
	final := make([][]*tensor.Tensor, len(states))
	input := slicesOf(x)
	within := masks(lengths, len(input), x.Device())
	for layer := range r.c.layers {
		if layer > 0 && r.c.dropout > 0 && r.Training() {
			input = slicesOf(tensor.Stack(0, input...).Dropout(r.c.dropout, true))
		}
		output := make([][]*tensor.Tensor, len(input))
		for direction := range r.directions() {
			network := layer*r.directions() + direction
			s := make([]*tensor.Tensor, len(states))
			for i := range s {
				s[i] = first[i][network]
			}
			w := r.at(network)
			for n := range input {
				t := n
				if direction == 1 {
					t = len(input) - 1 - n
				}
				next := step(input[t], s, w)
				if within != nil {
					for i := range next {
						next[i] = within[t].Where(next[i], s[i].To(next[i].DType()))
					}
					output[t] = append(output[t], within[t].Where(next[0], zerosBeside(next[0])))
				} else {
					output[t] = append(output[t], next[0])
				}
				s = next
			}
			for i := range s {
				final[i] = append(final[i], s[i])
			}
		}
		for t, o := range output {
			input[t] = tensor.Cat(-1, o...)
		}
	}
	out = tensor.Stack(0, input...)
	for _, f := range final {
		s := tensor.Stack(0, f...)
		if single {
			s = s.Squeeze(1)
		}
		last = append(last, s)
	}
	if single {
		return out.Squeeze(1), last
	} else if r.c.batchFirst {
		return out.Transpose(0, 1), last
	}
	return out, last
}

// masks returns for each time which sequences (n, 1) have not ended, nil without
// lengths.
func masks(lengths []int, times int, d tensor.Device) []*tensor.Tensor {
	if lengths == nil {
		return nil
	}
	out := make([]*tensor.Tensor, times)
	for t := range out {
		within := make([]bool, len(lengths))
		for i, n := range lengths {
			within[i] = t < n
		}
		out[t] = tensor.FromBools(within, len(lengths), 1).ToDevice(d)
	}
	return out
}

func (r *recurrent) check(x *tensor.Tensor, lengths []int, states []*tensor.Tensor, sizes []int) {
	op := strings.ToLower(r.name)
	layout := "(time, batch, in)"
	if r.c.batchFirst {
		layout = "(batch, time, in)"
	}
	shape := x.Shape()
	if n := len(shape); n < 2 || n > 3 || shape[n-1] != r.in {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape}, Why: fmt.Sprintf("the input does not fit; expected %s or (time, in), in being %d", layout, r.in)})
	}
	time, batch := 0, 1
	if r.c.batchFirst && len(shape) == 3 {
		time, batch = 1, 0
	}
	if shape[time] == 0 {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape}, Why: "there is no step of time; expected one or more"})
	}
	if lengths != nil && (len(shape) != 3 || len(lengths) != shape[batch] || len(lengths) > 0 && (slices.Min(lengths) < 1 || slices.Max(lengths) > shape[time])) {
		panic(&tensor.Error{Op: op, Shapes: [][]int{shape}, Why: fmt.Sprintf("lengths %v do not fit; expected one for each sequence of the batch, from 1 to the times", lengths)})
	}
	for i, s := range states {
		want := []int{r.c.layers * r.directions(), sizes[i]}
		if len(shape) == 3 {
			want = slices.Insert(want, 1, shape[batch])
		}
		if s != nil && !slices.Equal(s.Shape(), want) {
			panic(&tensor.Error{Op: op, Shapes: [][]int{shape, s.Shape()}, Why: fmt.Sprintf("the state does not fit the input; expected shape %v: layers and directions, batch if there is one, features", want)})
		}
	}
}

// slicesOf returns the slices of x along its first dimension. They are cut out by
// halves, so that putting their gradients together costs the size of x times the
// logarithm of their number.
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
