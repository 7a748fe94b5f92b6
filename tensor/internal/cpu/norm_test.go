package cpu

import (
	"slices"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/drivertest"
)

// TestNorms runs the conformance tests of normalisations on every tier and on portable code.
func TestNorms(t *testing.T) {
	eachTier(func(string) { drivertest.Norms(t, InBrief(t, New(2))) })
}

// TestLongMoments checks that sums, means and variances of several blocks have the same bits on every
// tier, whether the blocks of a result or those of neighbouring results are closer in memory.
func TestLongMoments(t *testing.T) {
	b := New(2)
	x := filled(t, b, driver.Float32, 3*37*40*50, []int{3 * 37 * 40 * 50}, []int{1})
	values := elements[float32](bufferOf(x.Buffer))
	for i := range values {
		values[i] = float32(i%1013)/7 - 50
	}
	for _, d := range []driver.DType{driver.Float32, driver.Float16, driver.BFloat16} {
		v := x
		if d != driver.Float32 {
			buf, err := b.Alloc(2 * len(values))
			if err != nil {
				t.Fatal(err)
			}
			v = driver.View{Buffer: buf, DType: d, Shape: x.Shape, Stride: x.Stride}
			b.Run(driver.Kernel{Code: driver.Copy}, v, x)
		}
		for _, c := range []struct {
			name                string
			shape, stride, kept []int
		}{
			{"images", []int{3, 37, 40, 50}, []int{37 * 2000, 2000, 50, 1}, []int{1, 37, 1, 1}},
			{"short images", []int{3, 37, 40, 45}, []int{37 * 2000, 2000, 50, 1}, []int{1, 37, 1, 1}},
			{"images of half a block", []int{60, 37, 10, 10}, []int{37 * 100, 100, 10, 1}, []int{1, 37, 1, 1}},
			{"long rows", []int{111, 2000}, []int{2000, 1}, []int{111, 1}},
			{"rows of two blocks", []int{100, 2048}, []int{2048, 1}, []int{100, 1}},
			{"rows apart", []int{100, 2000}, []int{2010, 1}, []int{100, 1}},
			{"one row", []int{111 * 2000}, []int{1}, []int{1}},
		} {
			src := driver.View{Buffer: v.Buffer, DType: d, Shape: c.shape, Stride: c.stride}
			var want []float32
			eachTier(func(name string) {
				n := 1
				for _, size := range c.kept {
					n *= size
				}
				out := make([]driver.View, 3)
				for i := range out {
					out[i] = vector(t, b, make([]float32, n)...)
					out[i].Shape, out[i].Stride = c.kept, make([]int, len(c.kept))
					out[i].Stride[slices.Index(c.kept, n)] = 1
				}
				b.Run(driver.Kernel{Code: driver.Sum}, out[0], src)
				b.Run(driver.Kernel{Code: driver.Moments}, out[1], src, out[2])
				var got []float32
				for _, o := range out {
					got = append(got, elements[float32](bufferOf(o.Buffer))...)
				}
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %v of %s differ from portable code's", name, d, c.name)
				}
			})
		}
	}
}
