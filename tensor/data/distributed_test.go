package data

import (
	"fmt"
	"testing"
)

// TestDistributedSampler has the orders of torch.utils.data.DistributedSampler of PyTorch 2.15 for 10 samples, 3 ranks and epoch 2.
func TestDistributedSampler(t *testing.T) {
	for _, test := range []struct {
		options []DistributedOption
		want    string
	}{
		{nil, "[[8 5 0 3] [7 6 4 8] [1 9 2 7]]"},
		{[]DistributedOption{DropTail()}, "[[8 5 0] [7 6 4] [1 9 2]]"},
		{[]DistributedOption{InOrder()}, "[[0 3 6 9] [1 4 7 0] [2 5 8 1]]"},
		{[]DistributedOption{SamplerSeed(5)}, "[[5 4 9 2] [0 1 6 5] [3 7 8 0]]"},
	} {
		var got [][]int
		for rank := range 3 {
			s := NewDistributedSampler(10, 3, rank, test.options...)
			s.SetEpoch(2)
			got = append(got, s.Indices())
			if s.Len() != len(got[rank]) {
				t.Errorf("Len is %d, want %d", s.Len(), len(got[rank]))
			}
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("got %v, want %v", got, test.want)
		}
	}
}
