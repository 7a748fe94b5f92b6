package data_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/data"
)

// orders is the content of testdata/loader.json, made by loader.py with PyTorch.
type orders struct {
	Shuffle         [][][]int
	DropLast        [][][]int `json:"drop_last"`
	Default         [][][]int
	DefaultAfter    []float64 `json:"default_after"`
	InOrderAfter    []float64 `json:"in_order_after"`
	Replacement     [][]int
	Subset          [][]int
	Weights         []float64
	Weighted        [][]int
	WeightedWithout [][]int `json:"weighted_without"`
	Batches         [][]int
	Split           [][]int
	SplitShares     [][]int `json:"split_shares"`
}

func readOrders(t *testing.T) (o orders) {
	t.Helper()
	text, err := os.ReadFile("testdata/loader.json")
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func same(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// epochs returns the rows of three epochs of a loader of arange(23).
func epochs(batch int, options ...data.LoaderOption) (out [][][]int) {
	l := data.NewLoader(data.NewTensorDataset(tensor.FromInts(seq(23))), batch, options...)
	for range 3 {
		var epoch [][]int
		for _, b := range l.Batches() {
			epoch = append(epoch, b.Input.Ints())
		}
		out = append(out, epoch)
	}
	return out
}

func seq(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// TestOrders compares the order of samples with PyTorch's over several epochs, with several
// numbers of workers.
func TestOrders(t *testing.T) {
	want := readOrders(t)
	for workers := range 4 {
		w := data.Workers(workers)
		if got := epochs(5, data.Shuffle(1), w); !same(got, want.Shuffle) {
			t.Errorf("%d workers: shuffled: got %v, want %v", workers, got, want.Shuffle)
		}
		if got := epochs(5, data.Shuffle(1<<33+3), data.DropLast(), w); !same(got, want.DropLast) {
			t.Errorf("%d workers: with DropLast: got %v, want %v", workers, got, want.DropLast)
		}
		tensor.ManualSeed(3)
		if got := epochs(6, data.WithGenerator(nil), w); !same(got, want.Default) {
			t.Errorf("%d workers: with the default generator: got %v, want %v", workers, got, want.Default)
		}
		if got := tensor.Rand(2).Float64s(); !slices.Equal(got, want.DefaultAfter) {
			t.Errorf("%d workers: next number of the default generator: got %v, want %v", workers, got, want.DefaultAfter)
		}
	}
	tensor.ManualSeed(4)
	data.NewLoader(data.NewTensorDataset(tensor.Zeros(23)), 6).Batches()
	if got := tensor.Rand(2).Float64s(); !slices.Equal(got, want.InOrderAfter) {
		t.Errorf("next number of the default generator after an epoch in order: got %v, want %v", got, want.InOrderAfter)
	}
}

func TestSamplers(t *testing.T) {
	want := readOrders(t)
	twice := func(s data.Sampler) [][]int { return [][]int{s.Indices(), s.Indices()} }
	g := tensor.NewGenerator
	for name, c := range map[string]struct{ got, want any }{
		"replacement":      {twice(data.NewReplacementSampler(23, 70, g(5))), want.Replacement},
		"subset":           {twice(data.NewSubsetRandomSampler([]int{3, 1, 4, 15, 9, 2, 6}, g(6))), want.Subset},
		"weighted":         {twice(data.NewWeightedRandomSampler(want.Weights, 200, true, g(7))), want.Weighted},
		"weighted without": {twice(data.NewWeightedRandomSampler(want.Weights, 200, false, g(8))), want.WeightedWithout},
		"batches":          {data.NewBatchSampler(data.NewRandomSampler(23, g(9)), 4, true).Batches(), want.Batches},
		"split":            {split([]float64{10, 13}, 10), want.Split},
		"split by shares":  {split([]float64{0.3, 0.3, 0.4}, 11), want.SplitShares},
	} {
		if !same(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.got, c.want)
		}
	}
	for _, s := range []data.Sampler{data.NewSequentialSampler(4), data.NewRandomSampler(0, nil), data.NewReplacementSampler(2, 5, nil)} {
		if len(s.Indices()) != s.Len() {
			t.Errorf("%T: got %d indices and Len %d, want equal", s, len(s.Indices()), s.Len())
		}
	}
}

func split(lengths []float64, seed int64) (parts [][]int) {
	for _, p := range data.RandomSplit(data.NewTensorDataset(tensor.Zeros(23, 1)), lengths, tensor.NewGenerator(seed)) {
		parts = append(parts, p.Indices)
	}
	return parts
}

func TestSamplerErrors(t *testing.T) {
	set := data.NewTensorDataset(tensor.Zeros(4, 1))
	for want, f := range map[string]func(){
		"1 of 0 samples; want": func() { data.NewReplacementSampler(0, 1, nil) },
		"weight 1 is -2; want": func() { data.NewWeightedRandomSampler([]float64{1, -2}, 1, true, nil) },
		"samples 2, positive weights 1, replacement false; want": func() { data.NewWeightedRandomSampler([]float64{1, 0}, 2, false, nil) },
		"the batch size is 0; want at least 1":                   func() { data.NewBatchSampler(data.NewSequentialSampler(3), 0, false) },
		"lengths (1, 2) for a data set of 4 samples; want":       func() { data.RandomSplit(set, []float64{1, 2}, nil) },
		"lengths (1.5, 2.5) for a data set of 4 samples":         func() { data.RandomSplit(set, []float64{1.5, 2.5}, nil) },
		"length -1; want at least 0":                             func() { data.RandomSplit(set, []float64{5, -1}, nil) },
		"index 4 in a data set of 4 samples; want 0":             func() { data.NewSubset(set, []int{1, 4}) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}
