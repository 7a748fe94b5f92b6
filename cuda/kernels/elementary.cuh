// Building blocks of elementary functions. Those of float are accurate to 4 units in the last
// place, including subnormal numbers. They fuse products and sums everywhere, branch only for
// rare cases, and use the special function units only for initial approximations, so that their
// digits are the same on every GPU. Coefficients without another source come from
// testdata/minimax.py.
#pragma once
#include "common.cuh"

DEVICE float fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEVICE double fused(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEVICE float root(float x) { return __builtin_sqrtf(x); }
DEVICE double root(double x) { return __builtin_sqrt(x); }
DEVICE float size(float x) { return __builtin_fabsf(x); }
DEVICE double size(double x) { return __builtin_fabs(x); }
DEVICE float signedAs(float x, float y) { return __builtin_copysignf(x, y); }
DEVICE double signedAs(double x, double y) { return __builtin_copysign(x, y); }
DEVICE float nearest(float x) { return __builtin_rintf(x); }
DEVICE double nearest(double x) { return __builtin_rint(x); }
DEVICE float down(float x) { return __builtin_floorf(x); }
DEVICE double down(double x) { return __builtin_floor(x); }
DEVICE float up(float x) { return __builtin_ceilf(x); }
DEVICE double up(double x) { return __builtin_ceil(x); }
DEVICE float cut(float x) { return __builtin_truncf(x); }
DEVICE double cut(double x) { return __builtin_trunc(x); }

template <class W> struct Limits;
template <> struct Limits<float> {
	static METHOD float infinity() { return as_float(0x7f800000u); }
	static METHOD float nan() { return as_float(0x7fc00000u); }
};
template <> struct Limits<double> {
	static METHOD double infinity() { return as_double(0x7ff0000000000000ull); }
	static METHOD double nan() { return as_double(0x7ff8000000000000ull); }
};

// Propagates NaN, unlike fminf.
template <class W> DEVICE W atMost(W x, W limit) { return x > limit ? limit : x; }
template <class W> DEVICE W atLeast(W x, W limit) { return x < limit ? limit : x; }

// polynomial returns c + d x + e x² + … by Horner's scheme.
template <class W> DEVICE W polynomial(W x, W c) { return c; }
template <class W, class... More> DEVICE W polynomial(W x, W c, More... more) { return fused(polynomial(x, more...), x, c); }

DEVICE float guessReciprocal(float x) {
	float r;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}
// reciprocal returns 1/x for |x| between 2^-120 and 2^120.
DEVICE float reciprocal(float x) {
	float r = guessReciprocal(x);
	return fused(fused(-x, r, 1.f), r, r);
}
// reciprocalOfSum returns 1/(x+c) for a positive x and a c that is not much smaller, without
// rounding the sum.
DEVICE float reciprocalOfSum(float x, float c) {
	float sum = x + c, lost = x - (sum - c), r = guessReciprocal(sum);
	return fused(fused(-lost, r, fused(-sum, r, 1.f)), r, r);
}
// ratio returns x/y for y in the same range.
DEVICE float ratio(float x, float y) {
	float r = reciprocal(y), q = x * r;
	return fused(fused(-y, q, x), r, q);
}
DEVICE float inverseRoot(float x) {
	float r;
	asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}
DEVICE double inverseRoot(double x) { return 1 / root(x); }

// power2 returns 2^k for the exponents of normal numbers.
DEVICE float power2(i32 k) { return as_float((u32)(k + 127) << 23); }

// scaled returns p 2^k for p about 1 and k between -252 and 254, rounded once.
DEVICE float scaled(float p, i32 k) {
	i32 half = k >> 1;
	return p * power2(half) * power2(k - half);
}
