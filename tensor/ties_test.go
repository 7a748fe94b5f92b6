package tensor_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/tensor"
)

// TestTies compares positions among equal, NaN and infinite elements with PyTorch's in testdata/ties.json, in every dtype.
func TestTies(t *testing.T) {
	text, err := os.ReadFile("testdata/ties.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Positions map[string][]int }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	nan, inf, minus := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	rows := map[string][]float64{
		"whole":   {2, 3, 3, 1, 3, 1, 1, 1, 1, 1, 0, 5, 0, 5, 0, 7, 7, 2, 2, 7},
		"special": {nan, 1, nan, 2, 1, 0, minus, 0, minus, 0, inf, inf, -inf, -inf, 0, -inf, -inf, -inf, -inf, -inf},
	}
	second := func(_, x *tensor.Tensor) *tensor.Tensor { return x }
	operations := map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"argmax":                    func(x *tensor.Tensor) *tensor.Tensor { return x.Argmax(1) },
		"argmax all":                func(x *tensor.Tensor) *tensor.Tensor { return x.Argmax() },
		"argmin":                    func(x *tensor.Tensor) *tensor.Tensor { return x.Argmin(1) },
		"argmin all":                func(x *tensor.Tensor) *tensor.Tensor { return x.Argmin() },
		"max":                       func(x *tensor.Tensor) *tensor.Tensor { return second(x.Max(1)) },
		"min":                       func(x *tensor.Tensor) *tensor.Tensor { return second(x.Min(1)) },
		"cummax":                    func(x *tensor.Tensor) *tensor.Tensor { return second(x.Cummax(1)) },
		"cummin":                    func(x *tensor.Tensor) *tensor.Tensor { return second(x.Cummin(1)) },
		"argsort stable":            func(x *tensor.Tensor) *tensor.Tensor { return x.Argsort(1) },
		"argsort stable descending": func(x *tensor.Tensor) *tensor.Tensor { return x.ArgsortDescending(1) },
	}
	for key, want := range file.Positions {
		name := strings.Split(key, "/")
		for _, d := range tensor.DTypes() {
			if d.String() != name[1] {
				continue
			}
			x := tensor.New(rows[name[2]], 4, 5).To(d)
			if got := operations[name[0]](x).Ints(); !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", key, got, want)
			}
		}
	}
}
