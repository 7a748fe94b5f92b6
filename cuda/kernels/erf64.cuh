// The error function of double and its inverse, as in package elementary.
#pragma once
#include "log64.cuh"

// erfNearParts returns erf of x as a sum, for |x| up to 1.
DEVICE double erfNearParts(double x, double &lo) {
	double z = x * x, hi = twoProduct(x, twoOverRootPi, lo);
	return quickSum(hi, lo + x * twoOverRootPiLo + x * z * polynomial(z, erfNear), lo);
}

// erfcFarOf returns 1 - erf of x from 1 on.
DEVICE double erfcFarOf(double x) {
	x = atMost(x, 28.);
	double lo, hi = twoProduct(x, x, lo), t = (x - 4) / (x + 4);
	return expOf(atLeast(-hi, -748.), -lo, 0) * (polynomial(t, erfFar) / (1 + 2 * x));
}

DEVICE double erf_(double x) {
	double a = size(x);
	if (a > 1) return signedAs(1 - erfcFarOf(a), x);
	double lo, hi = erfNearParts(x, lo);
	return x == 0 ? x : hi + lo;
}

DEVICE double erfc_(double x) {
	if (size(x) > 1) {
		double y = erfcFarOf(size(x));
		return x < 0 ? 2 - y : y;
	}
	double lo, hi = erfNearParts(x, lo), l, h = twoSum(1, -hi, l);
	return h + (l - lo);
}

DEVICE double erfinv_(double x) {
	double a = size(x);
	if (!(a < 1) || x == 0) return x == 0 ? x : a == 1 ? signedAs(Limits<double>::infinity(), x) : Limits<double>::nan();
	const double w = 0.147;
	double l = log_((1 - a) * (1 + a)), h = 4 / (3.14159265358979323846 * w) * 0.5 + 0.5 * l, y = root(root(h * h - l / w) - h);
#pragma unroll 1
	for (int i = 0; i < 3; i++) {
		double f = a > 0.5 ? (1 - a) - erfc_(y) : erf_(y) - a, d = f / (twoOverRootPi * exp_(-y * y));
		y -= d / (1 + y * d);
	}
	return signedAs(y, x);
}
