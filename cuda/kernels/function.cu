// Functions of one operand of float32, float16 and bfloat16.
#include "erf.cuh"
#include "power.cuh"
#include "trig.cuh"
#include "typed.cuh"

struct Unary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			EACH(Exp, exp_(x))
			EACH(Log, log_(x))
			EACH(Log1p, log1p_(x))
			EACH(Tanh, tanh_(x))
			EACH(Erf, erf_(x))
			EACH(Sigmoid, sigmoid(x))
			EACH(Pow, powerBy(x, s.alpha))
			EACH(Rsqrt, inverseRoot(x))
			EACH(Exp2, exp2_(x))
			EACH(Expm1, expm1_(x))
			EACH(Log2, log2_(x))
			EACH(Log10, log10_(x))
			EACH(Sin, sin_(x))
			EACH(Cos, cos_(x))
			EACH(Tan, tan_(x))
			EACH(Asin, asin_(x))
			EACH(Acos, acos_(x))
			EACH(Atan, atan_(x))
			EACH(Sinh, sinh_(x))
			EACH(Cosh, cosh_(x))
			EACH(Asinh, asinh_(x))
			EACH(Acosh, acosh_(x))
			EACH(Atanh, atanh_(x))
			EACH(Erfc, erfc_(x))
			EACH(Erfinv, erfinv_(x))
			EACH(Floor, down(x))
			EACH(Ceil, up(x))
			EACH(Trunc, cut(x))
			EACH(Round, nearest(x))
			EACH(Gelu, gelu(x))
			EACH(Silu, silu(x))
			EACH(GeluTanh, geluTanh(x))
		}
	}
};

TYPED(unary, Unary, float, 4, 1, 5)
