package data_test

import (
	"slices"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

func set(n int) *data.TensorDataset {
	return data.NewTensorDataset(tensor.Arange(0, float64(2*n)).Reshape(n, 2), tensor.Arange(0, float64(n)).Reshape(n, 1))
}

// targets returns the targets of each batch, after checking that the inputs belong to them.
func targets(t *testing.T, batches []data.Batch) (out [][]float64) {
	t.Helper()
	for _, b := range batches {
		rows := b.Target.Float64s()
		for i, row := range rows {
			if got := b.Input.At(i, 1); got != 2*row+1 {
				t.Errorf("input of row %v: got %v, which belongs to another row", row, got)
			}
		}
		out = append(out, rows)
	}
	return out
}

func TestLoader(t *testing.T) {
	equal := func(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }
	l := data.NewLoader(set(5), 2)
	if got, want := targets(t, l.Batches()), [][]float64{{0, 1}, {2, 3}, {4}}; !equal(got, want) || l.Len() != 3 {
		t.Errorf("in order: got %v, want %v", got, want)
	}
	l = data.NewLoader(set(5), 2, data.DropLast())
	if got, want := targets(t, l.Batches()), [][]float64{{0, 1}, {2, 3}}; !equal(got, want) || l.Len() != 2 {
		t.Errorf("with DropLast: got %v, want %v", got, want)
	}
	l = data.NewLoader(set(20), 6, data.Shuffle(1))
	first, second := targets(t, l.Batches()), targets(t, l.Batches())
	again := targets(t, data.NewLoader(set(20), 6, data.Shuffle(1)).Batches())
	if equal(first, second) || !equal(first, again) {
		t.Errorf("shuffled: got epochs %v and %v, and %v for the same seed", first, second, again)
	}
	all := slices.Concat(first...)
	slices.Sort(all)
	for i, x := range all {
		if x != float64(i) {
			t.Fatalf("shuffled: got rows %v", all)
		}
	}
	if got := data.NewLoader(set(0), 3).Batches(); len(got) != 0 {
		t.Errorf("an empty data set: got %d batches", len(got))
	}
}

func TestLoaderErrors(t *testing.T) {
	for name, f := range map[string]func(){
		"rows":  func() { data.NewTensorDataset(tensor.Zeros(2, 1), tensor.Zeros(3, 1)) },
		"batch": func() { data.NewLoader(set(2), 0) },
		"none":  func() { data.NewTensorDataset() },
		"ahead": func() { data.NewLoader(set(2), 1, data.Workers(-1)) },
	} {
		if tensor.Try(f) == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestRandomBatches(t *testing.T) {
	tensor.ManualSeed(1)
	batches := data.RandomBatches(2, 4, 3, 2)
	tensor.ManualSeed(1)
	x, _, y := tensor.Randn(4, 3), tensor.Randn(4, 3), tensor.Randn(4, 2)
	if !slices.Equal(batches[0].Input.Bits(), x.Bits()) || !slices.Equal(batches[0].Target.Bits(), y.Bits()) {
		t.Error("the batches differ from the numbers that tensor.Randn draws")
	}
}
