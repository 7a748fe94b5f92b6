package drivertest

import (
	"math"
	"testing"

	"halfnote/tensor/driver"
)

// testRecurrence compares [driver.Recurrence] with the loop in its comment, along every axis.
func testRecurrence(t *testing.T, b driver.Backend) {
	turn := 0
	for _, d := range append([]driver.DType{driver.Int64, driver.Int32, driver.Int16, driver.Int8, driver.Uint8}, dtypes...) {
		for _, shape := range append([][]int{{2, 2500, 3}, {2049}}, shapes...) {
			for axis := range max(1, len(shape)) {
				for i, s := range layoutsOf(shape) {
					if turn++; slow(b) && turn%4 > 0 {
						continue
					}
					x, y := random(100003), random(100004)
					if !d.IsFloat() {
						x, y = []float64{3, -1, 0, 2, 7}, []float64{1, -1, 0}
						if d == driver.Uint8 {
							y = []float64{1, 1, 0}
						}
					}
					src := []driver.View{place(t, b, d, shape, s, x), place(t, b, d, shape, strategies[i%len(strategies)], y)}
					for _, operands := range []int{1, 2} {
						dst := newView(t, b, d, shape, gaps)
						k := driver.Kernel{Code: driver.Recurrence, Axis: axis}
						b.Run(k, dst, src[:operands]...)
						checkHoles(t, b, dst)
						want := recurrence(d, shape, axis, values(b, src[0]), values(b, src[1]), operands == 1)
						for j, got := range values(b, dst) {
							if !equal(got, want[j]) {
								t.Errorf("recurrence of %d, %v %v, axis %d, %v: element %d: got %v, want %v", operands, d, shape, axis, s, j, got, want[j])
								return
							}
						}
					}
				}
			}
		}
	}
}

// steps returns for each element, in row-major order, the position of the element before it
// along axis, -1 for the first, and its index along axis.
func steps(shape []int, axis int) (before, place []int) {
	n, stride := 1, 1
	for i, size := range shape {
		n *= size
		if i > axis {
			stride *= size
		}
	}
	for i := range n {
		at := 0
		if len(shape) > 0 {
			at = i / stride % shape[axis]
		}
		place = append(place, at)
		if before = append(before, i-stride); at == 0 {
			before[i] = -1
		}
	}
	return before, place
}

func recurrence(d driver.DType, shape []int, axis int, x, y []float64, ones bool) []float64 {
	carried := wide(d)
	switch {
	case d == driver.Float32:
		carried = driver.Float64
	case !d.IsFloat():
		carried = driver.Int64
	}
	to := func(v float64) float64 { return round(carried, v) }
	before, _ := steps(shape, axis)
	exact, out := make([]float64, len(before)), make([]float64, len(before))
	for i, p := range before {
		exact[i] = x[i]
		switch {
		case p < 0:
		case ones:
			exact[i] = to(exact[p] + x[i])
		default:
			exact[i] = to(x[i] + to(y[i]*exact[p]))
		}
		out[i] = round(d, exact[i])
	}
	return out
}

func testCumArg(t *testing.T, b driver.Backend) {
	numbers := []float64{1, 3, 3, -2, 0, math.NaN(), 5, math.NaN(), 2, math.Inf(1), 3, math.Inf(-1), math.Inf(-1), 0}
	turn := 0
	for _, d := range append([]driver.DType{driver.Int64, driver.Int16, driver.Int8, driver.Uint8, driver.Bool}, dtypes...) {
		for _, shape := range append([][]int{{3, 1500, 2}}, shapes...) {
			for axis := range max(1, len(shape)) {
				for _, s := range layoutsOf(shape) {
					if turn++; slow(b) && turn%4 > 0 {
						continue
					}
					x := place(t, b, d, shape, s, numbers)
					before, at := steps(shape, axis)
					for _, code := range []driver.Code{driver.CumArgMax, driver.CumArgMin} {
						dst := newView(t, b, driver.Int64, shape, gaps)
						b.Run(driver.Kernel{Code: code, Axis: axis}, dst, x)
						v, best := values(b, x), make([]int, len(before))
						for i, got := range values(b, dst) {
							best[i] = i
							if p := before[i]; p >= 0 {
								old := v[best[p]]
								better := v[i] >= old || math.IsNaN(v[i])
								if code == driver.CumArgMin {
									better = v[i] <= old || math.IsNaN(v[i])
								}
								if !better || math.IsNaN(old) && !math.IsNaN(v[i]) {
									best[i] = best[p]
								}
							}
							if want := float64(at[best[i]]); got != want {
								t.Fatalf("%v of %v %v, axis %d, %v: element %d: got %v, want %v", code, d, shape, axis, s, i, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// testProd checks products of numbers near 1, and products of whole numbers, which must be exact.
func testProd(t *testing.T, b driver.Backend) {
	for _, d := range dtypes {
		for _, shape := range [][]int{{1500, 3}, {3, 1500}, {40, 33}, {1}, {7}, {0, 2}, {17, 20}} {
			n := 1
			for _, s := range shape {
				n *= s
			}
			x := make([]float64, n)
			for i := range x {
				x[i] = 1 + 0.2*math.Sin(float64(i)*1.3)
			}
			for _, s := range layoutsOf(shape) {
				src := place(t, b, d, shape, s, x)
				dst := newView(t, b, wide(d), append([]int{1}, shape[1:]...), gaps)
				b.Run(driver.Kernel{Code: driver.Prod}, dst, src)
				want := make([]float64, dst.Len())
				for i := range want {
					want[i] = 1
				}
				for i, v := range values(b, src) {
					want[i%len(want)] *= v
				}
				for i, got := range values(b, dst) {
					if slack := float64(shape[0]) * ulp(wide(d), want[i]); got != round(wide(d), want[i]) && !(math.Abs(got-want[i]) <= slack) {
						t.Errorf("prod of %v %v, %v: result %d: got %v, want %v within %v", d, shape, s, i, got, want[i], slack)
					}
				}
			}
		}
		src, dst := place(t, b, d, []int{5}, dense, []float64{2, -3, 0.5, 7, 1}), newView(t, b, d, []int{1}, dense)
		b.Run(driver.Kernel{Code: driver.Prod}, dst, src)
		if got := values(b, dst)[0]; got != -21 {
			t.Errorf("prod of %v: got %v, want -21", d, got)
		}
	}
	src, dst := place(t, b, driver.Int32, []int{2, 3}, gaps, []float64{2, -3, 5, 7, 1, 2}), newView(t, b, driver.Int64, []int{1, 3}, dense)
	b.Run(driver.Kernel{Code: driver.Prod}, dst, src)
	for i, got := range values(b, dst) {
		if want := []float64{14, -3, 10}[i]; got != want {
			t.Errorf("prod of int32: column %d: got %v, want %v", i, got, want)
		}
	}
}
