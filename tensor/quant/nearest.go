package quant

import "math"

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
	shift             uint32  // mantissa bits that float32 has and the format lacks
	half              uint32  // half a unit in the last place of the format, less 1
	rebias            uint32  // difference of the biases, at the place of the format's exponent
	tiny              uint32  // bits of the smallest normal number
	magic             float32 // a number whose unit in the last place is the smallest subnormal number
	magicBits         uint32
	sign              uint8
	twos, dropZeroing bool
}

func newEncoder(s *spec) encoder {
	e := encoder{shift: uint32(23 - s.mantissa), sign: 1 << (s.bits() - 1), twos: s.kind == twos || s.kind == symmetric, dropZeroing: s.kind == fnuz}
	e.half = 1<<(e.shift-1) - 1
	e.rebias = uint32(127-s.bias) << s.mantissa
	e.tiny = math.Float32bits(float32(math.Ldexp(1, 1-s.bias)))
	if s.exponent == 0 {
		e.tiny = infBits // all numbers are multiples of the smallest
	}
	e.magic = float32(math.Ldexp(1, 1-s.bias-s.mantissa+23))
	e.magicBits = math.Float32bits(e.magic)
	return e
}

// nearest sets dst[i] to the code of src[i]*factor, whose magnitude is limited to limit. No number may be NaN.
func (e *encoder) nearest(dst []uint8, src []float32, factor, limit float32) {
	dst = dst[:len(src)]
	most := math.Float32bits(limit)
	for i, v := range src {
		b := math.Float32bits(v * factor)
		a := min(b&^signBit, most)
		if a < e.tiny {
			// The sum rounds to the unit of the format.
			a = math.Float32bits(math.Float32frombits(a)+e.magic) - e.magicBits
		} else {
			a = (a+e.half+a>>e.shift&1)>>e.shift - e.rebias
		}
		c := uint8(a)
		if b&signBit != 0 && (c != 0 || !e.dropZeroing) {
			if c |= e.sign; e.twos {
				c = -uint8(a)
			}
		}
		dst[i] = c
	}
}
