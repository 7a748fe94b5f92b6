package cpu

import (
	"math"
	"testing"

	"halfnote/tensor/driver"
)

// BenchmarkCount counts the elements of a layer's weights: normal ones, and half of
// them 0 as after ReLU.
func BenchmarkCount(b *testing.B) {
	const n = 256 * 256
	backend := New(1)
	for _, d := range []driver.DType{driver.Float16, driver.Float32} {
		for name, zero := range map[string]bool{"normal": false, "zeros": true} {
			b.Run(d.String()+"/"+name, func(b *testing.B) {
				buf, err := backend.Alloc(n * d.Size())
				if err != nil {
					b.Fatal(err)
				}
				x := uint32(1)
				for i := range n {
					x = x*1664525 + 1013904223
					v := math.Float32bits(float32(1 + x>>20))
					if zero && x>>31 == 0 {
						v = 0
					}
					if d == driver.Float16 {
						elements[uint16](bufferOf(buf))[i] = uint16(v >> 16)
					} else {
						elements[uint32](bufferOf(buf))[i] = v
					}
				}
				v := driver.View{Buffer: buf, DType: d, Shape: []int{n}, Stride: []int{1}}
				b.SetBytes(int64(n * d.Size()))
				for b.Loop() {
					backend.Count(v)
				}
			})
		}
	}
}
