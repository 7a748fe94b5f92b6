package half

import (
	"math"

	"github.com/x448/float16"
)

// Bits of float32 that bound the ranges of float16.
const (
	normalMin = 0x38800000 // 2^-14, the smallest normal float16
	pastMax   = 0x47800000 // 65536: this and all larger numbers are infinite
	infinity  = 0x7f800000
	rebias    = (127 - 15) << 23 // difference between the exponent biases of the two formats
	halfBits  = 0x3f000000       // 0.5
)

// Float16bits returns the float16 nearest to x.
func Float16bits(x float32) uint16 {
	if x != x {
		return NaNFloat16 // x448/float16 keeps the sign and a part of the payload
	}
	return float16.Fromfloat32(x).Bits()
}

// Float16frombits returns the value of a float16. It is exact, and keeps the payload of a NaN.
func Float16frombits(h uint16) float32 {
	f := float16.Frombits(h)
	if f.IsNaN() {
		return math.Float32frombits(uint32(h)<<16&0x80000000 | infinity | uint32(h)&0x3ff<<13) // x448/float16 sets a bit
	}
	return f.Float32()
}

// The loops over slices compute both the result for normal and that for small values
// and then select one. A branch would be hard to predict where half of the values are
// zeros, for example after a ReLU.

// ToFloat16 sets dst[i] to the float16 nearest to src[i]. dst must not be shorter
// than src.
func ToFloat16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i, x := range src {
		b := math.Float32bits(x)
		a := b & 0x7fffffff
		h := (a - rebias + 0xfff + a>>13&1) >> 13
		small := math.Float32bits(math.Float32frombits(a)+0.5) - halfBits
		if a < normalMin {
			h = small
		}
		h |= b >> 16 & 0x8000
		if a >= pastMax {
			h = uint32(Float16bits(x))
		}
		dst[i] = uint16(h)
	}
}

// FromFloat16 sets dst[i] to the value of src[i]. dst must not be shorter than
// src.
func FromFloat16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, h := range src {
		a := uint32(h) & 0x7fff
		b := a<<13 + rebias
		small := math.Float32bits(math.Float32frombits(halfBits|a) - 0.5)
		if a < 0x400 {
			b = small
		}
		if a >= 0x7c00 {
			b = infinity | a<<13
		}
		dst[i] = math.Float32frombits(b | uint32(h)<<16&0x80000000)
	}
}
