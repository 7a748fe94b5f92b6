// Powers of double, and the length of a vector, as in package elementary.
#pragma once
#include "log64.cuh"

DEVICE double power(double x, double y) {
	const double infinity = Limits<double>::infinity();
	double a = size(x), l, h = logParts(a, l);
	if (!(a > 0 && a < infinity)) h = a == 0 ? -infinity : a, l = 0;
	double lo, hi = twoProduct(y, h, lo);
	lo = fused(y, l, lo);
	if (!(size(hi) < 760)) hi = signedAs(760., hi), lo = 0;
	hi = quickSum(hi, lo, lo);
	double z = expOf(hi, lo, 0);
	bool whole = y == nearest(y), odd = whole && 0.5 * y != nearest(0.5 * y);
	if (odd) z = signedAs(z, x);
	if (x < 0 && !whole && a < infinity) z = Limits<double>::nan();
	if (x != x || y != y) z = x + y;
	if (y == 1) z = x;
	if (y == 0 || x == 1 || (x == -1 && size(y) == infinity)) z = 1;
	return z;
}

DEVICE double powerBy(double x, double y) { return y == 2 ? x * x : y == 3 ? x * x * x : y == 0.5 ? root(x) : y == -1 ? 1 / x : power(x, y); }

DEVICE double hypot_(double x, double y) {
	x = size(x), y = size(y);
	double most = x < y ? y : x, least = x < y ? x : y;
	bool large = most > 0x1p510, small = most < 0x1p-450;
	double scale = large ? 0x1p-600 : small ? 0x1p600 : 1, back = large ? 0x1p600 : small ? 0x1p-600 : 1;
	most *= scale, least *= scale;
	double b, a = twoProduct(most, most, b), d, c = twoProduct(least, least, d), lo, hi = quickSum(a, c, lo);
	double z = root(hi + (lo + b + d)) * back;
	const double infinity = Limits<double>::infinity();
	return x == infinity || y == infinity ? infinity : x != x || y != y ? x + y : z;
}
