// The exponential function of double and functions derived from it, as in package elementary,
// which names the sources; with fused products and sums.
#pragma once
#include "elementary.cuh"
#include "ztables64.cuh"

DEVICE double twoSum(double a, double b, double &lo) {
	double hi = a + b, t = hi - a;
	lo = (a - (hi - t)) + (b - t);
	return hi;
}
// quickSum is twoSum for |a| >= |b|.
DEVICE double quickSum(double a, double b, double &lo) {
	double hi = a + b;
	lo = b - (hi - a);
	return hi;
}
DEVICE double twoProduct(double a, double b, double &lo) {
	double hi = a * b;
	lo = fused(a, b, -hi);
	return hi;
}
template <int n> DEVICE double polynomial(double x, const double (&c)[n]) {
	double y = c[n - 1];
#pragma unroll
	for (int i = n - 2; i >= 0; i--) y = fused(y, x, c[i]);
	return y;
}

DEVICE double power2of(i32 k) { return as_double((u64)(k + 1023) << 52); }

// scaled returns p 2^k for p about 1 and k between -2044 and 2046, rounded once.
DEVICE double scaled(double p, i32 k) {
	i32 half = k >> 1;
	return p * power2of(half) * power2of(k - half);
}

// expReduced returns exp(hi+lo - n log 2) - 1, for n the integer nearest to hi/log 2.
DEVICE double expReduced(double hi, double lo, double n) {
	double r = fused(-n, ln2Hi, hi), t = n * ln2Lo, c, s = quickSum(r - t, (r - (r - t)) - t + lo, c);
	return s + fused(s * s, polynomial(s, expTail), fused(c, s, c));
}

// expOf returns exp(hi+lo) 2^more for |hi| up to 750.
DEVICE double expOf(double hi, double lo, i32 more) {
	double n = nearest(hi * log2E);
	return scaled(1 + expReduced(hi, lo, n), (i32)n + more);
}

DEVICE double exp_(double x) { return expOf(atLeast(atMost(x, 711.), -747.), 0, 0); }

DEVICE double exp2_(double x) {
	x = atLeast(atMost(x, 1025.), -1077.);
	double n = nearest(x), lo, hi = twoProduct(x - n, ln2Hi + ln2Lo, lo);
	return scaled(1 + expReduced(hi, fused(x - n, ln2Rest, lo), 0), (i32)n);
}

DEVICE double expm1_(double x) {
	double y = atLeast(atMost(x, 711.), -41.), n = nearest(y * log2E), p = expReduced(y, 0, n);
	if (n == 0) return x == 0 ? x : p;
	if (n > 60) return scaled(1 + p, (i32)n);
	double e = power2of((i32)n), lo, hi = twoSum(e - 1, e * p, lo);
	return x == 0 ? x : hi + lo;
}

DEVICE double sinh_(double x) {
	double a = size(x);
	if (a > 40) return signedAs(expOf(atMost(a, 720.), 0, -1), x);
	double e = expm1_(a);
	return signedAs(0.5 * (e + e / (e + 1)), x);
}

DEVICE double cosh_(double x) {
	double h = expOf(atMost(size(x), 720.), 0, -1);
	return h + 0.25 / h;
}

DEVICE double tanh_(double x) {
	double e = expm1_(2 * atMost(size(x), 22.));
	return signedAs(e / (e + 2), x);
}

DEVICE double sigmoid(double x) {
	double e = exp_(-size(x)), y = 1 / (1 + e);
	return x < 0 ? e * y : y;
}
