// The logarithm of double and functions derived from it, as in package elementary.
#pragma once
#include "exp64.cuh"

// logParts returns the logarithm of x, positive and finite, as a sum.
DEVICE double logParts(double x, double &lo) {
	bool tiny = x < 0x1p-1022;
	const u64 first = 0x3fe6000000000000; // 0.6875
	u64 bits = as_bits(tiny ? x * 0x1p54 : x), from = bits - first;
	const auto &cell = logs[from >> 45 & 127];
	double k = (double)((i64)from >> 52) - (tiny ? 54. : 0.), z = as_double(bits - (from & 0xfffull << 52));
	double rest, p = twoProduct(z, cell.c, rest), r = p - 1; // exact
	double l0, l1, l2, l3, hi = twoSum(k * ln2Hi, cell.hi, l0);
	hi = twoSum(hi, r, l1);
	double q = twoProduct(0.5 * r, r, l2);
	hi = twoSum(hi, -q, l3);
	double series = polynomial(r, 2. / 3, -2. / 4, 2. / 5, -2. / 6, 2. / 7, -2. / 8, 2. / 9, -2. / 10);
	return quickSum(hi, l3 + (l1 + (l0 + k * ln2Lo + cell.lo)) + (rest * (1 - r) - l2 + r * q * series), lo);
}

// logLimit returns y, or the logarithm of x if x is not positive and finite.
DEVICE double logLimit(double x, double y) {
	const double infinity = Limits<double>::infinity();
	return x > 0 && x < infinity ? y : x == 0 ? -infinity : x < 0 ? Limits<double>::nan() : x;
}

DEVICE double log_(double x) {
	double lo, hi = logParts(x, lo);
	return logLimit(x, hi + lo);
}

DEVICE double logBase(double x, double hi, double lo) {
	double l, h = logParts(x, l), q, p = twoProduct(h, hi, q);
	return logLimit(x, p + (q + l * hi + h * lo));
}
DEVICE double log2_(double x) { return logBase(x, log2E, log2ELo); }
DEVICE double log10_(double x) { return logBase(x, log10E, log10ELo); }

DEVICE double log1p_(double x) {
	bool far = x > 0x1p54;
	double e, u = twoSum(1, x, e), lo, hi = logParts(far ? x : u, lo);
	return x == 0 ? x : logLimit(far ? x : u, hi + (far ? lo : lo + e / u));
}

DEVICE double asinh_(double x) {
	double a = size(x), near = atMost(a, 0x1p60), s = near * near;
	double y = log1p_(a > 0x1p60 ? a : near + s / (1 + root(1 + s)));
	return signedAs(a > 0x1p60 ? y + (ln2Hi + ln2Lo) : y, x);
}

DEVICE double acosh_(double x) {
	double t = x - 1, near = atMost(t, 0x1p28);
	double y = log1p_(t > 0x1p28 ? t : near + root(fused(near, near, 2 * near)));
	return x < 1 ? Limits<double>::nan() : t > 0x1p28 ? y + (ln2Hi + ln2Lo) : y;
}

DEVICE double atanh_(double x) {
	double a = size(x);
	return signedAs(0.5 * log1p_(2 * a / (1 - a)), x);
}
