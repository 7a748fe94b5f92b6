package amp_test

import (
	"testing"

	"halfnote/amp"
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestPackedSequences checks that packed sequences give the same dtypes and values under autocast as padded
// sequences.
func TestPackedSequences(t *testing.T) {
	x, lengths := tensor.Randn(5, 3, 4), []int{2, 5, 3}
	lstm := nn.NewLSTM(4, 6, nn.NumLayers(2), nn.Bidirectional())
	amp.Autocast(amp.CPUBFloat16, func() {
		out, h, c := lstm.ForwardLengths(x, nil, nil, lengths)
		packed, lastH, lastC := lstm.ForwardPacked(nn.PackPaddedSequence(x, lengths, nn.EnforceSorted(false)), nil, nil)
		padded, _ := nn.PadPackedSequence(packed)
		for i, pair := range [][2]*tensor.Tensor{{out, padded}, {h, lastH}, {c, lastC}} {
			if !sameBits(pair[0], pair[1]) {
				t.Errorf("result %d: got %v for packed and %v for padded sequences, want equal", i, pair[1], pair[0])
			}
		}
		for i, n := range lengths {
			alone, _, _ := lstm.ForwardState(x.Slice(1, i, i+1).Slice(0, 0, n), nil, nil)
			if got := out.Slice(1, i, i+1).Slice(0, 0, n); !sameBits(got, alone) {
				t.Errorf("sequence %d: got %v, want %v, the result for the sequence alone", i, got, alone)
			}
		}
		out.Float().Sum().Backward()
	})
	for _, p := range nn.NamedParameters(lstm) {
		if p.Tensor.Grad() == nil {
			t.Errorf("%s has no gradient", p.Name)
		}
	}
}
