package drivertest

import (
	"math"
	"testing"

	"halfnote/tensor/driver"
)

var reductions = []driver.Code{driver.Sum, driver.Mean, driver.SumSquares, driver.ReduceMax, driver.ReduceMin}

// testReduce reduces every subset of axes, for shapes smaller and larger than a block.
func testReduce(t *testing.T, b driver.Backend) {
	turn := 0
	list := append([][]int{{1500, 3}, {3, 1500}, {33, 130}, {1024}, {1025, 17}, {2, 1040, 20}}, shapes...)
	for _, shape := range list {
		if len(shape) > 4 {
			continue
		}
		for axes := range 1 << len(shape) {
			for _, s := range layoutsOf(shape) {
				for _, d := range dtypes {
					src := place(t, b, d, shape, s, random(100003))
					for _, code := range reductions {
						to := []driver.DType{d}
						if d.Size() == 2 {
							to = append(to, driver.Float32)
						}
						for _, to := range to {
							if turn++; slow(b) && turn%7 > 0 {
								continue
							}
							checkReduction(t, b, code, to, src, axes, name(code, d, to, shape, s, axes))
						}
					}
				}
			}
		}
	}
	special := []float64{1, math.Inf(1), -2, math.NaN(), 5}
	for _, d := range dtypes {
		for n := range special {
			src := place(t, b, d, []int{n + 1}, dense, special)
			for _, code := range reductions {
				checkReduction(t, b, code, d, src, 1, name(code, d, special[:n+1]))
			}
		}
	}
}

// checkReduction reduces the axes whose bits are set and compares the result with a sum in float64. The
// number of roundings bounds the error.
func checkReduction(t *testing.T, b driver.Backend, code driver.Code, to driver.DType, src driver.View, axes int, what string) {
	t.Helper()
	shape := make([]int, len(src.Shape))
	for i, n := range src.Shape {
		shape[i] = n
		if axes>>i&1 == 1 {
			shape[i] = 1
		}
	}
	dst := newView(t, b, to, shape, gaps)
	b.Run(driver.Kernel{Code: code}, dst, src)
	checkHoles(t, b, dst)

	outs := dst.Len()
	sum, lost, size, count := make([]float64, outs), make([]float64, outs), make([]float64, outs), make([]float64, outs)
	for i := range sum {
		switch code {
		case driver.ReduceMax:
			sum[i] = math.Inf(-1)
		case driver.ReduceMin:
			sum[i] = math.Inf(1)
		}
	}
	index := make([]int, len(shape))
	for _, x := range values(b, src) {
		o := 0
		for i, n := range shape {
			o = o*n + min(index[i], n-1)
		}
		switch code {
		case driver.ReduceMax:
			sum[o] = max(sum[o], x)
		case driver.ReduceMin:
			sum[o] = min(sum[o], x)
		case driver.SumSquares:
			x *= x
			fallthrough
		default:
			sum[o], lost[o] = addExactly(sum[o], lost[o], x)
			size[o] += math.Abs(x)
		}
		count[o]++
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < src.Shape[i] {
				break
			}
			index[i] = 0
		}
	}
	for o, got := range values(b, dst) {
		want := sum[o]
		if !math.IsInf(want, 0) {
			want += lost[o]
		}
		// The depth of a sum in additions is 64 in a lane of a block of 1024, 4 between lanes, and one
		// for each level above; plus square and quotient.
		depth := 72 + math.Log2(count[o]+1)
		slack := depth * ulp(wide(to), 1) * size[o]
		if code == driver.Mean {
			want /= count[o]
			slack /= count[o]
		}
		if equal(got, round(to, want)) || got >= round(to, want-slack) && got <= round(to, want+slack) {
			continue
		}
		t.Errorf("%s: result %d: got %g, want %g within %g", what, o, got, round(to, want), slack)
		return
	}
}

// addExactly adds x to sum; lost accumulates the rounding errors (Neumaier,
// Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974).
func addExactly(sum, lost, x float64) (float64, float64) {
	next := sum + x
	if math.Abs(sum) >= math.Abs(x) {
		return next, lost + (sum - next + x)
	}
	return next, lost + (x - next + sum)
}

// testReduceOrder checks that the order of a sum depends neither on the layout of its elements
// nor on the other sums computed with it.
func testReduceOrder(t *testing.T, b driver.Backend) {
	const n = 5000
	for _, d := range dtypes {
		x := random(n)
		to := wide(d)
		one := newView(t, b, to, []int{1}, dense)
		b.Run(driver.Kernel{Code: driver.Sum}, one, place(t, b, d, []int{n}, dense, x))
		want := values(b, one)[0]
		for _, columns := range []int{1, 3, 40, 200} {
			side := make([]float64, n*columns)
			for i := range side {
				side[i] = x[i/columns]
			}
			for _, s := range []strategy{dense, reversed, gaps} {
				dst := newView(t, b, to, []int{1, columns}, dense)
				b.Run(driver.Kernel{Code: driver.Sum}, dst, place(t, b, d, []int{n, columns}, s, side))
				for i, got := range values(b, dst) {
					if got != want {
						t.Errorf("%v, %d columns, %v: sum of column %d: got %v, want %v, the sum of the column alone", d, columns, s, i, got, want)
						break
					}
				}
			}
		}
	}
}
