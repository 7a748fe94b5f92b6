package quant

import (
	"math"
	"unsafe"

	"halfnote/tensor/internal/asm"
)

const (
	signBit = 1 << 31
	infBits = 0x7f800000
)

// absmax returns the larger of most and the largest magnitude of x, as bits, which have the order of the numbers. Infinity and NaN are the largest.
func absmax(most uint32, x []float32) uint32 {
	for _, v := range x {
		most = max(most, math.Float32bits(v)&^signBit)
	}
	return most
}

// encoder converts float32 numbers, at most limit in magnitude after scaling, to the nearest number of a format.
type encoder struct {
	asm.Codes
	tier      *asm.Tier // nil for portable code
	magicBits uint32
	noZero    bool // -0 becomes 0
}

func newEncoder(s *spec, tier *asm.Tier) encoder {
	e := encoder{tier: tier, noZero: s.kind == fnuz}
	e.Shift = uint64(23 - s.mantissa)
	e.Half = 1<<(e.Shift-1) - 1
	e.Rebias = uint32(127-s.bias) << s.mantissa
	e.Tiny = math.Float32bits(float32(math.Ldexp(1, 1-s.bias)))
	if s.exponent == 0 {
		e.Tiny = infBits // all numbers are multiples of the smallest
	}
	if e.Sign = 1 << (s.bits() - 1); s.kind == twos || s.kind == symmetric {
		e.Sign, e.Twos = 0, math.MaxUint32
	}
	e.Magic = float32(math.Ldexp(1, 1-s.bias-s.mantissa+23))
	e.magicBits = math.Float32bits(e.Magic)
	return e
}

// nearest sets dst[i] to the code of src[i]*factor, whose magnitude is limited to limit. No number may be NaN.
func (e *encoder) nearest(dst []uint8, src []float32, factor, limit float32) {
	whole := 0
	if e.tier != nil && e.tier.Loops.Encode != nil && !e.noZero {
		if whole = len(src) &^ 15; whole > 0 {
			e.tier.Loops.Encode(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), 1, whole, unsafe.Pointer(&factor), unsafe.Pointer(&limit), &e.Codes)
		}
	}
	e.portable(dst[whole:len(src)], src[whole:], factor, limit)
}

// portable is nearest in Go.
func (e *encoder) portable(dst []uint8, src []float32, factor, limit float32) {
	dst = dst[:len(src)]
	most, shift := math.Float32bits(limit), uint32(e.Shift)
	for i, v := range src {
		b := math.Float32bits(v * factor)
		a := min(b&^signBit, most)
		if a < e.Tiny {
			// The sum rounds to the unit of the format.
			a = math.Float32bits(math.Float32frombits(a)+e.Magic) - e.magicBits
		} else {
			a = (a+e.Half+a>>shift&1)>>shift - e.Rebias
		}
		sign := uint32(int32(b) >> 31)
		c := a ^ sign&e.Twos - sign&e.Twos | sign&e.Sign
		if e.noZero && a == 0 {
			c = 0
		}
		dst[i] = uint8(c)
	}
}

// rounded is nearest with another rounding; element i is at position at + i.
func (e *encoder) rounded(dst []uint8, src []float32, factor, limit float32, r Rounding, at int) {
	most, shift, key := math.Float32bits(limit), uint32(e.Shift), r.key()
	unit := 1 / (float64(e.Magic) * 0x1p-23) // 1 by the smallest number
	for i, v := range src {
		b := math.Float32bits(v * factor)
		a := min(b&^signBit, most)
		y := math.Float32frombits(a | b&signBit)
		var fraction int64 // of a unit, times 2^53, rounded up, which does not matter to a draw
		if a < e.Tiny {
			n := float64(math.Float32frombits(a)) * unit
			a = uint32(int32(n))
			fraction = int64(math.Ceil((n - float64(int32(a))) * 0x1p53))
		} else {
			fraction = int64(a&(1<<shift-1)) << (53 - shift)
			a = a>>shift - e.Rebias
		}
		if r != TowardZero && int64(r.draw(key, at+i, float64(y))) < fraction {
			a++
		}
		sign := uint32(int32(b) >> 31)
		c := a ^ sign&e.Twos - sign&e.Twos | sign&e.Sign
		if e.noZero && a == 0 {
			c = 0
		}
		dst[i] = uint8(c)
	}
}

// blocks is nearest for adjacent blocks of the same width, each with a factor and a limit.
func (e *encoder) blocks(dst []uint8, src []float32, width int, factors, limits []float32) {
	if e.tier != nil && e.tier.Loops.Encode != nil && !e.noZero && width%16 == 0 && len(src) > 0 {
		e.tier.Loops.Encode(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), len(src)/width, width, unsafe.Pointer(&factors[0]), unsafe.Pointer(&limits[0]), &e.Codes)
		return
	}
	for c := range len(src) / width {
		e.nearest(dst[c*width:], src[c*width:(c+1)*width], factors[c], limits[c])
	}
}

// integers sets dst to the codes of adjacent blocks of integers of the given number of bits.
func (e *encoder) integers(dst []uint8, src []float32, width int, factors []float32, zeros []int32, bits int) {
	lowest := -int32(1) << (bits - 1)
	if e.tier != nil && e.tier.Loops.Integers != nil && width%16 == 0 && len(src) > 0 {
		e.tier.Loops.Integers(unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), len(src)/width, width, unsafe.Pointer(&factors[0]), unsafe.Pointer(&zeros[0]), int(lowest))
		return
	}
	// The sum with magic, whose unit in the last place is 1, rounds: its bits are those of magic plus the integer.
	const magic = 3 << 22
	for c := range len(src) / width {
		zero := zeros[c] - int32(math.Float32bits(magic))
		for i, v := range src[c*width : (c+1)*width] {
			dst[c*width+i] = uint8(min(max(int32(math.Float32bits(float32(v*factors[c])+magic))+zero, lowest), ^lowest))
		}
	}
}

// ranges sets lo and hi to the least and the largest of 0 and the numbers of each of adjacent blocks.
func (e *encoder) ranges(lo, hi, src []float32, width int) {
	if e.tier != nil && e.tier.Loops.RangesOfBlocks != nil && width%16 == 0 && len(src) > 0 {
		e.tier.Loops.RangesOfBlocks(unsafe.Pointer(&lo[0]), unsafe.Pointer(&hi[0]), unsafe.Pointer(&src[0]), len(src)/width, width)
		return
	}
	for c := range len(src) / width {
		lo[c], hi[c] = 0, 0
		for _, v := range src[c*width : (c+1)*width] {
			lo[c], hi[c] = min(lo[c], v), max(hi[c], v)
		}
	}
}

// most returns the bits of the largest magnitude of x.
func (e *encoder) most(x []float32) uint32 {
	var whole [1]uint32
	n := len(x) &^ 15
	if n > 0 {
		e.largest(whole[:], x[:n], n)
	}
	return absmax(whole[0], x[n:])
}

// mostBits returns the largest of the bits of magnitudes.
func (e *encoder) mostBits(magnitudes []uint32) uint32 {
	return e.most(unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(magnitudes))), len(magnitudes)))
}

// largest sets most to the bits of the largest magnitude of each of adjacent blocks of the same width.
func (e *encoder) largest(most []uint32, src []float32, width int) {
	if e.tier != nil && e.tier.Loops.LargestOfBlocks != nil && width%16 == 0 && len(src) > 0 {
		e.tier.Loops.LargestOfBlocks(unsafe.Pointer(&most[0]), unsafe.Pointer(&src[0]), len(src)/width, width)
		return
	}
	for c := range len(src) / width {
		most[c] = absmax(0, src[c*width:(c+1)*width])
	}
}
