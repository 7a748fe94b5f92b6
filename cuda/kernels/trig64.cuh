// Trigonometric functions of double, as in package elementary, except the reduction of large
// angles.
#pragma once
#include "exp64.cuh"

// twoOverPi64 holds the bits of 2/pi, after 64 of 0.
TABLE u64 twoOverPi64[] = {
	0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
	0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
	0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

DEVICE u64 productHigh(u64 x, u64 y) { return __nvvm_mulhi_ull(x, y); }

// reduceFar is reduceAngle for large finite angles, by Payne and Hanek as in trig.cuh: 192 bits
// of the product with 2/pi, from weight 2 down.
static __attribute__((device, noinline)) double reduceFar(double x, double *c, u32 *quadrant) {
	u64 bits = as_bits(x) & ~0ull >> 1, n = (bits & ~0ull >> 12) | 1ull << 52;
	u32 from = (u32)(bits >> 52) - 1075 + 62, shift = from & 63;
	const u64 *w = &twoOverPi64[from >> 6];
	u64 a = w[0], b = w[1], d = w[2];
	if (shift) a = a << shift | b >> (64 - shift), b = b << shift | d >> (64 - shift), d = d << shift | w[3] >> (64 - shift);
	u64 t = n * b, low = t + productHigh(n, d), high = n * a + productHigh(n, b) + (low < t);
	// The remainder of a quadrant is high << 2 and low, a fraction of 126 bits.
	*quadrant = (u32)(high >> 62);
	high = high << 2 | low >> 62, low <<= 2;
	bool negative = high >> 63;
	if (negative) {
		*quadrant += 1;
		low = -low, high = ~high + (low == 0);
	}
	int zeros = high ? __builtin_clzll(high) : 64;
	if (zeros == 64) high = low, low = 0;
	else if (zeros) high = high << zeros | low >> (64 - zeros), low <<= zeros;
	// high 2^-64 + low 2^-128 as a sum of two numbers, then times pi/2.
	double scale = power2of(-64 - zeros), top = (double)(high & ~0x7ffull) * scale, rest = (double)(high & 0x7ff) * scale + (double)low * scale * 0x1p-64;
	double lo, hi = twoProduct(top, halfPiHi, lo);
	double r = quickSum(hi, lo + top * halfPiLo + rest * halfPiHi, lo);
	if ((x < 0) != negative) r = -r, lo = -lo;
	if (x < 0) *quadrant = -*quadrant;
	*c = lo;
	return r;
}

// reduceAngle returns x minus a multiple of pi/2 as a sum, and that multiple modulo 4.
DEVICE double reduceAngle(double x, double &c, u32 &quadrant) {
	double a = size(x);
	c = 0, quadrant = 0;
	if (a <= 0.785) return x;
	if (!(a < Limits<double>::infinity())) return Limits<double>::nan();
	if (a > 0x1p19) return reduceFar(x, &c, &quadrant);
	double n = nearest(x * twoOverPi), e, b = twoSum(fused(-n, halfPi1, x), -n * halfPi2, e), q, p = twoProduct(n, halfPi3, q), f, r = twoSum(b, -p, f);
	quadrant = (u32)(i32)n;
	c = e + f - q;
	return r;
}

DEVICE double sineOf(double r, double c) {
	double z = r * r;
	return r + fused(r * z, polynomial(z, sinTail), c * fused(-0.5, z, 1.));
}
DEVICE double cosineOf(double r, double c) {
	double z = r * r, h = 0.5 * z, w = 1 - h;
	return w + ((1 - w) - h + fused(z * z, polynomial(z, cosTail), -r * c));
}

// sine returns sin(x + turn pi/2): the cosine for turn 1.
DEVICE double sine(double x, u32 turn) {
	u32 quadrant;
	double c, r = reduceAngle(x, c, quadrant);
	quadrant += turn;
	double y = quadrant & 1 ? cosineOf(r, c) : sineOf(r, c);
	return as_double(as_bits(y) ^ (u64)(quadrant & 2) << 62);
}
DEVICE double sin_(double x) { return x == 0 ? x : sine(x, 0); }
DEVICE double cos_(double x) { return sine(x, 1); }

DEVICE double tan_(double x) {
	u32 quadrant;
	double c, r = reduceAngle(x, c, quadrant), s = sineOf(r, c), k = cosineOf(r, c);
	return x == 0 ? x : quadrant & 1 ? -k / s : s / k;
}

// atanNear returns the arc tangent of y/x as a sum, for finite x >= y > 0.
DEVICE double atanNear(double y, double x, double &lo) {
	double t = y / x, rest = fused(-t, x, y) / x;
	if (!(size(rest) < 1)) rest = 0;
	double k = nearest(16 * t), at = k / 16;
	const auto &a = atans[(i32)k];
	double q, p = twoProduct(t, at, q), w = 1 + p, d = (t - at) / w;
	double e = (fused(-d, w, t - at) - d * (p - (w - 1)) - d * q) / w + rest / fused(t, t, 1.), z = d * d;
	double s = d * z * polynomial(z, -1. / 3, 1. / 5, -1. / 7, 1. / 9, -1. / 11, 1. / 13), l, hi = twoSum(a.hi, d, l);
	return quickSum(hi, l + (s + e + a.lo), lo);
}

// atanRatio returns the arc tangent of y/x, both above 0, as a sum.
DEVICE double atanRatio(double y, double x, double &lo) {
	bool turned = y > x;
	double l, h = atanNear(turned ? x : y, turned ? y : x, l);
	if (!turned) {
		lo = l;
		return h;
	}
	double hi = quickSum(halfPiHi, -h, lo);
	lo += halfPiLo - l;
	return hi;
}

DEVICE double atan_(double x) {
	if (x == 0 || x != x) return x;
	double lo, hi = atanRatio(atMost(size(x), 0x1p60), 1, lo);
	return signedAs(hi + lo, x);
}

DEVICE double atan2_(double y, double x) {
	double a = size(x), b = size(y);
	const double infinity = Limits<double>::infinity();
	if (x != x || y != y) return x + y;
	// Multiples of pi/4, computed from other points at the same angle.
	if (a == infinity || b == infinity) a = a == infinity, b = b == infinity;
	double hi = 0, lo = 0;
	if (b != 0) hi = a == 0 ? halfPiHi : atanRatio(b, a, lo);
	if (as_bits(x) >> 63) {
		double l, h = quickSum(2 * halfPiHi, -hi, l);
		hi = h, lo = l - lo + 2 * halfPiLo;
	}
	return signedAs(hi + lo, y);
}

DEVICE double asin_(double x) {
	double a = size(x);
	if (!(a <= 1)) return Limits<double>::nan();
	if (a < 0x1p-27) return x;
	double lo, hi = atanRatio(a, root((1 - a) * (1 + a)), lo);
	return signedAs(a == 1 ? halfPiHi : hi + lo, x);
}

DEVICE double acos_(double x) {
	if (!(size(x) <= 1)) return Limits<double>::nan();
	if (x == 1) return 0;
	if (x == -1) return 2 * halfPiHi;
	double lo, hi = atanRatio(root(1 - x), root(1 + x), lo);
	return 2 * (hi + lo);
}
