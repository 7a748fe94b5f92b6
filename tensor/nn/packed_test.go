package nn_test

import (
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestPackedSequence checks the layout of a packed sequence, its conversion to another dtype
// and unpacking.
func TestPackedSequence(t *testing.T) {
	sequences := []*tensor.Tensor{tensor.Full(1, 2, 1), tensor.Full(2, 3, 1), tensor.Full(3, 1, 1)}
	p := nn.PackSequence(sequences, nn.EnforceSorted(false))
	want := "PackedSequence(data=" + p.Data.String() + ", batch_sizes=" + tensor.FromInts([]int{3, 2, 1}).String() +
		", sorted_indices=" + tensor.FromInts([]int{1, 0, 2}).String() + ", unsorted_indices=" + tensor.FromInts([]int{1, 0, 2}).String() + ")"
	if got := p.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := p.Data.Float64s(), []float64{2, 1, 3, 2, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("data: got %v, want %v", got, want)
	}
	if got, want := p.Lengths(), []int{2, 3, 1}; !slices.Equal(got, want) {
		t.Errorf("lengths: got %v, want %v", got, want)
	}
	half := p.To(tensor.Float16)
	if half.Data.DType() != tensor.Float16 || p.Data.DType() != tensor.Float32 {
		t.Errorf("got dtype %v after conversion, and %v for the original", half.Data.DType(), p.Data.DType())
	}
	for i, s := range nn.UnpackSequence(half.ToDevice(tensor.CPU)) {
		if !tensor.Equal(s, sequences[i].Half()) {
			t.Errorf("sequence %d, unpacked: got %v, want %v", i, s, sequences[i])
		}
	}
	if got := nn.PackSequence(sequences[1:]).String(); !strings.HasSuffix(got, "sorted_indices=None, unsorted_indices=None)") {
		t.Errorf("sequences in order: got string %s", got)
	}
}

// TestPackedMatchesSingleSequences checks that a layer gives the same bits for a packed
// sequence as for each sequence alone.
func TestPackedMatchesSingleSequences(t *testing.T) {
	sequences := []*tensor.Tensor{tensor.Randn(2, 3), tensor.Randn(5, 3), tensor.Randn(3, 3), tensor.Randn(5, 3), tensor.Randn(1, 3)}
	g := nn.NewGRU(3, 4, nn.NumLayers(2), nn.Bidirectional())
	h := tensor.Randn(4, 5, 4)
	out, last := g.ForwardPacked(nn.PackSequence(sequences, nn.EnforceSorted(false)), h)
	for i, y := range nn.UnpackSequence(out) {
		want, state := g.ForwardState(sequences[i], h.Select(1, i))
		if !tensor.Equal(y, want) || !tensor.Equal(last.Select(1, i), state) {
			t.Errorf("sequence %d: got %v and %v, want %v and %v", i, y, last.Select(1, i), want, state)
		}
	}
}

func TestPackedErrors(t *testing.T) {
	x := tensor.Zeros(4, 3, 2)
	g := nn.NewGRU(2, 4)
	p := nn.PackPaddedSequence(x, []int{4, 2, 1})
	short := p
	short.BatchSizes = []int{3, 2}
	growing := p
	growing.BatchSizes = []int{3, 2, 3}
	twice := p
	twice.SortedIndices = []int{0, 0, 1}
	for want, f := range map[string]func(){
		"tensor: pack_padded_sequence: lengths (2, 4, 1) are not in decreasing order; sort them, or use the option EnforceSorted(false)":            func() { nn.PackPaddedSequence(x, []int{2, 4, 1}) },
		"tensor: pack_padded_sequence: shape (4, 3, 2): lengths (5, 1, 1); want one for each of the sequences (batch 3), from 1 to 4":               func() { nn.PackPaddedSequence(x, []int{5, 1, 1}) },
		"tensor: pack_padded_sequence: shape (4, 3, 2): lengths (1, 1, 0)":                                                                          func() { nn.PackPaddedSequence(x, []int{1, 1, 0}) },
		"tensor: pack_padded_sequence: shape (4,): want (time, batch, …)":                                                                           func() { nn.PackPaddedSequence(tensor.Zeros(4), []int{4}) },
		"tensor: pad_packed_sequence: TotalLength is 3; want at least 4, the length of the longest sequence":                                        func() { nn.PadPackedSequence(p, nn.TotalLength(3)) },
		"tensor: pad_packed_sequence: the packed sequence is empty":                                                                                 func() { nn.PadPackedSequence(nn.PackedSequence{}) },
		"tensor: pad_packed_sequence: shape (7, 2): the data does not match batch sizes (3, 2); want (5, …)":                                        func() { nn.PadPackedSequence(short) },
		"tensor: pad_packed_sequence: batch sizes (3, 2, 3); want positive numbers that do not increase":                                            func() { nn.PadPackedSequence(growing) },
		"tensor: gru: indices (0, 0, 1); want a permutation of the numbers below 3":                                                                 func() { g.ForwardPacked(twice, nil) },
		"tensor: gru: shape (7, 2): the packed data has the wrong shape; want (sum of lengths, in) with in = 3":                                     func() { nn.NewGRU(3, 4).ForwardPacked(p, nil) },
		"tensor: gru: shapes (7, 2) and (1, 2, 4): the state does not match the input; want (1, 3, 4): (layers·directions, batch if any, features)": func() { g.ForwardPacked(p, tensor.Zeros(1, 2, 4)) },
		"tensor: pack_padded_sequence: input is nil; want a tensor":                                                                                 func() { nn.PackPaddedSequence(nil, []int{1}) },
		"tensor: unpad_sequence: input is nil; want a tensor":                                                                                       func() { nn.UnpadSequence(nil, []int{1}) },
		"tensor: pad_sequence: the list is empty":                                                                                                   func() { nn.PadSequence(nil) },
		"tensor: pad_sequence: sequence 1 is nil":                                                                                                   func() { nn.PadSequence([]*tensor.Tensor{x, nil}) },
		"tensor: pad_sequence: shapes (4, 3, 2) and (4, 3): shapes of sequences 0 and 1 differ":                                                     func() { nn.PadSequence([]*tensor.Tensor{x, tensor.Zeros(4, 3)}) },
		`tensor: pad_sequence: PaddingSide is "top"; want "right" or "left"`:                                                                        func() { nn.PadSequence([]*tensor.Tensor{x}, nn.PaddingSide("top")) },
		"tensor: unpad_sequence: shape (4, 3, 2): lengths (4, 5, 1)":                                                                                func() { nn.UnpadSequence(x, []int{4, 5, 1}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
