package tensor

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestMultinomial compares with torch.manual_seed(7) of PyTorch 2.15 and, in this order,
// torch.empty(3).exponential_(2), torch.multinomial(p, 3), (p, 1), (p[0], 12,
// replacement=True), (p.double(), 4, replacement=True), (p.half(), 2) and (p[1], 1,
// replacement=True).
func TestMultinomial(t *testing.T) {
	p := New([]float64{1, 2, 3, 4, 0, 0.5, 0, 0, 0.1, 9}, 2, 5)
	g := NewGenerator(7)
	e := g.Exponential(2, 3).Float64s()
	for i, want := range []float64{0.1638219654560089, 0.159891739487648, 0.9905877113342285} {
		if math.Abs(e[i]-want) > 1e-7 {
			t.Errorf("exponential: got %v, want %v", e[i], want)
		}
	}
	for _, c := range []struct {
		got  *Tensor
		want string
	}{
		{g.Multinomial(p, 3, false), "[2 3] [3 2 0 4 3 0]"},
		{g.Multinomial(p, 1, false), "[2 1] [3 4]"},
		{g.Multinomial(p.Select(0, 0), 12, true), "[12] [2 3 3 3 3 1 3 2 0 3 3 2]"},
		{g.Multinomial(p.Double(), 4, true), "[2 4] [0 1 0 3 4 4 4 4]"},
		{g.Multinomial(p.Half(), 2, false), "[2 2] [2 1 4 0]"},
		{g.Multinomial(p.Select(0, 1), 1, true), "[1] [4]"},
	} {
		if got := fmt.Sprint(c.got.Shape(), c.got.Ints()); got != c.want || c.got.DType() != Int64 {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for want, f := range map[string]func(){
		"tensor: multinomial: shape (1, 2, 5): input has rank 3 and dtype float32; want a vector or matrix of floating-point weights":                                        func() { p.Unsqueeze(0).Multinomial(1, false) },
		"tensor: multinomial: shape (2, 5): cannot draw 6 of 5 categories with replacement false; want at least 1, and without replacement at most the number of categories": func() { p.Multinomial(6, false) },
		"tensor: multinomial: shape (2, 5): weight -1 at (0, 0) is invalid; want finite numbers of at least 0":                                                               func() { p.Neg().Multinomial(1, true) },
		"tensor: multinomial: shape (2, 5): the weights at (0, 0) sum to 0; want a positive sum":                                                                             func() { p.MulScalar(0).Multinomial(1, true) },
		"tensor: exponential_: the rate is 0; want a positive number":                                                                                                        func() { g.Exponential(0, 2) },
	} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
