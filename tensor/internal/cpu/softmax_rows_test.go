package cpu

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// TestSoftmaxRows compares the bytes of the kernels of rows with those of the loop that they stand for,
// on every tier, for rows of many lengths with special numbers.
func TestSoftmaxRows(t *testing.T) {
	special := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0, float32(math.Copysign(0, -1)), 1e-40, -200, 3e38}
	b := New(2)
	eachTier(func(tier string) {
		if norms.ExpRows == nil {
			return
		}
		for _, d := range []driver.DType{driver.Float32, driver.Float16, driver.BFloat16} {
			for n := 1; n <= block; n += 1 + n/9*5 {
				const rows = 19
				r := rand.New(rand.NewPCG(1, uint64(n)))
				view := func() driver.View {
					x := make([]float32, rows*n)
					for i := range x {
						x[i] = float32(3 * r.NormFloat64())
						if row := i / n; row%2 == 1 && r.IntN(n) < 2 {
							x[i] = special[(row/2+r.IntN(2))%len(special)]
						}
					}
					return halfView(t, b, d, []int{rows, n}, x)
				}
				x, y := view(), view()
				for _, code := range []driver.Code{driver.Softmax, driver.LogSoftmax, driver.SoftmaxGrad, driver.LogSoftmaxGrad} {
					src := []driver.View{x, y}
					if code == driver.Softmax || code == driver.LogSoftmax {
						src = src[:1]
					}
					run := func() []byte {
						dst := halfView(t, b, d, []int{rows, n}, make([]float32, rows*n))
						b.Run(driver.Kernel{Code: code, Axis: 1}, dst, src...)
						out := make([]byte, rows*n*d.Size())
						b.Read(out, dst.Buffer, 0)
						for i := 0; i < len(out) && d == driver.Float32; i += 4 { // the loop in Go, for short rows, gives NaN another sign
							if x := out[i:][:4]; binary.LittleEndian.Uint32(x)&0x7fffffff > 0x7f800000 {
								x[3] &= 0x7f
							}
						}
						return out
					}
					got := run()
					kept := norms
					norms.RowKernels, norms.Float16, norms.BFloat16 = asm.RowKernels{}, asm.RowKernels{}, asm.RowKernels{}
					want := run()
					norms = kept
					if !bytes.Equal(got, want) {
						t.Errorf("%s: %v of %v, rows of %d: the bits differ", tier, code, d, n)
					}
				}
			}
		}
	})
}

// halfView returns a view of x, rounded to d.
func halfView(t *testing.T, b *Backend, d driver.DType, shape []int, x []float32) driver.View {
	t.Helper()
	view := func(d driver.DType) driver.View {
		buf, err := b.Alloc(len(x) * d.Size())
		if err != nil {
			t.Fatal(err)
		}
		v := driver.View{Buffer: buf, DType: d, Shape: shape, Stride: make([]int, len(shape))}
		for i, step := len(shape)-1, 1; i >= 0; i-- {
			v.Stride[i], step = step, step*shape[i]
		}
		return v
	}
	from, to := view(driver.Float32), view(d)
	copy(elements[float32](bufferOf(from.Buffer)), x)
	b.Run(driver.Kernel{Code: driver.Copy}, to, from)
	return to
}
