package data_test

import (
	"slices"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// first returns the first field of all samples, read one by one and in batches.
func first(t *testing.T, set data.Dataset) (one, batched []int) {
	t.Helper()
	for i := range set.Len() {
		sample, err := set.Get(i)
		if err != nil {
			t.Fatal(err)
		}
		one = append(one, sample[0].Ints()...)
	}
	for _, b := range data.NewLoader(set, 3).Batches() {
		batched = append(batched, b.Input.Ints()...)
	}
	return one, batched
}

func TestDatasets(t *testing.T) {
	rows := data.NewTensorDataset(tensor.FromInts(seq(8)), tensor.Zeros(8, 2))
	own := &squares{n: 6, at: -1}
	for name, c := range map[string]struct {
		set  data.Dataset
		want []int
	}{
		"tensors":                       {rows, seq(8)},
		"own":                           {own, seq(6)},
		"subset":                        {data.NewSubset(rows, []int{5, 5, 0}), []int{5, 5, 0}},
		"subset of a user's data set":   {data.NewSubset(own, []int{4, 1}), []int{4, 1}},
		"subset of a subset":            {data.NewSubset(data.NewSubset(rows, []int{7, 6, 5, 4}), []int{3, 0}), []int{4, 7}},
		"together":                      {data.NewConcatDataset(data.NewSubset(rows, []int{2}), data.NewSubset(rows, nil), own, rows), append(append([]int{2}, seq(6)...), seq(8)...)},
		"concatenation of no data sets": {data.NewConcatDataset(), nil},
	} {
		if name == "together" {
			for i, want := range c.want {
				if s, err := c.set.Get(i); err != nil || s[0].Ints()[0] != want {
					t.Errorf("%s: sample %d: got %v, %v; want %d", name, i, s, err, want)
				}
			}
			continue
		}
		one, batched := first(t, c.set)
		if !slices.Equal(one, c.want) || !slices.Equal(batched, c.want) {
			t.Errorf("%s: got %v one by one and %v in batches, want %v", name, one, batched, c.want)
		}
	}
	if _, err := data.NewConcatDataset(rows).Get(8); err == nil || err.Error() != "index 8; want 0 to 7" {
		t.Errorf("an index beyond the end: got error %v", err)
	}
}

// TestOrderedBatchesAreViews checks that batches in order share the data set's memory.
func TestOrderedBatchesAreViews(t *testing.T) {
	x := tensor.Arange(0, 6).Reshape(6, 1)
	b := data.NewLoader(data.NewTensorDataset(x, x), 4).Batches()
	x.Fill(9)
	if b[1].Input.At(0, 0) != 9 {
		t.Error("a batch in order is a copy, want a view")
	}
	if b := data.NewLoader(data.NewTensorDataset(x, x), 4, data.Shuffle(1)).Batches(); b[0].Input.IsView() {
		t.Error("a shuffled batch is a view, want a copy")
	}
}
