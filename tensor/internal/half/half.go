// Package half converts between float32 and the two 16-bit formats, float16
// (IEEE 754 binary16: 5 bits of exponent, 10 of fraction) and bfloat16 (the
// upper half of a float32: 8 and 7). It does not depend on tensors.
//
// Every conversion to 16 bits rounds once, to nearest even. Subnormals are kept in
// both directions, numbers that are too large become infinite, zeros keep their sign,
// and every NaN becomes the same positive quiet NaN, so the bits do not depend on the
// processor. A float64 is converted by way of float32, as in torch.
package half

// The limits of the formats and their NaN.
const (
	MaxFloat16               = 65504           // 0x7bff
	SmallestNormalFloat16    = 1.0 / (1 << 14) // 0x0400
	SmallestSubnormalFloat16 = 1.0 / (1 << 24) // 0x0001
	NaNFloat16               = 0x7e00          // bits
	MaxBFloat16              = 0x1.fep127      // 0x7f7f
	NaNBFloat16              = 0x7fc0          // bits
)
