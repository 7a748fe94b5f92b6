//go:build cuda && linux && cgo

package gpu

import (
	"slices"
	"testing"

	"halfnote/tensor/driver"
)

var computed = slices.DeleteFunc(driver.DTypes(), driver.DType.IsStorage)

func TestCopyMatchesCPU(t *testing.T) {
	p := newPair(t)
	for i := range rounds() {
		shape, all := p.shape(), driver.DTypes()
		from, to := p.dtype(all), p.dtype(all)
		if i%3 == 0 {
			to = from
		}
		p.compare(driver.Kernel{Code: driver.Copy}, p.anyView(to, shape, false), p.anyView(from, shape, true))
		p.compare(driver.Kernel{Code: driver.Fill, Alpha: []float64{0, 1, -3.7, 1e9}[p.random.IntN(4)]}, p.anyView(to, shape, false))
	}
}

func TestReduceMatchesCPU(t *testing.T) {
	p := newPair(t)
	codes := []driver.Code{driver.Sum, driver.Mean, driver.SumSquares, driver.ReduceMax, driver.ReduceMin, driver.ArgMax, driver.ArgMin}
	for range rounds() {
		shape, d, code := p.shape(), p.dtype(computed), codes[p.random.IntN(len(codes))]
		small := slices.Clone(shape)
		for i := range small {
			if p.random.IntN(2) == 0 {
				small[i] = 1
			}
		}
		to, exact := d, false
		switch {
		case code >= driver.ArgMax:
			if (driver.View{Shape: shape}).Len() == 0 {
				continue
			}
			to = driver.Int64
		case p.random.IntN(2) == 0:
			to = d.Wide()
		}
		if code > driver.SumSquares && p.random.IntN(2) == 0 {
			exact = true
		}
		if !p.gpu.Offers(code, to, d) {
			continue
		}
		src := p.anyView(d, shape, true)
		if !exact {
			p.few(src)
		}
		p.compare(driver.Kernel{Code: code}, p.anyView(to, small, false), src)
	}
}

func TestScanMatchesCPU(t *testing.T) {
	p := newPair(t)
	for range rounds() / 2 {
		shape, d := p.shape(), p.dtype(computed)
		k := driver.Kernel{Code: []driver.Code{driver.Recurrence, driver.CumArgMax, driver.CumArgMin}[p.random.IntN(3)]}
		if len(shape) > 0 {
			k.Axis = p.random.IntN(len(shape))
		}
		src, to := []twin{p.anyView(d, shape, true)}, driver.Int64
		if k.Code == driver.Recurrence {
			to = d
			if p.random.IntN(2) == 0 {
				src = append(src, p.few(p.anyView(d, shape, true)))
			}
		}
		p.compare(k, p.anyView(to, shape, false), src...)
	}
}

func TestCountMatchesCPU(t *testing.T) {
	p := newPair(t)
	for range rounds() / 2 {
		v := p.anyView(p.dtype(driver.DTypes()), p.shape(), true)
		got, want := p.gpu.(driver.Counter).Count(v.gpu), p.cpu.(driver.Counter).Count(v.cpu)
		if got.AbsMin != got.AbsMin && want.AbsMin != want.AbsMin { // NaN
			got.AbsMin, got.AbsMax, want.AbsMin, want.AbsMax = 0, 0, 0, 0
		}
		if got != want {
			t.Fatalf("%v %v%v: got %+v, want %+v", v.cpu.DType, v.cpu.Shape, v.cpu.Stride, got, want)
		}
	}
}

// TestLongReductions compares reductions of rows and columns whose partial results are joined in one
// launch by groups of threads, in one launch by blocks, and in two launches.
func TestLongReductions(t *testing.T) {
	p := newPair(t)
	for _, c := range []struct {
		d     driver.DType
		shape []int
		axis  int
	}{
		{driver.Float16, []int{3, 9001}, 1},
		{driver.Float32, []int{2, 300001}, 1},
		{driver.Uint8, []int{8192*1024 + 777}, 0},
		{driver.BFloat16, []int{5000, 37}, 0},
		{driver.Float32, []int{40001, 12}, 0},
		{driver.Int32, []int{140001, 3}, 0},
	} {
		n, stride := 1, make([]int, len(c.shape))
		for i := len(c.shape) - 1; i >= 0; i-- {
			stride[i] = n
			n *= c.shape[i]
		}
		src := p.few(p.view(c.d, n, 0, 0, c.shape, stride))
		small := slices.Clone(c.shape)
		small[c.axis] = 1
		for _, code := range []driver.Code{driver.Sum, driver.ReduceMin, driver.ArgMax} {
			to := c.d.Wide()
			if code == driver.ArgMax {
				to = driver.Int64
			}
			p.compare(driver.Kernel{Code: code}, p.anyView(to, small, false), src)
		}
	}
}
