// Package half converts between float32 and the two 16-bit formats, float16
// (IEEE 754 binary16: 5 bits of exponent, 10 of fraction) and bfloat16 (the
// upper half of a float32: 8 and 7). It does not depend on tensors. Single numbers of float16
// are converted by github.com/x448/float16, slices by loops here that the compiler and the
// processor can overlap.
//
// Every conversion to 16 bits rounds once, to nearest even. Subnormals are kept in
// both directions, numbers that are too large become infinite, zeros keep their sign,
// and every NaN becomes the same positive quiet NaN, so the bits do not depend on the
// processor. A float64 is converted by way of float32, as in torch.
package half

// The NaN of each format, bits.
const (
	NaNFloat16  = 0x7e00
	NaNBFloat16 = 0x7fc0
)
