package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfnote/tensor/driver"
	"halfnote/tensor/internal/asm"
)

// TestCountLoops compares the counts of each tier with those of the loop in Go, for single kinds of
// numbers and for mixtures, at sizes near those of an iteration.
func TestCountLoops(t *testing.T) {
	defer func(was asm.Loops) { loops = was }(loops)
	r := rand.New(rand.NewPCG(11, 12))
	b := New(1)
	for _, d := range []driver.DType{driver.Float16, driver.BFloat16, driver.Float32} {
		mantissa := map[driver.DType]int{driver.Float16: 10, driver.BFloat16: 7, driver.Float32: 23}[d]
		top := 1<<(8*d.Size()-1-mantissa) - 1 // exponent of infinity
		one := uint32(1)<<mantissa - 1        // all bits of the mantissa
		special := []uint32{0, 1, one, one + 1, uint32(top)<<mantissa - 1, uint32(top) << mantissa, uint32(top)<<mantissa + 1, uint32(top)<<mantissa | one}
		kinds := []func() uint32{
			func() uint32 { return special[r.IntN(len(special))] },
			func() uint32 { return uint32(1+r.IntN(top-1))<<mantissa | r.Uint32()&one },
			r.Uint32,
		}
		for _, s := range special {
			kinds = append(kinds, func() uint32 { return s })
		}
		for kind, draw := range kinds {
			for _, n := range []int{1, 31, 32, 33, 63, 64, 65, 96, 1000, 1024, 20000} {
				buf, err := b.Alloc((n + 1) * d.Size())
				if err != nil {
					t.Fatal(err)
				}
				for i := range n + 1 {
					x := draw() | r.Uint32()>>31<<(8*d.Size()-1)
					if d.Size() == 2 {
						elements[uint16](bufferOf(buf))[i] = uint16(x)
					} else {
						elements[uint32](bufferOf(buf))[i] = x
					}
				}
				v := driver.View{Buffer: buf, DType: d, Shape: []int{n}, Stride: []int{1}, Offset: n % 2}
				loops = asm.Loops{}
				want := b.Count(v)
				for _, tier := range asm.Tiers() {
					loops = tier.Loops
					if got := b.Count(v); bitsOf(got) != bitsOf(want) {
						t.Errorf("%s: %v, kind %d, %d elements: got %+v, want %+v", tier.Name, d, kind, n, got, want)
					}
				}
			}
		}
	}
}

// bitsOf returns c with NaN replaced by a number, so that it can be compared.
func bitsOf(c driver.Counts) driver.Counts {
	for _, x := range []*float64{&c.AbsMin, &c.AbsMax} {
		if math.IsNaN(*x) {
			*x = -1
		}
	}
	return c
}

// BenchmarkCount counts the elements of a layer's weights, and of activations of which half are 0.
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
