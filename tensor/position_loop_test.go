package tensor

import (
	"fmt"
	"slices"
	"testing"
)

// TestPositionLoops compares gather, scatter and similar operations with plain loops in every dtype, for
// operands with and without gaps, at sizes 0 and 1 and odd sizes. The numbers are small integers, so sums
// are exact.
func TestPositionLoops(t *testing.T) {
	for _, d := range []DType{Float64, Float32, Float16, BFloat16, Int64, Int32, Uint8, Bool} {
		for _, shape := range [][2]int{{3, 5}, {1, 1}, {1, 7}, {5, 1}, {17, 33}, {4, 0}} {
			m, n := shape[0], shape[1]
			data := make([]float64, m*n)
			for i := range data {
				data[i] = float64(i * i % 7)
				if d == Bool {
					data[i] = float64(i * i % 3 % 2)
				}
			}
			x := NewAs(d, data, m, n).Reshape(m, n)
			for layout, x := range map[string]*Tensor{"": x, ", transposed": x.T().Clone().T(), ", gaps": Stack(2, x, x).Select(2, 1)} {
				checkLoops(t, fmt.Sprint(d, " ", shape, layout), x, data)
			}
		}
	}
}

func checkLoops(t *testing.T, name string, x *Tensor, data []float64) {
	t.Helper()
	m, n := x.shape[0], x.shape[1]
	at := func(i, j int) float64 { return data[i*n+j] }
	check := func(op string, got *Tensor, shape []int, want func(i, j int) float64) {
		t.Helper()
		list := make([]float64, 0, size(shape))
		for i := range shape[0] {
			for j := range shape[1] {
				list = append(list, want(i, j))
			}
		}
		if got.DType() != x.DType() || !slices.Equal(got.Shape(), shape) || !equalFloats(got.Float64s(), list) {
			t.Errorf("%s of %s: got %v %v %v, want %v %v", op, name, got.DType(), got.Shape(), got.Float64s(), shape, list)
		}
	}
	rows := []int{m - 1, 0, m / 2, 0}
	index := FromInts(rows)
	pick := make([]int, 2*n) // two per column
	for j := range n {
		pick[j], pick[n+j] = j%m, (j*j+1)%m
	}
	picks := FromInts(pick).To(Int32).Reshape(2, n)
	src, number := x.Index(R(0, 1)).Expand(2, n), func(j int) float64 { return at(0, j) }

	check("index_select", x.IndexSelect(0, index), []int{4, n}, func(i, j int) float64 { return at(rows[i], j) })
	check("gather", x.Gather(0, picks), []int{2, n}, func(i, j int) float64 { return at(pick[i*n+j], j) })
	check("scatter", x.Scatter(0, picks, src), []int{m, n}, func(i, j int) float64 {
		if pick[j] == i || pick[n+j] == i {
			return number(j)
		}
		return at(i, j)
	})
	if x.DType() != Bool {
		check("scatter_add", x.ScatterAdd(0, picks, src), []int{m, n}, func(i, j int) float64 {
			y := at(i, j)
			for _, p := range []int{pick[j], pick[n+j]} {
				if p == i {
					y += number(j)
				}
			}
			return y
		})
		check("index_put, adding", x.IndexPutAdd(x.Index([]int{0}), index), []int{m, n}, func(i, j int) float64 {
			y := at(i, j)
			for _, r := range rows {
				if r == i {
					y += number(j)
				}
			}
			return y
		})
	}
	check("index_copy", x.IndexCopy(0, FromInts([]int{m - 1}), x.Narrow(0, 0, 1)), []int{m, n}, func(i, j int) float64 {
		if i == m-1 {
			return at(0, j)
		}
		return at(i, j)
	})
	check("cat", Cat(0, x, x.Narrow(0, 0, 1)), []int{m + 1, n}, func(i, j int) float64 { return at(i%m, j) })
	check("stack", Stack(0, x, x).Reshape(2*m, n), []int{2 * m, n}, func(i, j int) float64 { return at(i%m, j) })
	check("flip", x.Flip(), []int{m, n}, func(i, j int) float64 { return at(m-1-i, n-1-j) })
	check("roll", x.Roll(-1, 0), []int{m, n}, func(i, j int) float64 { return at((i+1)%m, j) })
	check("tril", x.Tril(1), []int{m, n}, func(i, j int) float64 {
		if j > i+1 {
			return 0
		}
		return at(i, j)
	})
	check("masked_fill", x.MaskedFill(FromInts(rows[:1]).Add(Arange(0, float64(n)).To(Int64)).Eq(Scalar(2)), 1), []int{m, n}, func(i, j int) float64 {
		if rows[0]+j == 2 {
			return 1
		}
		return at(i, j)
	})
	check("repeat", x.Repeat(1, 2), []int{m, 2 * n}, func(i, j int) float64 { return at(i, j%n) })
	check("index", x.Index(index, All), []int{4, n}, func(i, j int) float64 { return at(rows[i], j) })
	values, order := x.Sort(1)
	check("sort", values, []int{m, n}, func(i, j int) float64 {
		row := slices.Clone(data[i*n : (i+1)*n])
		slices.Sort(row)
		return row[j]
	})
	check("gather of argsort", x.Gather(1, order), []int{m, n}, func(i, j int) float64 { return values.At(i, j) })
	if n > 0 {
		check("argmax", x.Gather(1, x.KeepDim().Argmax(1)), []int{m, 1}, func(i, _ int) float64 { return slices.Max(data[i*n : (i+1)*n]) })
	}
}
