package nn

import (
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// PaddingValue is the value of padding: 0 by default. It is padding_value.
func PaddingValue(v float64) Option {
	return Option{"PaddingValue", func(c *config) { c.paddingValue = v }}
}

// PaddingSide is the side that is padded: "right", the end, by default, or "left". It is
// padding_side.
func PaddingSide(side string) Option {
	return Option{"PaddingSide", func(c *config) { c.paddingSide = side }}
}

// PadSequence stacks sequences (length, …) of different lengths into (longest, batch, …),
// padding the short ones. It takes BatchFirst, for (batch, longest, …), PaddingValue, 0 by
// default, and PaddingSide. It is torch.nn.utils.rnn.pad_sequence.
func PadSequence(sequences []*tensor.Tensor, options ...Option) *tensor.Tensor {
	const op = "pad_sequence"
	c := configure(op, config{sequence: sequence{paddingSide: "right"}}, options, "BatchFirst", "PaddingValue", "PaddingSide")
	if c.paddingSide != "right" && c.paddingSide != "left" {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("PaddingSide is %q; want \"right\" or \"left\"", c.paddingSide)})
	}
	longest := checkSequences(op, sequences)
	padded := make([]*tensor.Tensor, len(sequences))
	for i, s := range sequences {
		missing := longest - s.Size(0)
		if missing == 0 {
			padded[i] = s
			continue
		}
		sides := make([]int, 2*s.Dim()) // amounts of padding, last dimension first
		sides[len(sides)-1] = missing
		if c.paddingSide == "left" {
			slices.Reverse(sides[len(sides)-2:])
		}
		padded[i] = s.Pad(sides, tensor.PadOptions{Value: c.paddingValue})
	}
	if c.batchFirst {
		return tensor.Stack(0, padded...)
	}
	return tensor.Stack(1, padded...)
}

// checkSequences panics unless the sequences differ only in length, and returns the largest
// length.
func checkSequences(op string, sequences []*tensor.Tensor) (longest int) {
	if len(sequences) == 0 {
		panic(&tensor.Error{Op: op, Why: "the list is empty; want at least one sequence"})
	}
	for i, s := range sequences {
		if s == nil {
			panic(&tensor.Error{Op: op, Why: fmt.Sprintf("sequence %d is nil; want a tensor (length, …)", i)})
		}
		if s.Dim() == 0 || !slices.Equal(s.Shape()[1:], sequences[0].Shape()[1:]) {
			panic(&tensor.Error{Op: op, Shapes: [][]int{sequences[0].Shape(), s.Shape()}, Why: fmt.Sprintf("shapes of sequences 0 and %d differ; want (length, …), equal after the first dimension", i)})
		}
		longest = max(longest, s.Size(0))
	}
	return longest
}

// UnpadSequence returns the sequences (length, …) of x (time, batch, …), which have the
// given lengths. It takes BatchFirst, for x (batch, time, …). It is
// torch.nn.utils.rnn.unpad_sequence.
func UnpadSequence(x *tensor.Tensor, lengths []int, options ...Option) []*tensor.Tensor {
	const op = "unpad_sequence"
	c := configure(op, config{}, options, "BatchFirst")
	times, batch := timesAndBatch(op, x, c.batchFirst)
	if len(lengths) != batch || batch > 0 && (slices.Min(lengths) < 0 || slices.Max(lengths) > times) {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape()}, Why: text.Sprintf("lengths %v; want one for each of the sequences (batch %d), from 0 to %d", lengths, batch, times)})
	}
	if !c.batchFirst {
		x = x.Transpose(0, 1)
	}
	out := make([]*tensor.Tensor, batch)
	for i, n := range lengths {
		out[i] = x.Select(0, i).Slice(0, 0, n)
	}
	return out
}
