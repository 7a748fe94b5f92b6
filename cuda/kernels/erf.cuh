// The error function of float and functions of the normal distribution.
#pragma once
#include "exp.cuh"
#include "log.cuh"

// Tail is exp(-s) times a positive factor: factor (1+p) 2^k. It is kept in parts because a later
// factor may bring it back into range.
struct Tail {
	float factor;
	i32 k;
};

// tailOf returns exp(-s-rest) times factor.
DEVICE Tail tailOf(float s, float rest, float factor) {
	i32 k;
	float p = expLess1(reduce(-s, k));
	return {factor * (1 + fused(-rest, 1 + p, p)), k};
}

// erfNear returns erf of a from 0 to 1.
DEVICE float erfNear(float a) {
	float z = a * a;
	return fused(a, polynomial(z, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2d10p-4f, -0x1.b7fabap-6f, 0x1.541270p-8f, -0x1.a45088p-11f, 0x1.4a5690p-14f), a);
}

// erf_ uses a polynomial for the logarithm of 1 - erf beyond 1; beyond 3.93 erf rounds to 1.
DEVICE float erf_(float x) {
	float a = size(x), v = atMost(a, 3.93f) - 2.5f;
	float l = polynomial(v, -0x1.f3a2dcp+2f, -0x1.569252p+2f, -0x1.e3460ap-1f, -0x1.63cf48p-7f, 0x1.1bd37cp-9f, -0x1.b8a2d0p-12f, 0x1.43bc6ep-14f, -0x1.bdbd0ep-17f, 0x1.bf556ap-20f);
	i32 k;
	float p = expLess1(reduce(atLeast(l, -20.f), k)), s = power2(k), far = 1 - fused(p, s, s);
	return signedAs(a < 1 ? erfNear(a) : far, x);
}

// erfc_ uses the fact that exp(a²) erfc(a) (a+2) is a smooth function of t = (a-2)/(a+2), an
// argument of M. Shepherd and J. Laframboise, Mathematics of Computation 36 (1981).
DEVICE float erfc_(float x) {
	float a = atMost(size(x), 10.2f), s = a * a, r = reciprocalOfSum(a, 2), t = fused(-4.f, r, 1.f);
	float p = polynomial(t, 0x1.058672p+0f, -0x1.5fd388p-1f, 0x1.1e2dd8p-2f, -0x1.2a86e2p-5f, -0x1.605920p-6f, 0x1.a82ddap-8f, 0x1.9143bap-9f, -0x1.afb2e6p-11f, -0x1.343c4ap-11f, 0x1.4ab930p-15f, 0x1.0d163ep-14f);
	Tail e = tailOf(s, fused(a, a, -s), r * p);
	float y = scaled(e.factor, e.k);
	return a < 0.4f ? 1 - signedAs(erfNear(a), x) : x < 0 ? 2 - y : y;
}

// normalTail returns exp(-a²/2) times factor for a up to 19.8.
DEVICE Tail normalTail(float a, float factor) {
	float h = 0.5f * a, s = h * a;
	return tailOf(s, fused(h, a, -s), factor);
}

// gelu is x times the normal distribution function. Up to 1 that function is 1/2 plus a
// polynomial; beyond, for -a, (a+3) exp(a²/2) times it is a smooth function of t = (a-3)/(a+3).
DEVICE float gelu(float x) {
	float a = size(x), far = atMost(a, 14.5f), r = reciprocalOfSum(far, 3), t = fused(-6.f, r, 1.f);
	float p = polynomial(t, 0x1.754a76p-1f, -0x1.04c726p-1f, 0x1.d71326p-3f, -0x1.8334ecp-5f, -0x1.565266p-7f, 0x1.ca2fd0p-8f, 0x1.e009dap-11f, -0x1.0ff136p-10f);
	Tail e = normalTail(far, a > 38.6f ? 0 : r * p);
	float y = scaled(x < 0 ? e.factor * x : e.factor, e.k), z = x * x;
	float near = fused(x, polynomial(z, 0x1.988454p-2f, -0x1.105832p-4f, 0x1.46ce58p-7f, -0x1.36fe32p-10f, 0x1.dc102ap-14f, -0x1.010b86p-17f), 0.5f);
	return a < 1 ? x * near : x < 0 ? y : x * (1 - y);
}

// geluGrad is y g(x) for the derivative g of gelu. g(x) + g(-x) is 1, and for a negative -a,
// exp(a²/2) g is (a - a0) times a smooth function of t = (a-4)/(a+4), where g(a0) is 0. Beyond
// 19.8 the result is 0 even times the largest number; in float64, beyond 38.6.
DEVICE float geluGrad(float x, float y) {
	float a = size(x), far = atMost(a, 19.8f), r = reciprocalOfSum(far, 4), t = fused(-8.f, r, 1.f);
	float p = polynomial(t, -0x1.d94de8p-2f, 0x1.a76300p-4f, -0x1.ef4ff2p-5f, 0x1.cc1e2cp-6f, -0x1.377700p-7f, 0x1.d4c840p-10f, 0x1.470a02p-13f, -0x1.8526a0p-13f, 0x1.d34f86p-17f, 0x1.1629fcp-16f);
	float d = (far - 0x1.80ead2p-1f) + 0x1.a03fd4p-27f;
	Tail e = normalTail(far, a > 38.6f ? a * 0 : d * p);
	float quarter = power2(e.k >> 2), rest = quarter * power2(e.k - 3 * (e.k >> 2)), g = e.factor * quarter, z = x * x;
	float near = fused(x, polynomial(z, 0x1.988454p-1f, -0x1.105832p-2f, 0x1.ea33aap-5f, -0x1.368eaap-7f, 0x1.1930e8p-10f), 0.5f);
	return a < 0.3f ? y * near : x < 0 ? g * y * quarter * rest : (1 - g * quarter * rest) * y;
}

DEVICE float silu(float x) { return x * sigmoid(x); }

DEVICE float sigmoidSlope(float s) { return (1 - s) * s; }

DEVICE float siluGrad(float x, float y) {
	float s = sigmoid(x);
	return y * s + x * y * sigmoidSlope(s);
}

// Constants of GeluTanh in package driver.
#define CUBIC 0.044715f
#define OUTER 1.5957691216057308f

DEVICE float geluSigmoid(float x) { return sigmoid(OUTER * (x * x * x * CUBIC + x)); }

DEVICE float geluTanh(float x) { return x * geluSigmoid(x); }

DEVICE float geluTanhGrad(float x, float y) {
	float s = geluSigmoid(x);
	return y * s + x * y * sigmoidSlope(s) * (x * x * (float)(3 * 0.044715 * 1.5957691216057308) + OUTER);
}

// erfinv_ follows M. Giles, Approximating the erfinv function, GPU Computing Gems 2
// (2010): it is x times a function of w = -log(1-x²), and of the root of large ones.
DEVICE float erfinv_(float x) {
	float a = size(x), w = -log_((1 - a) * (1 + a)), v = w - 2.5f, u = root(w) - 3;
	float near = polynomial(v, 0x1.805c5ep+0f, 0x1.f91e8ap-3f, -0x1.11c506p-8f, -0x1.48650cp-10f, 0x1.c9e970p-13f, -0x1.4db186p-18f, -0x1.d0eda0p-19f, 0x1.f6a6f8p-22f, 0x1.90e8acp-26f, -0x1.32e60ep-27f);
	float far = polynomial(u, 0x1.6a9efcp+1f, 0x1.006dcap+0f, 0x1.35810ep-7f, -0x1.f4f046p-8f, 0x1.74c062p-8f, -0x1.d2dbbcp-9f, 0x1.824f40p-10f, -0x1.12a27cp-13f, -0x1.1d84cep-12f, 0x1.60e420p-13f, -0x1.210a18p-15f);
	float y = x * (w < 5 ? near : far);
	return a == 1 ? signedAs(Limits<float>::infinity(), x) : y;
}
