// Powers of float, and the length of a vector.
#pragma once
#include "exp.cuh"
#include "log.cuh"

// logParts returns the logarithm of x, positive and finite, as a sum, with a dozen bits more than
// float: for x = 2^k m, the logarithm of m is 2 atanh(q/2) with q = 2(m-1)/(m+1).
DEVICE float logParts(float x, float &lo) {
	float k, f = parts(x, 0x1.6a09e6p-1f, k), r = reciprocal(f + 2), q = 2 * f * r, s = q * q;
	float rest = r * fused(-q, f, 2 * (f - q));
	float c = q * s * polynomial(s, 0x1.555556p-4f, 0x1.9999f0p-7f, 0x1.245a04p-9f, 0x1.de47d2p-12f);
	float h = q + c, l = q - h + c + rest;
	float n = k * 0x1.62ep-1f, t = n + h, more = n - t + h + fused(k, 0x1.0bfbe8p-15f, l); // n is exact
	float hi = t + more;
	lo = t - hi + more;
	return hi;
}

// power returns x to the power y. Special values are those of Go's math.Pow.
DEVICE float power(float x, float y) {
	const float infinity = Limits<float>::infinity();
	float a = size(x), lo, hi = logParts(a, lo);
	if (!(a > 0 && a < infinity)) hi = a == 0 ? -infinity : a, lo = 0;
	float p = y * hi, rest = fused(y, hi, -p) + y * lo;
	if (!(size(p) < 170)) p = signedAs(170.f, p), rest = 0;
	i32 k;
	float e = expLess1(reduce(p, k));
	float z = scaled(1 + (e + fused(rest, e, rest)), k);
	bool whole = y == nearest(y), odd = whole && 0.5f * y != nearest(0.5f * y);
	if (odd) z = signedAs(z, x);
	if (x < 0 && !whole && a < infinity) z = Limits<float>::nan();
	if (x != x || y != y) z = x + y;
	if (y == 1) z = x;
	if (y == 0 || x == 1 || (x == -1 && size(y) == infinity)) z = 1;
	return z;
}

// powerBy is power with products and other short forms for common exponents.
DEVICE float powerBy(float x, float y) { return y == 2 ? x * x : y == 3 ? x * x * x : y == 0.5f ? root(x) : y == -1 ? 1 / x : power(x, y); }

DEVICE float hypot_(float x, float y) {
	x = size(x), y = size(y);
	float most = x < y ? y : x, least = x < y ? x : y;
	float scale = most > 0x1p60f ? 0x1p-70f : most < 0x1p-40f ? 0x1p70f : 1.f, back = most > 0x1p60f ? 0x1p70f : most < 0x1p-40f ? 0x1p-70f : 1.f;
	most *= scale, least *= scale;
	float z = root(fused(most, most, least * least)) * back;
	const float infinity = Limits<float>::infinity();
	return x == infinity || y == infinity ? infinity : x != x || y != y ? x + y : z;
}
