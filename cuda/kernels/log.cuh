// The logarithm of float and functions derived from it.
#pragma once
#include "elementary.cuh"

// parts returns m - 1 for x = 2^k m, m between least and 2 least. x must be positive and finite.
DEVICE float parts(float x, float least, float &k) {
	bool tiny = x < 0x1p-126f;
	u32 bits = as_bits(tiny ? x * 0x1p23f : x), e = bits - as_bits(least) & 0xff800000;
	k = (float)((i32)e >> 23) - (tiny ? 23.f : 0.f);
	return as_float(bits - e) - 1;
}

// logNear returns log(1+f) for f between -1/3 and 1/3.
DEVICE float logNear(float f) {
	return fused(f * f, polynomial(f, -0x1.000000p-1f, 0x1.55552cp-2f, -0x1.ffffb6p-3f, 0x1.99bf86p-3f, -0x1.557832p-3f, 0x1.1fdcf0p-3f, -0x1.f758960p-4f, 0x1.1990bcp-3f, -0x1.fcd036p-4f), f);
}

// logLimit returns y, or the logarithm of x if x is not positive and finite.
DEVICE float logLimit(float x, float y) {
	const float infinity = Limits<float>::infinity();
	return x > 0 && x < infinity ? y : x == 0 ? -infinity : x < 0 ? Limits<float>::nan() : x;
}

DEVICE float log_(float x) {
	float k, y = logNear(parts(x, 0x1.555556p-1f, k));
	return logLimit(x, fused(k, 0x1.62e430p-1f, y));
}

DEVICE float log2_(float x) {
	float k, y = logNear(parts(x, 0x1.555556p-1f, k));
	return logLimit(x, fused(y, 0x1.715476p+0f, k));
}

DEVICE float log10_(float x) {
	float k, y = logNear(parts(x, 0x1.555556p-1f, k));
	return logLimit(x, fused(y, 0x1.bcb7b2p-2f, k * 0x1.344136p-2f));
}

// log1p of x, which is 2^k(1+f)-1, with f computed from x itself rather than from 1+x, which
// rounds.
DEVICE float log1p_(float x) {
	float u = 1 + x;
	i32 k = (i32)(as_bits(u) - as_bits(0x1.555556p-1f)) >> 23;
	float s = power2(-k), f = fused(x, s, s - 1);
	float y = fused((float)k, 0x1.62e430p-1f, logNear(f));
	return x > 0x1p100f ? log_(x) : x == 0 ? x : logLimit(u, y);
}

DEVICE float asinh_(float x) {
	float a = size(x), near = atMost(a, 0x1p30f);
	float s = near * near;
	float y = log1p_(a > 0x1p30f ? a : near + s / (1 + root(1 + s)));
	return signedAs(a > 0x1p30f ? y + 0x1.62e430p-1f : y, x);
}

DEVICE float acosh_(float x) {
	float t = x - 1, near = atMost(t, 0x1p30f);
	float y = log1p_(t > 0x1p30f ? t : near + root(fused(near, near, 2 * near)));
	return x < 1 ? Limits<float>::nan() : t > 0x1p30f ? y + 0x1.62e430p-1f : y;
}

DEVICE float atanh_(float x) {
	float a = size(x);
	return signedAs(0.5f * log1p_(2 * a / (1 - a)), x);
}
