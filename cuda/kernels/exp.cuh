// The exponential function of float and functions derived from it.
#pragma once
#include "elementary.cuh"

// reduce returns r = x - k log 2, with |r| up to log(2)/2.
DEVICE float reduce(float x, i32 &k) {
	const float magic = 0x1.8p23f; // adding it rounds to an integer
	float t = fused(x, 0x1.715476p+0f, magic), n = t - magic;
	k = (i32)(as_bits(t) - as_bits(magic));
	return fused(n, 0x1.05c610p-29f, fused(n, -0x1.62e430p-1f, x));
}

// expLess1 returns exp(r) - 1 for a result of reduce.
DEVICE float expLess1(float r) {
	return fused(r * r, polynomial(r, 0x1.000000p-1f, 0x1.5554d8p-3f, 0x1.555516p-5f, 0x1.12106cp-7f, 0x1.6d1606p-10f), r);
}

DEVICE float exp_(float x) {
	i32 k;
	float r = reduce(atLeast(atMost(x, 89.f), -104.f), k);
	return scaled(1 + expLess1(r), k);
}

DEVICE float exp2_(float x) {
	x = atLeast(atMost(x, 129.f), -151.f);
	float n = nearest(x);
	return scaled(1 + expLess1((x - n) * 0x1.62e430p-1f), (i32)n);
}

// expm1Near is expm1 up to 88.
DEVICE float expm1Near(float x) {
	i32 k;
	float p = expLess1(reduce(x, k)), s = power2(k);
	return fused(p, s, s - 1);
}

DEVICE float expm1_(float x) {
	float y = expm1Near(atLeast(atMost(x, 88.f), -20.f));
	return x > 88 ? exp_(x) : x == 0 ? x : y;
}

// halfExp returns exp(x)/2 for x from 0 on, also where exp(x) overflows.
DEVICE float halfExp(float x) {
	i32 k;
	float r = reduce(atMost(x, 90.f), k);
	return scaled(1 + expLess1(r), k - 1);
}

DEVICE float sinh_(float x) {
	float a = size(x), e = expm1Near(atMost(a, 20.f));
	float near = 0.5f * (e + ratio(e, e + 1));
	return signedAs(a > 20 ? halfExp(a) : near, x);
}

DEVICE float cosh_(float x) {
	float h = halfExp(size(x));
	return h + 0.25f / h;
}

DEVICE float tanh_(float x) {
	float e = expm1Near(2 * atMost(size(x), 10.f));
	return signedAs(ratio(e, e + 2), x);
}

// sigmoid is accurate for small results, because the exponential never overflows.
DEVICE float sigmoid(float x) {
	float e = exp_(-size(x)), r = reciprocal(1 + e);
	return x < 0 ? e * r : r;
}
