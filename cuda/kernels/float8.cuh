// The two 8-bit formats of P. Micikevicius et al., "FP8 formats for deep learning", arXiv
// 2209.05433 (2022). Overflow becomes e4m3's 448 or e5m2's infinity.
#pragma once
#include "common.cuh"

template <> struct Wide<e4m3> { typedef float type; };
template <> struct Wide<e5m2> { typedef float type; };

// The exponent field is reinterpreted as a float's with a bias that is too large; a product
// corrects it, also for subnormal numbers.
DEVICE float widen(e4m3 x) {
	u32 a = x.bits & 0x7f, sign = (u32)(x.bits & 0x80) << 24;
	return as_float(as_bits(a == 0x7f ? __builtin_nanf("") : as_float(a << 20) * 0x1p120f) | sign);
}
DEVICE float widen(e5m2 x) { return widen(f16{(u16)(x.bits << 8)}); }

// float8 rounds to a format with the given fraction bits and exponent bias; results from end on
// become past.
DEVICE u8 float8(float x, int fraction, int bias, u32 end, u32 past) {
	u32 b = as_bits(x), sign = b >> 24 & 0x80, a = b & 0x7fffffff, shift = 23 - fraction, n;
	if (x != x) return (u8)(sign | 0x7f);
	if (a < (u32)(128 - bias) << 23) // below the smallest normal number
		n = (u32)__builtin_rintf(as_float(a) * as_float((u32)(126 + bias + fraction) << 23));
	else n = ((a + (1u << (shift - 1)) - 1 + (a >> shift & 1)) >> shift) - ((u32)(127 - bias) << fraction);
	return (u8)(sign | (n >= end ? past : n));
}
DEVICE void narrow(e4m3 &y, float x) { y.bits = float8(x, 3, 7, 0x7f, 0x7e); }
DEVICE void narrow(e5m2 &y, float x) { y.bits = float8(x, 2, 15, 0x7c, 0x7c); }
