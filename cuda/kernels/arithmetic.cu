// Elementwise floating-point arithmetic that is exact or rounds once.
#include "pointwise.cuh"

DEVICE float root(float x) { return __builtin_sqrtf(x); }
DEVICE double root(double x) { return __builtin_sqrt(x); }

struct Unary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			EACH(Affine, s.beta == 0 ? s.alpha * x : s.alpha * x + s.beta)
			EACH(Neg, -x)
			EACH(Abs, x <= 0 ? 0 - x : x)
			EACH(Sqrt, root(x))
			EACH(Relu, x <= 0 ? (W)0 : x)
			EACH(Step, x > 0)
			EACH(Reciprocal, (W)1 / x)
			EACH(Sign, (W)(x > 0) - (W)(x < 0))
		}
	}
};

struct Binary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			EACH(Add, x + y)
			EACH(AddScaled, x + s.alpha * y)
			EACH(Sub, x - y)
			EACH(Mul, x * y)
			EACH(Div, x / y)
			EACH(Max, largest(x, y))
			EACH(Min, smallest(x, y))
			EACH(Equal, x == y)
			EACH(Less, x < y)
			EACH(LessEqual, x <= y)
			EACH(ReluGrad, x <= 0 ? (W)0 : y)
			EACH(TanhGrad, y * (1 - x * x))
			EACH(SigmoidGrad, y * ((1 - x) * x))
		}
	}
};

struct Comparison {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			EACH(Equal, x == y)
			EACH(Less, x < y)
			EACH(LessEqual, x <= y)
		}
	}
};

#define ALL(D, T, name)                       \
	POINTWISE(unary_##name, Unary, D, T, 1)   \
	POINTWISE(binary_##name, Binary, D, T, 2) \
	POINTWISE(compare_##name, Comparison, flag, T, 2)

ALL(f16, f16, float16)
ALL(bf16, bf16, bfloat16)
ALL(float, float, float32)
ALL(double, double, float64)
