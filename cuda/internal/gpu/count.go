//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"halfnote/cuda/internal/drv"
	"halfnote/tensor/driver"
)

// format is Format of count.cu.
type format struct{ magnitude, normal, inf, nan uint64 }

// formats holds the number of fraction bits and the bit patterns of each dtype.
var formats = map[driver.DType]struct {
	fraction int
	format
}{
	driver.Float16:    {10, format{0x7fff, 0x0400, 0x7c00, 0x7c01}},
	driver.BFloat16:   {7, format{0x7fff, 0x0080, 0x7f80, 0x7f81}},
	driver.Float32:    {23, format{1<<31 - 1, 1 << 23, 0xff << 23, 0xff<<23 + 1}},
	driver.Float64:    {52, format{1<<63 - 1, 1 << 52, 0x7ff << 52, 0x7ff<<52 + 1}},
	driver.Float8E4M3: {3, format{0x7f, 0x08, 0x7f, 0x7f}},
	driver.Float8E5M2: {2, format{0x7f, 0x04, 0x7c, 0x7d}},
}

// Count counts the kinds of values in v after all enqueued work is done. It implements
// [driver.Counter].
func (b *Backend) Count(v driver.View) driver.Counts {
	none := driver.Counts{Count: v.Len(), AbsMin: math.NaN(), AbsMax: math.NaN()}
	w := orderedWalk(v)
	if w.n == 0 {
		return none
	}
	const words = 6 // size of Census
	found := b.scratch(8 * words)
	defer b.Release(found)
	at := bufferOf(found).at()
	b.must(b.stream.Set8(at, 0, 8*words))
	d := v.DType
	f, real := formats[d]
	if !real {
		f.format = format{math.MaxUint64, 0, math.MaxUint64, math.MaxUint64}
	}
	name := fmt.Sprint(d.Size())
	if step, ok := w.step(0); ok && step == 1 && pointer(v)%16 == 0 {
		a := argsOf{newArgs()}
		a.I64(int64(w.n))
		a.Bytes(bytesOf(&f.format))
		a.Ptr(pointer(v))
		a.Ptr(at)
		b.launchItems(kernel{"count", "count_" + name}, (w.n+perPack(d)-1)/perPack(d), a.Args)
	} else {
		w.parts(func(axes *axes, n int, offset []int) {
			a := argsOf{newArgs()}
			a.I32(int32(n))
			a.Bytes(bytesOf(&f.format))
			a.Ptr(pointer(v) + drv.Ptr(offset[0]*d.Size()))
			a.Ptr(at)
			a.Bytes(bytesOf(axes))
			b.launchItems(kernel{"count", "count_strided_" + name}, n, a.Args)
		})
	}
	var p [8 * words]byte
	b.Read(p[:], found, 0)
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(p[8*i:]) }
	if none.Zeros = int(word(0)); !real {
		return none
	}
	c := none
	c.Subnormals, c.Infs, c.NaNs = int(word(1)), int(word(2)), int(word(3))
	if most := word(5); most > 0 {
		c.AbsMin, c.AbsMax = f.value(^word(4)+1, f.fraction), f.value(most, f.fraction)
	}
	return c
}

// value returns the number with these bits, which is finite and not negative.
func (f format) value(bits uint64, fraction int) float64 {
	bias := int(f.inf>>fraction) / 2 // infinity's exponent field is all ones
	exponent, digits := int(bits>>fraction), bits&(1<<fraction-1)
	if exponent == 0 {
		return math.Ldexp(float64(digits), 1-bias-fraction)
	}
	return math.Ldexp(float64(digits|1<<fraction), exponent-bias-fraction)
}
