// Codes that float32 and float64 compute alike, each with the functions of its own headers.
#pragma once

#define UNARY_FUNCTIONS \
	EACH(Exp, exp_(x)) \
	EACH(Log, log_(x)) \
	EACH(Log1p, log1p_(x)) \
	EACH(Tanh, tanh_(x)) \
	EACH(Erf, erf_(x)) \
	EACH(Sigmoid, sigmoid(x)) \
	EACH(Pow, powerBy(x, s.alpha)) \
	EACH(Rsqrt, inverseRoot(x)) \
	EACH(Exp2, exp2_(x)) \
	EACH(Expm1, expm1_(x)) \
	EACH(Log2, log2_(x)) \
	EACH(Log10, log10_(x)) \
	EACH(Sin, sin_(x)) \
	EACH(Cos, cos_(x)) \
	EACH(Tan, tan_(x)) \
	EACH(Asin, asin_(x)) \
	EACH(Acos, acos_(x)) \
	EACH(Atan, atan_(x)) \
	EACH(Sinh, sinh_(x)) \
	EACH(Cosh, cosh_(x)) \
	EACH(Asinh, asinh_(x)) \
	EACH(Acosh, acosh_(x)) \
	EACH(Atanh, atanh_(x)) \
	EACH(Erfc, erfc_(x)) \
	EACH(Erfinv, erfinv_(x)) \
	EACH(Floor, down(x)) \
	EACH(Ceil, up(x)) \
	EACH(Trunc, cut(x)) \
	EACH(Round, nearest(x))

#define BINARY_FUNCTIONS \
	EACH(Power, power(x, y)) \
	EACH(Atan2, atan2_(x, y)) \
	EACH(Hypot, hypot_(x, y)) \
	EACH(Copysign, signedAs(x, y)) \
	EACH(Fmod, fmod_(x, y)) \
	EACH(Remainder, remainder_(x, y)) \
	EACH(FloorDiv, floorDiv(x, y)) \
	EACH(TruncDiv, cut(x / y))
