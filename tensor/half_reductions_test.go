package tensor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// rowFunctions are the reductions and row functions, with their float64 definitions for a row
// of positive numbers. Functions that return a row are compared element by element.
var rowFunctions = []struct {
	name string
	f    func(x *Tensor) *Tensor
	want func(row []float64) []float64
}{
	{"sum", func(x *Tensor) *Tensor { return x.Sum(1) }, func(row []float64) []float64 { return []float64{total(row)} }},
	{"mean", func(x *Tensor) *Tensor { return x.Mean(1) }, func(row []float64) []float64 { return []float64{total(row) / float64(len(row))} }},
	{"norm", func(x *Tensor) *Tensor { return x.Norm(1) }, func(row []float64) []float64 {
		return []float64{math.Sqrt(squares(row, 0))}
	}},
	{"var", func(x *Tensor) *Tensor { return x.Var(1) }, func(row []float64) []float64 {
		return []float64{squares(row, total(row)/float64(len(row))) / float64(len(row)-1)}
	}},
	{"std", func(x *Tensor) *Tensor { return x.StdWith(0, 1) }, func(row []float64) []float64 {
		return []float64{math.Sqrt(squares(row, total(row)/float64(len(row))) / float64(len(row)))}
	}},
	{"prod", func(x *Tensor) *Tensor { return x.Prod(1) }, func(row []float64) []float64 {
		p := 1.0
		for _, v := range row {
			p *= v
		}
		return []float64{p}
	}},
	{"logsumexp", func(x *Tensor) *Tensor { return x.LogSumExp(1) }, func(row []float64) []float64 { return []float64{logSum(row)} }},
	{"softmax", func(x *Tensor) *Tensor { return x.Softmax(1) }, func(row []float64) []float64 {
		l := logSum(row)
		return mapped(row, func(v float64) float64 { return math.Exp(v - l) })
	}},
	{"log_softmax", func(x *Tensor) *Tensor { return x.LogSoftmax(1) }, func(row []float64) []float64 {
		l := logSum(row)
		return mapped(row, func(v float64) float64 { return v - l })
	}},
	{"cumsum", func(x *Tensor) *Tensor { return x.Cumsum(1) }, func(row []float64) []float64 {
		s := 0.0
		return mapped(row, func(v float64) float64 { s += v; return s })
	}},
	{"cumprod", func(x *Tensor) *Tensor { return x.Cumprod(1) }, func(row []float64) []float64 {
		p := 1.0
		return mapped(row, func(v float64) float64 { p *= v; return p })
	}},
	{"logcumsumexp", func(x *Tensor) *Tensor { return x.LogCumsumExp(1) }, func(row []float64) []float64 {
		s := 0.0
		return mapped(row, func(v float64) float64 { s += math.Exp(v); return math.Log(s) })
	}},
}

func total(row []float64) (s float64) {
	for _, v := range row {
		s += v
	}
	return s
}

func squares(row []float64, mean float64) (s float64) {
	for _, v := range row {
		s += (v - mean) * (v - mean)
	}
	return s
}

func logSum(row []float64) float64 {
	most, s := slices.Max(row), 0.0
	for _, v := range row {
		s += math.Exp(v - most)
	}
	return most + math.Log(s)
}

func mapped(row []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(row))
	for i, v := range row {
		out[i] = f(v)
	}
	return out
}

// TestRowsOfHalves checks that half-precision reductions are computed in float32 and rounded
// once: results are at most one unit in the last place from the nearest number. -v prints the number
// of exact results.
func TestRowsOfHalves(t *testing.T) {
	for _, c := range rowFunctions {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, d := range []DType{Float16, BFloat16} {
				var e exactness
				for _, n := range []int{1, 2, 7, 64, 300, 1500} {
					r, rows := rand.New(rand.NewPCG(7, uint64(n))), 40
					data := make([]float64, rows*n)
					for i := range data {
						data[i] = 0.5 + r.Float64()
					}
					x := NewAs(d, data, rows, n)
					in, got := x.Float64s(), c.f(x).Bits()
					for i := range rows {
						want := c.want(in[i*n : (i+1)*n])
						for j, w := range want {
							e.add(n, steps(d, got[i*len(want)+j], nearest(d, w)))
						}
					}
				}
				t.Logf("%v: %v", d, e)
				if e.worst > 1 || float64(e.exact) < 0.99*float64(e.results) {
					t.Errorf("%v: %v, in rows of %d", d, e, e.at)
				}
			}
		})
	}
}
