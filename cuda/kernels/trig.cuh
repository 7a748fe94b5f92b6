// Trigonometric functions of float.
#pragma once
#include "elementary.cuh"

// twoOverPi holds the bits of 2/pi, after 32 of 0.
static __attribute__((device)) const u32 twoOverPi[8] = {0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};

// reduceFar is reduceAngle for large finite angles: M. Payne and R. Hanek, Radian reduction for
// trigonometric functions, SIGNUM Newsletter 18 (1983). x is n 2^e with an integer n below 2^24;
// of 2/pi 2^e, the 96 bits from weight 2 down are needed.
DEVICE float reduceFar(float x, u32 &quadrant) {
	u32 bits = as_bits(x) & 0x7fffffff, n = (bits & 0x7fffff) | 0x800000, from = (bits >> 23) - 150 + 30;
	const u32 *w = &twoOverPi[from >> 5];
	u32 shift = from & 31;
	u64 a = ((u64)w[0] << 32 | w[1]) << shift >> 32, b = ((u64)w[1] << 32 | w[2]) << shift >> 32, c = ((u64)w[2] << 32 | w[3]) << shift >> 32;
	u64 low = n * c, mid = n * b + (low >> 32), high = n * a + (mid >> 32);
	i64 rest = (i64)(high << 34 | (mid << 32 >> 30) | (u32)low >> 30);
	quadrant = (u32)high >> 30;
	if (rest < 0) quadrant++;
	float r = (float)((double)rest * 0x1.921fb54442d18p-64);
	if (x >= 0) return r;
	quadrant = -quadrant;
	return -r;
}

// reduceAngle returns x minus the multiple of pi/2 that leaves -pi/4 to pi/4, and that multiple
// modulo 4.
DEVICE float reduceAngle(float x, u32 &quadrant) {
	float a = size(x);
	if (a > 0x1p17f) {
		quadrant = 0;
		return a < Limits<float>::infinity() ? reduceFar(x, quadrant) : Limits<float>::nan();
	}
	// W. Cody and W. Waite: pi/2 in three parts.
	const float magic = 0x1.8p23f;
	float t = fused(x, 0x1.45f306p-1f, magic), n = t - magic;
	quadrant = as_bits(t);
	return fused(n, 0x1.ee59dap-50f, fused(n, 0x1.777a5cp-25f, fused(n, -0x1.921fb6p+0f, x)));
}

// sineOf and cosineOf take an angle up to pi/4 and its square z.
DEVICE float sineOf(float r, float z) { return fused(r * z, polynomial(z, -0x1.555552p-3f, 0x1.110c24p-7f, -0x1.9ac6fcp-13f), r); }
DEVICE float cosineOf(float z) { return fused(z * z, polynomial(z, 0x1.555554p-5f, -0x1.6c12cep-10f, 0x1.9bd670p-16f), fused(z, -0.5f, 1.f)); }

// sine returns sin(x + turn pi/2): the cosine for turn 1.
DEVICE float sine(float x, u32 turn) {
	u32 quadrant;
	float r = reduceAngle(x, quadrant), z = r * r;
	quadrant += turn;
	float y = quadrant & 1 ? cosineOf(z) : sineOf(r, z);
	return as_float(as_bits(y) ^ (quadrant & 2) << 30);
}
DEVICE float sin_(float x) { return x == 0 ? x : sine(x, 0); }
DEVICE float cos_(float x) { return sine(x, 1); }

DEVICE float tan_(float x) {
	u32 quadrant;
	float r = reduceAngle(x, quadrant), z = r * r, s = sineOf(r, z), c = cosineOf(z);
	float y = quadrant & 1 ? -c / s : s / c;
	return x == 0 ? x : y;
}

// asinNear returns the arc sine of w, from 0 to 1/2, with its square z.
DEVICE float asinNear(float w, float z) { return fused(w * z, polynomial(z, 0x1.55555ep-3f, 0x1.332732p-4f, 0x1.70a6bcp-5f, 0x1.b311d2p-6f, 0x1.37fe16p-5f), w); }

DEVICE float asin_(float x) {
	float a = size(x);
	bool far = a > 0.5f;
	float z = far ? fused(a, -0.5f, 0.5f) : a * a, y = asinNear(far ? root(z) : a, z);
	return signedAs(far ? fused(-2.f, y, 0x1.921fb6p+0f) : y, x);
}

DEVICE float acos_(float x) {
	float a = size(x);
	bool far = a > 0.5f;
	float z = far ? fused(a, -0.5f, 0.5f) : a * a, y = asinNear(far ? root(z) : a, z);
	if (!far) return 0x1.921fb6p+0f - (signedAs(y, x) + 0x1.777a5cp-25f);
	return x < 0 ? fused(-2.f, y, 0x1.921fb6p+1f) : 2 * y;
}

// atanNear returns the arc tangent of t, from 0 to 1.
DEVICE float atanNear(float t) {
	float z = t * t;
	return fused(t * z, polynomial(z, -0x1.555554p-2f, 0x1.99983cp-3f, -0x1.246cd2p-3f, 0x1.c3f168p-4f, -0x1.6295f8p-4f, 0x1.0001c6p-4f, -0x1.25dc12p-5f, 0x1.ba9f66p-7f, -0x1.38de56p-9f), t);
}

DEVICE float atan_(float x) {
	float a = size(x), y = atanNear(a > 1 ? 1 / a : a);
	return signedAs(a > 1 ? 0x1.921fb6p+0f - y : y, x);
}

// atan2_ returns the angle of the point (x, y).
DEVICE float atan2_(float y, float x) {
	float a = size(x), b = size(y);
	float least = a < b ? a : b, most = a < b ? b : a;
	float t = least == most ? (most == 0 ? 0.f : 1.f) : least / most;
	if (x != x || y != y) t = x + y;
	float r = atanNear(t);
	if (b > a) r = 0x1.921fb6p+0f - r;
	if (as_bits(x) >> 31) r = 0x1.921fb6p+1f - r;
	return signedAs(r, y);
}
