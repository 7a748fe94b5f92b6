// Quotients and remainders of float and double.
#pragma once
#include "elementary.cuh"

// exponentOf returns the stored exponent of a positive number, extended to subnormal ones;
// exponent2 returns 2^k, k not negative.
DEVICE i32 exponentOf(float x) {
	u32 bits = as_bits(x);
	return bits >= 0x800000 ? (i32)(bits >> 23) : 9 - __builtin_clz(bits);
}
DEVICE i32 exponentOf(double x) {
	u64 bits = as_bits(x);
	return bits >= 1ull << 52 ? (i32)(bits >> 52) : 12 - __builtin_clzll(bits);
}
DEVICE float exponent2(float, i32 k) { return power2(k); }
DEVICE double exponent2(double, i32 k) { return as_double((u64)(k + 1023) << 52); }

// fmod_ returns x - y trunc(x/y), exactly: it takes as many digits of the quotient at a time as
// keep the product with y exact.
template <class W> DEVICE W fmod_(W x, W y) {
	const i32 digits = sizeof(W) == 4 ? 22 : 51;
	W a = size(x), b = size(y);
	if (!(a < Limits<W>::infinity()) || !(b > 0)) return Limits<W>::nan();
#pragma unroll 1
	while (a >= b) {
		i32 n = exponentOf(a) - exponentOf(b) - digits;
		W c = b;
		if (n > 0) c = b * exponent2(W(), n >> 1) * exponent2(W(), n - (n >> 1));
		a = fused(-cut(a / c), c, a);
		if (a < 0) a += c;
	}
	return signedAs(a, x);
}

template <class W> DEVICE W remainder_(W x, W y) {
	W r = fmod_(x, y);
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

// floorDiv returns the floor of the exact quotient: that of the rounded one, or one less if the
// remainder does not have y's sign.
template <class W> DEVICE W floorDiv(W x, W y) {
	const W infinity = Limits<W>::infinity();
	W q = x / y, f = down(q);
	if (y == 0) return q;
	if (size(x) == infinity) return Limits<W>::nan();
	W rest = size(y) == infinity ? x : fused(-f, y, x);
	if (size(q) < (sizeof(W) == 4 ? (W)0x1p24 : (W)0x1p53) && rest != 0 && (rest < 0) != (y < 0)) f -= 1;
	return f == 0 ? signedAs(f, q) : f;
}
