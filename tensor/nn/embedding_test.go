package nn_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
	"halfnote/tensor/nn"
)

// TestEmbedding compares the initial weights with those of torch.manual_seed(3); torch.nn.Embedding(5, 4,
// padding_idx=1), then torch.nn.EmbeddingBag(5, 4), of PyTorch 2.15.
func TestEmbedding(t *testing.T) {
	tensor.ManualSeed(3)
	e := nn.NewEmbedding(5, 4, nn.PaddingIdx(1))
	if got, want := fmt.Sprint(e), "Embedding(5, 4, padding_idx=1)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	compare := func(name string, x *tensor.Tensor, at []int, want []float64) {
		t.Helper()
		numbers := x.Float64s()
		for i, j := range at {
			if math.Abs(numbers[j]-want[i]) > 1e-6 {
				t.Errorf("%s, element %d: got %v, want %v", name, j, numbers[j], want[i])
			}
		}
	}
	compare("embedding", e.Weight, []int{0, 1, 4, 8, 19}, []float64{-0.07664429396390915, 0.35988152027130127, 0, 0.4046071469783783, 1.35275399684906})
	sum := nn.NewEmbeddingBag(5, 4, nn.Mode("sum"), nn.PaddingIdx(-1), nn.InitFrom(tensor.NewGenerator(1)))
	if got, want := fmt.Sprint(sum, nn.NewEmbedding(3, 2, nn.MaxNorm(1.5), nn.InitFrom(tensor.NewGenerator(1)))), "EmbeddingBag(5, 4, mode='sum', padding_idx=4) Embedding(3, 2, max_norm=1.5)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tensor.ManualSeed(3)
	nn.NewEmbedding(5, 4)
	bag := nn.NewEmbeddingBag(5, 4)
	compare("embedding bag", bag.Weight, []int{0, 19}, []float64{0.037066876888275146, -0.4243015944957733})

	ids := tensor.FromInts([]int{0, 1, 4, 4}, 2, 2)
	e.Forward(ids).Sum().Backward()
	if got, want := e.Weight.Grad().Sum(1).Float64s(), []float64{4, 0, 0, 0, 8}; !slices.Equal(got, want) {
		t.Errorf("gradients of rows: got %v, want %v", got, want)
	}
	if got, want := bag.Forward(ids), bag.Bags(ids.Ravel(), tensor.FromInts([]int{0, 2})); !tensor.Equal(got, want) {
		t.Errorf("bags: got %v for a matrix of indices, %v for offsets", got, want)
	}
	if names := nn.StateDict(e); len(names) != 1 || names["weight"] == nil {
		t.Errorf("state: got %v, want only weight", names)
	}
	for want, f := range map[string]func(){
		"tensor: new_embedding: 0 rows of 3 features; want at least 1 each":                                                 func() { nn.NewEmbedding(0, 3) },
		"tensor: new_embedding: option Bias is not supported here":                                                          func() { nn.NewEmbedding(2, 3, nn.Bias(false)) },
		"tensor: embedding: shapes (5, 4) and (1,): index 5 at (0,) is out of range for dimension 0 of size 5; want 0 to 4": func() { e.Forward(tensor.FromInts([]int{5})) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
