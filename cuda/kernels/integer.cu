// Elementwise arithmetic of integers and bool, in int64, which wraps around.
#include "typed.cuh"

DEVICE i64 plus(i64 x, i64 y) { return (i64)((u64)x + (u64)y); }
DEVICE i64 minus(i64 x, i64 y) { return (i64)((u64)x - (u64)y); }
DEVICE i64 times(i64 x, i64 y) { return (i64)((u64)x * (u64)y); }

// Quotients by 0 are 0; the lowest number divided by -1 wraps around to itself.
DEVICE i64 truncQuotient(i64 x, i64 y) { return y == 0 ? 0 : y == -1 ? minus(0, x) : x / y; }
DEVICE i64 rest(i64 x, i64 y) { return y == 0 || y == -1 ? 0 : x % y; }
DEVICE i64 floorQuotient(i64 x, i64 y) {
	i64 q = truncQuotient(x, y);
	return y != 0 && times(q, y) != x && (x < 0) != (y < 0) ? q - 1 : q;
}
DEVICE i64 floorRest(i64 x, i64 y) {
	i64 r = rest(x, y);
	return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

DEVICE i64 power(i64 x, i64 n) {
	if (n < 0) {
		if (x != 1 && x != -1) return 0;
		n &= 1;
	}
	i64 y = 1;
#pragma unroll 1
	for (; n > 0; n >>= 1) {
		if (n & 1) y = times(y, x);
		x = times(x, x);
	}
	return y;
}

struct Unary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			EACH(Affine, plus(times(s.alpha, x), s.beta))
			EACH(Neg, minus(0, x))
			EACH(Abs, x < 0 ? minus(0, x) : x)
			EACH(Relu, x < 0 ? 0 : x)
			EACH(Step, x > 0)
			EACH(Sign, (x > 0) - (x < 0))
		}
	}
};

struct Binary {
	template <class W, int P> DEVICE void apply(u32 code, W *r, const W *a, const W *b, const W *c, Scalars<W> s) {
		switch (code) {
			EACH(Add, plus(x, y))
			EACH(AddScaled, plus(x, times(s.alpha, y)))
			EACH(Sub, minus(x, y))
			EACH(Mul, times(x, y))
			EACH(Max, x > y ? x : y)
			EACH(Min, x < y ? x : y)
			EACH(Equal, x == y)
			EACH(Less, x < y)
			EACH(LessEqual, x <= y)
			EACH(Power, power(x, y))
			EACH(Fmod, rest(x, y))
			EACH(Remainder, floorRest(x, y))
			EACH(FloorDiv, floorQuotient(x, y))
			EACH(TruncDiv, truncQuotient(x, y))
			EACH(And, x & y)
			EACH(Or, x | y)
			EACH(Xor, x ^ y)
			EACH(ShiftLeft, (u64)y > 63 ? 0 : (i64)((u64)x << y))
			EACH(ShiftRight, x >> ((u64)y > 63 ? 63 : y))
		}
	}
};

TYPED(unary, Unary, i64, 4, 1, 4)
TYPED(binary, Binary, i64, 4, 2, 3)
