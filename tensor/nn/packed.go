package nn

import (
	"cmp"
	"fmt"
	"slices"

	"halfnote/internal/text"
	"halfnote/tensor"
)

// PackedSequence holds sequences of different lengths without padding: the elements of all
// sequences at time 0, longest sequence first, then those at time 1, and so on. [RNN], [GRU]
// and [LSTM] read it. It is torch.nn.utils.rnn.PackedSequence.
type PackedSequence struct {
	Data            *tensor.Tensor // (sum of the lengths, …)
	BatchSizes      []int          // number of sequences at each time
	SortedIndices   []int          // original index of each sorted sequence; nil if given in order
	UnsortedIndices []int          // sorted position of each original sequence; nil likewise
}

// EnforceSorted requires lengths in decreasing order; on by default. When off, sequences
// are sorted, and unpacking restores their order. It is enforce_sorted.
func EnforceSorted(on bool) Option {
	return Option{"EnforceSorted", func(c *config) { c.unsorted = !on }}
}

// TotalLength pads to n time steps; by default to the longest sequence. It is total_length.
func TotalLength(n int) Option { return Option{"TotalLength", func(c *config) { c.total = n }} }

// PackPaddedSequence packs x (time, batch, …), whose sequences have the given lengths: each
// from 1 to the number of time steps, in decreasing order unless EnforceSorted(false) is
// given. It takes BatchFirst, for x (batch, time, …), and EnforceSorted. It is
// torch.nn.utils.rnn.pack_padded_sequence.
func PackPaddedSequence(x *tensor.Tensor, lengths []int, options ...Option) PackedSequence {
	const op = "pack_padded_sequence"
	c := configure(op, config{}, options, "BatchFirst", "EnforceSorted")
	times, batch := timesAndBatch(op, x, c.batchFirst)
	if len(lengths) != batch || batch == 0 || slices.Min(lengths) < 1 || slices.Max(lengths) > times {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape()}, Why: text.Sprintf("lengths %v; want one for each of the sequences (batch %d), from 1 to %d", lengths, batch, times)})
	}
	p := order(op, lengths, c.unsorted)
	var rows []int
	for t, n := range p.BatchSizes {
		for place := range n {
			rows = append(rows, rowAt(t, p.sequence(place), times, batch, c.batchFirst))
		}
	}
	p.Data = joinFirst(x).IndexSelect(0, positionsOn(x, rows))
	return p
}

// order returns a packed sequence of lengths without data.
func order(op string, lengths []int, unsorted bool) PackedSequence {
	var p PackedSequence
	sorted := slices.Clone(lengths)
	if unsorted {
		p.SortedIndices = make([]int, len(lengths))
		for i := range lengths {
			p.SortedIndices[i] = i
		}
		slices.SortStableFunc(p.SortedIndices, func(i, j int) int { return cmp.Compare(lengths[j], lengths[i]) })
		p.UnsortedIndices = make([]int, len(lengths))
		for place, i := range p.SortedIndices {
			p.UnsortedIndices[i] = place
			sorted[place] = lengths[i]
		}
	}
	for i := 1; i < len(sorted); i++ {
		if sorted[i] > sorted[i-1] {
			panic(&tensor.Error{Op: op, Why: text.Sprintf("lengths %v are not in decreasing order; sort them, or use the option EnforceSorted(false)", lengths)})
		}
	}
	p.BatchSizes = make([]int, sorted[0])
	for _, n := range sorted {
		for t := range n {
			p.BatchSizes[t]++
		}
	}
	return p
}

// sequence returns the original index of the sequence at a sorted position.
func (p PackedSequence) sequence(place int) int {
	if p.SortedIndices == nil {
		return place
	}
	return p.SortedIndices[place]
}

// Lengths returns the lengths of the sequences in their original order.
func (p PackedSequence) Lengths() []int {
	if len(p.BatchSizes) == 0 {
		return nil
	}
	lengths := make([]int, p.BatchSizes[0])
	for _, n := range p.BatchSizes {
		for place := range n {
			lengths[p.sequence(place)]++
		}
	}
	return lengths
}

// PadPackedSequence returns the sequences of p as (time, batch, …) in their original order,
// padded with PaddingValue, and their lengths. It takes BatchFirst, for (batch, time, …),
// PaddingValue, 0 by default, and TotalLength. It is
// torch.nn.utils.rnn.pad_packed_sequence.
func PadPackedSequence(p PackedSequence, options ...Option) (padded *tensor.Tensor, lengths []int) {
	const op = "pad_packed_sequence"
	c := configure(op, config{}, options, "BatchFirst", "PaddingValue", "TotalLength")
	p.check(op)
	times, batch := len(p.BatchSizes), p.BatchSizes[0]
	if c.total != 0 && c.total < times {
		panic(&tensor.Error{Op: op, Why: fmt.Sprintf("TotalLength is %d; want at least %d, the length of the longest sequence", c.total, times)})
	}
	times = max(times, c.total)
	rows := make([]int, 0, p.Data.Size(0))
	for t, n := range p.BatchSizes {
		for place := range n {
			rows = append(rows, rowAt(t, p.sequence(place), times, batch, c.batchFirst))
		}
	}
	rest := p.Data.Shape()[1:]
	empty := tensor.FullAs(p.Data.DType(), c.paddingValue, append([]int{times * batch}, rest...)...).ToDevice(p.Data.Device())
	lead := []int{times, batch}
	if c.batchFirst {
		lead = []int{batch, times}
	}
	padded = empty.IndexCopy(0, positionsOn(p.Data, rows), p.Data)
	return padded.Reshape(append(lead, rest...)...), p.Lengths()
}

// PackSequence packs sequences (length, …), whose lengths may differ. It takes
// EnforceSorted. It is torch.nn.utils.rnn.pack_sequence.
func PackSequence(sequences []*tensor.Tensor, options ...Option) PackedSequence {
	const op = "pack_sequence"
	configure(op, config{}, options, "EnforceSorted")
	padded := PadSequence(sequences)
	lengths := make([]int, len(sequences))
	for i, s := range sequences {
		lengths[i] = s.Size(0)
	}
	return PackPaddedSequence(padded, lengths, options...)
}

// UnpackSequence returns the sequences of p in their original order. It is
// torch.nn.utils.rnn.unpack_sequence.
func UnpackSequence(p PackedSequence) []*tensor.Tensor {
	padded, lengths := PadPackedSequence(p, BatchFirst())
	return UnpadSequence(padded, lengths, BatchFirst())
}

// To returns p with its data converted to d. It is PackedSequence.to with a dtype.
func (p PackedSequence) To(d tensor.DType) PackedSequence {
	p.Data = p.Data.To(d)
	return p
}

// ToDevice returns p with its data on device d. It is PackedSequence.to.
func (p PackedSequence) ToDevice(d tensor.Device) PackedSequence {
	p.Data = p.Data.ToDevice(d)
	return p
}

// String returns the data and the layout of the sequences in it.
func (p PackedSequence) String() string {
	indices := func(list []int) string {
		if list == nil {
			return "None"
		}
		return tensor.FromInts(list).String()
	}
	return fmt.Sprintf("PackedSequence(data=%v, batch_sizes=%v, sorted_indices=%s, unsorted_indices=%s)",
		p.Data, tensor.FromInts(p.BatchSizes), indices(p.SortedIndices), indices(p.UnsortedIndices))
}

// check panics unless the sizes of p match its data.
func (p PackedSequence) check(op string) {
	sum := 0
	for t, n := range p.BatchSizes {
		if n < 1 || t > 0 && n > p.BatchSizes[t-1] {
			panic(&tensor.Error{Op: op, Why: text.Sprintf("batch sizes %v; want positive numbers that do not increase", p.BatchSizes)})
		}
		sum += n
	}
	switch {
	case p.Data == nil || sum == 0:
		panic(&tensor.Error{Op: op, Why: "the packed sequence is empty; want a result of PackPaddedSequence or PackSequence"})
	case p.Data.Dim() == 0 || p.Data.Size(0) != sum:
		panic(&tensor.Error{Op: op, Shapes: [][]int{p.Data.Shape()}, Why: text.Sprintf("the data does not match batch sizes %v; want (%d, …)", p.BatchSizes, sum)})
	}
	for _, list := range [][]int{p.SortedIndices, p.UnsortedIndices} {
		if list != nil && !permutes(list, p.BatchSizes[0]) {
			panic(&tensor.Error{Op: op, Why: text.Sprintf("indices %v; want a permutation of the numbers below %d", list, p.BatchSizes[0])})
		}
	}
}

// permutes reports whether list is a permutation of the numbers below n.
func permutes(list []int, n int) bool {
	sorted := slices.Sorted(slices.Values(list))
	for i, x := range sorted {
		if x != i {
			return false
		}
	}
	return len(list) == n
}

// timesAndBatch returns the first two sizes of x, time first.
func timesAndBatch(op string, x *tensor.Tensor, batchFirst bool) (times, batch int) {
	required(op, "input", x)
	if x.Dim() < 2 {
		panic(&tensor.Error{Op: op, Shapes: [][]int{x.Shape()}, Why: "want (time, batch, …), or (batch, time, …) with BatchFirst"})
	}
	if batchFirst {
		return x.Size(1), x.Size(0)
	}
	return x.Size(0), x.Size(1)
}

// required panics if x is nil.
func required(op, what string, x *tensor.Tensor) {
	if x == nil {
		panic(&tensor.Error{Op: op, Why: what + " is nil; want a tensor"})
	}
}

// rowAt returns the row of a sequence's element at time t in the joined (time, batch) data.
func rowAt(t, sequence, times, batch int, batchFirst bool) int {
	if batchFirst {
		return sequence*times + t
	}
	return t*batch + sequence
}

// joinFirst returns x with its first two dimensions merged.
func joinFirst(x *tensor.Tensor) *tensor.Tensor {
	shape := x.Shape()
	return x.Reshape(append([]int{shape[0] * shape[1]}, shape[2:]...)...)
}

// positionsOn returns list as int64 on x's device.
func positionsOn(x *tensor.Tensor, list []int) *tensor.Tensor {
	return tensor.FromInts(list).ToDevice(x.Device())
}
