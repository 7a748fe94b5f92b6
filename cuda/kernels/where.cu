// Elementwise codes whose first or second operand is a condition: bytes, or elements of the
// operands' size.
#include "pointwise.cuh"

// chosen sets dst[i] = Op of c[i], y[i] and z[i], 16 bytes at a time, for contiguous views. A
// step of 0 repeats an operand's single element.
template <class Op, class T, class C> DEVICE void chosen(i64 n, Op op, T *dst, const C *c, const T *y, const T *z, u32 sc, u32 sy, u32 sz) {
	const int P = Pack<T>::count;
	struct __attribute__((aligned(P * sizeof(C)))) Conditions { C at[P]; };
	i64 step = (i64)BLOCKS * THREADS, first = (i64)BLOCK * THREADS + THREAD, packs = n / P;
	for (i64 i = first; i < packs; i += step) {
		Conditions on;
		Pack<T> a, b;
		if (sc) on = ((const Conditions *)c)[i];
		if (sy) a = ((const Pack<T> *)y)[i];
		if (z && sz) b = ((const Pack<T> *)z)[i];
		if (!sc || !sy || !sz) {
#pragma unroll
			for (int j = 0; j < P; j++) {
				if (!sc) on.at[j] = *c;
				if (!sy) a.at[j] = *y;
				if (z && !sz) b.at[j] = *z;
			}
		}
#pragma unroll
		for (int j = 0; j < P; j++) op(a.at[j], on.at[j], a.at[j], b.at[j]);
		((Pack<T> *)dst)[i] = a;
	}
	i64 i = packs * P + first;
	if (i < n) {
		T other = {};
		if (z) other = z[i * sz];
		op(dst[i], c[i * sc], y[i * sy], other);
	}
}

// chosenStrided processes views with any strides, n < 2^31 elements.
template <class Op, class T, class C> DEVICE void chosenStrided(u32 n, Op op, T *dst, const C *c, const T *y, const T *z, const Axes &axes) {
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) {
		i64 at[4];
		offsets<4>(axes, i, at);
		T other = {};
		if (z) other = z[at[3]];
		op(dst[at[0]], c[at[1]], y[at[2]], other);
	}
}

// Choice preserves the bits of what it chooses. A condition counts as 0 if none of the mask's
// bits is set; the mask of real numbers excludes the sign.
struct Choice {
	u64 mask;
	template <class T, class C> METHOD void operator()(T &r, C c, T y, T z) const { r = (c & (C)mask) ? y : z; }
};

// Dropping scales kept elements, and multiplies dropped ones by 0, which gives NaN for
// infinities.
struct Dropping {
	float scale;
	template <class T> METHOD void operator()(T &r, u8 keep, T x, T) const { narrow(r, (keep ? scale : 0) * widen(x)); }
};

#define WHERE(name, T, C)                                                                                                    \
	KERNEL where_##name(i64 n, u64 mask, T *dst, const C *c, const T *y, const T *z, u32 sc, u32 sy, u32 sz) {                 \
		chosen(n, Choice{mask}, dst, c, y, z, sc, sy, sz);                                                                    \
	}                                                                                                                        \
	KERNEL where_##name##_strided(u32 n, u64 mask, T *dst, const C *c, const T *y, const T *z, Axes axes) {                    \
		chosenStrided(n, Choice{mask}, dst, c, y, z, axes);                                                                   \
	}

WHERE(8_8, u8, u8)
WHERE(16_8, u16, u8)
WHERE(16_16, u16, u16)
WHERE(32_8, u32, u8)
WHERE(32_32, u32, u32)
WHERE(64_8, u64, u8)
WHERE(64_64, u64, u64)

#define DROPOUT(name, T)                                                                                   \
	KERNEL dropout_##name(i64 n, float scale, T *dst, const u8 *keep, const T *x, u32 sk, u32 sx) {          \
		chosen(n, Dropping{scale}, dst, keep, x, (const T *)0, sk, sx, 1);                                  \
	}                                                                                                      \
	KERNEL dropout_##name##_strided(u32 n, float scale, T *dst, const u8 *keep, const T *x, Axes axes) {    \
		chosenStrided(n, Dropping{scale}, dst, keep, x, (const T *)0, axes);                                \
	}

DROPOUT(float16, f16)
DROPOUT(bfloat16, bf16)
DROPOUT(float32, float)
