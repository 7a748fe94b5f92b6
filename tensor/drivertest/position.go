package drivertest

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

// places are pairs of shapes for positions along an axis: the shape of the positions and the
// shape of the view they index.
var places = []struct {
	part, whole []int
	axis        int
	shared      bool // all lines along the axis have the same positions
}{
	{[]int{7}, []int{4}, 0, false},
	{[]int{0}, []int{4}, 0, false},
	{[]int{3, 5}, []int{2, 5}, 0, false},
	{[]int{3, 5}, []int{4, 9}, 1, false},
	{[]int{5, 1}, []int{5, 9}, 1, false},
	{[]int{2, 3, 4}, []int{5, 6, 7}, 1, false},
	{[]int{3, 0}, []int{2, 0}, 0, false},
	{[]int{40, 130}, []int{9, 130}, 0, false},
	{[]int{40, 130}, []int{9, 130}, 0, true},
	{[]int{9, 30, 70}, []int{9, 70, 71}, 1, true},
	{[]int{9, 3000}, []int{9, 70}, 1, false},
	{[]int{6000, 70}, []int{50, 71}, 0, false},
}

// testPositions checks [driver.Gather] and the scattering codes.
func testPositions(t *testing.T, b driver.Backend) {
	for _, p := range places {
		if slow(b) && p.part[0] > 1000 {
			p.part = []int{600, 7}
		}
		n := (driver.View{Shape: p.part}).Len()
		numbers := make([]float64, max(n, 1))
		for i := range numbers {
			numbers[i] = float64((i*i + 3*i/2) % p.whole[p.axis])
		}
		for _, s := range layoutsOf(p.part) {
			index := place(t, b, driver.Int64, p.part, s, numbers)
			for i := range p.part {
				if p.shared && i != p.axis {
					index.Stride[i] = 0
				}
			}
			positions := values(b, index)
			for _, d := range driver.DTypes() {
				x := place(t, b, d, p.whole, s, random(4099))
				dst := newView(t, b, d, p.part, gaps)
				b.Run(driver.Kernel{Code: driver.Gather, Axis: p.axis}, dst, x, index)
				checkHoles(t, b, dst)
				all, got := values(b, x), values(b, dst)
				for i, at := range targets(p.part, p.whole, p.axis, positions) {
					if !equal(got[i], all[at]) {
						t.Errorf("gather of %v, %v: element %d: got %v, want %v", d, name(p, s), i, got[i], all[at])
						break
					}
				}
				for _, code := range []driver.Code{driver.Scatter, driver.ScatterAdd, driver.ScatterMul, driver.ScatterMax, driver.ScatterMin} {
					if code != driver.Scatter && d != driver.Float32 && d != driver.Float64 && d != driver.Int64 && !b.Offers(code, d, d, driver.Int64) {
						continue
					}
					x := place(t, b, d, p.part, s, random(4099))
					dst := place(t, b, d, p.whole, gaps, random(1021))
					want := values(b, dst)
					from := values(b, x)
					for i, at := range targets(p.part, p.whole, p.axis, positions) {
						sum := d
						if code == driver.ScatterAdd && d.IsFloat() {
							sum = wide(d)
						}
						want[at] = round(sum, meet(code, want[at], from[i]))
					}
					for i, v := range want {
						want[i] = round(d, v)
					}
					b.Run(driver.Kernel{Code: code, Axis: p.axis}, dst, x, index)
					checkHoles(t, b, dst)
					for i, got := range values(b, dst) {
						if !equal(got, want[i]) {
							t.Errorf("%v of %v, %v: element %d: got %v, want %v", code, d, name(p, s), i, got, want[i])
							break
						}
					}
				}
			}
		}
	}
}

func meet(code driver.Code, a, x float64) float64 {
	switch code {
	case driver.ScatterAdd:
		return a + x
	case driver.ScatterMul:
		return a * x
	case driver.ScatterMax:
		return max(a, x)
	case driver.ScatterMin:
		return min(a, x)
	}
	return x
}

// targets returns the position in whole of each element of part, both counted in row-major
// order.
func targets(part, whole []int, axis int, positions []float64) []int {
	list := make([]int, len(positions))
	index := make([]int, len(part))
	for i := range list {
		for a, n := range whole {
			j := index[a]
			if a == axis {
				j = int(positions[i])
			}
			list[i] = list[i]*n + j
		}
		for a := len(part) - 1; a >= 0; a-- {
			if index[a]++; index[a] < part[a] {
				break
			}
			index[a] = 0
		}
	}
	return list
}

// testExtreme checks [driver.ArgMax] and [driver.ArgMin] along all sets of axes.
func testExtreme(t *testing.T, b driver.Backend) {
	eachArg(t, b, func(src driver.View, all []float64, what string) {
		for axes := range 1 << len(src.Shape) {
			checkExtreme(t, b, src, all, axes, name(what, axes))
		}
	})
}

// testOrder checks [driver.ArgSort] along every axis.
func testOrder(t *testing.T, b driver.Backend) {
	eachArg(t, b, func(src driver.View, all []float64, what string) {
		for axis := range src.Shape {
			checkOrder(t, b, src, all, axis, name(what, axis))
		}
	})
}

// eachArg calls check with views of numbers with ties and NaN.
func eachArg(t *testing.T, b driver.Backend, check func(src driver.View, all []float64, what string)) {
	numbers := []float64{3, 1, math.NaN(), 3, -2, math.Inf(1), 0, math.Copysign(0, -1), 1, 3, math.Inf(-1), 0.5, -2, 7}
	turn := 0
	for _, shape := range [][]int{{1}, {5}, {14}, {2, 3}, {4, 1, 6}, {3, 2500}, {2500, 3}, {2, 20000}, {2, 3, 4}} {
		for _, s := range layoutsOf(shape) {
			for _, d := range append(slices.Clone(dtypes), integers...) {
				for _, x := range [][]float64{numbers, random(4099), {math.Inf(-1)}, {math.Inf(1)}} {
					if turn++; slow(b) && turn%3 > 0 {
						continue
					}
					src := place(t, b, d, shape, s, x)
					check(src, values(b, src), name(d, shape, s))
				}
			}
		}
	}
}

// checkExtreme finds the extremes along the axes whose bits are set.
func checkExtreme(t *testing.T, b driver.Backend, src driver.View, all []float64, axes int, what string) {
	t.Helper()
	shape := slices.Clone(src.Shape)
	for i := range shape {
		if axes>>i&1 == 1 {
			shape[i] = 1
		}
	}
	for code, sign := range map[driver.Code]int{driver.ArgMax: 1, driver.ArgMin: -1} {
		dst := newView(t, b, driver.Int64, shape, gaps)
		b.Run(driver.Kernel{Code: code}, dst, src)
		checkHoles(t, b, dst)
		type found struct {
			value       float64
			place, seen int
		}
		want := make([]found, dst.Len())
		index := make([]int, len(shape))
		for _, x := range all {
			o := 0
			for i, n := range shape {
				o = o*n + min(index[i], n-1)
			}
			f := &want[o]
			if f.seen == 0 || nanLast(x)*2+sign*nanFree(x, f.value) > nanLast(f.value)*2 {
				f.value, f.place = x, f.seen
			}
			f.seen++
			for i := len(index) - 1; i >= 0; i-- {
				if index[i]++; index[i] < src.Shape[i] {
					break
				}
				index[i] = 0
			}
		}
		for o, got := range values(b, dst) {
			if int(got) != want[o].place {
				t.Errorf("%v of %s: result %d: got %v, want %d", code, what, o, got, want[o].place)
				return
			}
		}
	}
}

// nanLast is 1 for NaN and 0 otherwise.
func nanLast(x float64) int { return int(truth(x != x)) }

// nanFree compares numbers that are not NaN. A NaN is equal to every number.
func nanFree(x, y float64) int {
	if x != x || y != y {
		return 0
	}
	return cmp.Compare(x, y)
}

func checkOrder(t *testing.T, b driver.Backend, src driver.View, all []float64, axis int, what string) {
	t.Helper()
	n, after := src.Shape[axis], 1
	for _, s := range src.Shape[axis+1:] {
		after *= s
	}
	for _, descending := range []bool{false, true} {
		dst := newView(t, b, driver.Int64, src.Shape, gaps)
		b.Run(driver.Kernel{Code: driver.ArgSort, Axis: axis, Params: driver.SortParams{Descending: descending}}, dst, src)
		checkHoles(t, b, dst)
		got := values(b, dst)
		for row := range len(all) / n {
			at := func(i int) int { return row/after*n*after + i*after + row%after }
			want := make([]int, n)
			for i := range want {
				want[i] = i
			}
			slices.SortStableFunc(want, func(i, j int) int {
				x, y := all[at(i)], all[at(j)]
				o := 2*(nanLast(x)-nanLast(y)) + nanFree(x, y)
				if descending {
					return -o
				}
				return o
			})
			for i, w := range want {
				if int(got[at(i)]) != w {
					t.Errorf("argsort of %s, descending %v: row %d, element %d: got %v, want %d", what, descending, row, i, got[at(i)], w)
					return
				}
			}
		}
	}
}
