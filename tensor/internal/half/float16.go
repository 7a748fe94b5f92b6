package half

import "math"

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
	b := math.Float32bits(x)
	sign, a := uint16(b>>16&0x8000), b&0x7fffffff
	switch {
	case a-normalMin < pastMax-normalMin:
		// A carry out of the fraction runs into the exponent and, from 65520 on,
		// produces infinity.
		return sign | uint16((a-rebias+0xfff+a>>13&1)>>13)
	case a < normalMin:
		// The last bit of a sum in [0.5, 1) is 2^-24, the smallest subnormal of
		// float16, so the addition rounds at the same bit as float16.
		return sign | uint16(math.Float32bits(math.Float32frombits(a)+0.5)-halfBits)
	case a > infinity:
		return NaNFloat16
	}
	return sign | 0x7c00
}

// Float16frombits returns the value of a float16. It is exact.
func Float16frombits(h uint16) float32 {
	sign, a := uint32(h)<<16&0x80000000, uint32(h)&0x7fff
	switch {
	case a-0x400 < 0x7c00-0x400:
		return math.Float32frombits(sign | a<<13 + rebias)
	case a < 0x400:
		// a counts units of 2^-24: 0.5 + a*2^-24 has a in its last bits.
		return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(halfBits|a)-0.5))
	}
	return math.Float32frombits(sign | infinity | a<<13)
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
