package half

import "math"

// BFloat16bits returns the bfloat16 nearest to x.
func BFloat16bits(x float32) uint16 {
	b := math.Float32bits(x)
	if b&0x7fffffff > infinity {
		return NaNBFloat16
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// BFloat16frombits returns the value of a bfloat16. It is exact.
func BFloat16frombits(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// ToBFloat16 sets dst[i] to the bfloat16 nearest to src[i]. dst must not be
// shorter than src.
func ToBFloat16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = BFloat16bits(x)
	}
}

// FromBFloat16 sets dst[i] to the value of src[i]. dst must not be shorter than
// src.
func FromBFloat16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, h := range src {
		dst[i] = BFloat16frombits(h)
	}
}
