package torchtest

import (
	"halfnote/tensor"
	"halfnote/tensor/nn"
)

var _ = family("packed", packed())

var (
	sortedLengths = []int{4, 2, 1}
	mixedLengths  = []int{2, 4, 1}
	tiedLengths   = []int{2, 4, 2, 4, 1}
)

func packed() cases {
	all := cases{}
	unsorted := nn.EnforceSorted(false)
	for name, options := range map[string][]nn.Option{
		"": nil, " batch first": {nn.BatchFirst(), nn.PaddingValue(-1.5)}, " left": {nn.PaddingSide("left"), nn.PaddingValue(2)},
		" left batch first": {nn.BatchFirst(), nn.PaddingSide("left")}, " numbers": {nn.PaddingValue(7)}, " int": {nn.PaddingValue(-100)}, " one": nil,
	} {
		all["pad_sequence"+name] = func(in []T) T { return nn.PadSequence(in, options...) }
	}
	all["unpad_sequence"] = func(in []T) T { return flat(nn.UnpadSequence(in[0], []int{3, 1, 4})...) }
	all["unpad_sequence batch first"] = func(in []T) T {
		return flat(nn.UnpadSequence(in[0], []int{3, 0, 4}, nn.BatchFirst())...)
	}
	pack := func(name string, lengths []int, options ...nn.Option) {
		all["pack_padded_sequence"+name] = func(in []T) T {
			return describe(nn.PackPaddedSequence(in[0], lengths, options...))
		}
	}
	pack("", sortedLengths)
	pack(" unsorted", mixedLengths, unsorted)
	pack(" ties", tiedLengths, unsorted)
	pack(" batch first", mixedLengths, unsorted, nn.BatchFirst())
	pack(" numbers", sortedLengths)
	all["pack_sequence"] = func(in []T) T { return describe(nn.PackSequence(in, unsorted)) }
	all["pack_sequence sorted"] = func(in []T) T { return describe(nn.PackSequence(in)) }
	all["unpack_sequence"] = func(in []T) T { return flat(nn.UnpackSequence(nn.PackSequence(in, unsorted))...) }
	all["pad_packed_sequence"] = func(in []T) T {
		y, _ := nn.PadPackedSequence(nn.PackPaddedSequence(in[0], mixedLengths, unsorted))
		return y
	}
	all["pad_packed_sequence value"] = func(in []T) T {
		y, _ := nn.PadPackedSequence(nn.PackPaddedSequence(in[0], sortedLengths), nn.BatchFirst(), nn.PaddingValue(3), nn.TotalLength(6))
		return y
	}
	all["pad_packed_sequence lengths"] = func(in []T) T {
		_, lengths := nn.PadPackedSequence(nn.PackPaddedSequence(in[0], tiedLengths, unsorted))
		return tensor.FromInts(lengths)
	}
	for _, c := range []struct {
		form    string
		lengths []int
		sorted  bool
		options []nn.Option
	}{
		{"", mixedLengths, false, nil}, {" sorted", sortedLengths, true, nil}, {" ties", tiedLengths, false, nil},
		{" equal", []int{3, 3}, false, nil}, {" from zeros", mixedLengths, false, nil},
		{" layers", mixedLengths, false, []nn.Option{nn.NumLayers(2), nn.DropoutP(0.5)}},
		{" dropout", mixedLengths, false, []nn.Option{nn.NumLayers(2), nn.DropoutP(0.5)}},
	} {
		options := append([]nn.Option{nn.Bidirectional()}, c.options...)
		run := func(name string, make func() any, read func(net any, p nn.PackedSequence, states []T) []T) {
			all[name+" packed"+c.form] = func(in []T) T {
				net := make()
				n := len(in) - len(nn.Parameters(net))
				adopt(net, in)
				if c.form == " dropout" {
					nn.Train(net)
				}
				p := nn.PackPaddedSequence(in[0], c.lengths, nn.EnforceSorted(c.sorted))
				tensor.ManualSeed(11)
				return flat(read(net, p, append(in[1:n:n], nil, nil))...)
			}
		}
		run("RNN", func() any { return nn.NewRNN(3, 2, options...) }, func(net any, p nn.PackedSequence, s []T) []T {
			out, h := net.(*nn.RNN).ForwardPacked(p, s[0])
			return []T{out.Data, h}
		})
		run("GRU", func() any { return nn.NewGRU(3, 2, options...) }, func(net any, p nn.PackedSequence, s []T) []T {
			out, h := net.(*nn.GRU).ForwardPacked(p, s[0])
			return []T{out.Data, h}
		})
		run("LSTM", func() any { return nn.NewLSTM(3, 2, options...) }, readLSTM)
		if c.form == "" {
			c.form = " projection"
			run("LSTM", func() any { return nn.NewLSTM(3, 4, nn.Bidirectional(), nn.ProjSize(2)) }, readLSTM)
		}
	}
	return all
}

func readLSTM(net any, p nn.PackedSequence, s []T) []T {
	out, h, c := net.(*nn.LSTM).ForwardPacked(p, s[0], s[1])
	return []T{out.Data, h, c}
}

// describe returns the contents of a packed sequence as numbers.
func describe(p nn.PackedSequence) T {
	parts := []T{p.Data, tensor.FromInts(p.BatchSizes)}
	if p.SortedIndices != nil {
		parts = append(parts, tensor.FromInts(p.SortedIndices), tensor.FromInts(p.UnsortedIndices))
	}
	for i, x := range parts {
		parts[i] = x.To(p.Data.DType())
	}
	return flat(parts...)
}
