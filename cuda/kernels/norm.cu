// The elementwise part of normalisations, with broadcast statistics and weights.
#include "common.cuh"

// Spots is Axes for up to eight views.
struct Spots {
	u32 rank;
	Divider size[8];
	i64 stride[8][8];
};

// given sets v to P adjacent elements.
template <class T, class W, int P> DEVICE void given(W *v, const T *p) {
	if constexpr (P == 1) {
		v[0] = widen(*p);
	} else {
		Pack<T> in = *(const Pack<T> *)p;
#pragma unroll
		for (int j = 0; j < P; j++) v[j] = widen(in.at[j]);
	}
}

// factor sets v to P adjacent numbers, to one repeated number, or to other if there is no factor.
template <class W, int P> DEVICE void factor(W *v, const W *p, i64 at, bool beside, W other) {
	if (P > 1 && p && beside) {
		const int each = Pack<W>::count;
#pragma unroll
		for (int k = 0; k < P; k += each) {
			Pack<W> in = *(const Pack<W> *)(p + at + k);
#pragma unroll
			for (int j = 0; j < each && k + j < P; j++) v[k + j] = in.at[j];
		}
	} else {
		W one = p ? p[at] : other;
#pragma unroll
		for (int j = 0; j < P; j++) v[j] = one;
	}
}

template <class T, class W, int P> DEVICE void store(T *p, const W *v) {
	if constexpr (P == 1) {
		narrow(*p, v[0]);
	} else {
		Pack<T> out;
#pragma unroll
		for (int j = 0; j < P; j++) narrow(out.at[j], v[j]);
		*(Pack<T> *)p = out;
	}
}

// normalize processes n items of P elements. Bit v of beside is set if the factor of view v has
// adjacent elements as dst has; otherwise it repeats within an item.
template <class T, class W, int P>
DEVICE void normalize(u32 n, u32 beside, T *dst, const T *x, const W *mean, const W *scale, const W *w, const W *b, const Spots &spots) {
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) {
		i64 at[6];
		offsets<6>(spots, i, at);
		W v[P], m[P], s[P], a[P], c[P];
		given<T, W, P>(v, x + at[1]);
		factor<W, P>(m, mean, at[2], beside & 4, 0);
		factor<W, P>(s, scale, at[3], beside & 8, 1);
		factor<W, P>(a, w, at[4], beside & 16, 1);
		factor<W, P>(c, b, at[5], beside & 32, -(W)0);
#pragma unroll
		for (int j = 0; j < P; j++) {
			W z = (v[j] - m[j]) * s[j];
			v[j] = z * a[j] + c[j];
		}
		store<T, W, P>(dst + at[0], v);
	}
}

template <class T, class W, int P>
DEVICE void grad(u32 n, u32 beside, T *dst, const T *dy, const T *x, const W *mean, const W *scale, const W *first, const W *second, const W *w, const Spots &spots) {
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) {
		i64 at[8];
		offsets<8>(spots, i, at);
		W g[P], v[P], m[P], s[P], c[P];
		given<T, W, P>(g, dy + at[1]);
		given<T, W, P>(v, x + at[2]);
		factor<W, P>(m, mean, at[3], beside & 8, 0);
		factor<W, P>(s, scale, at[4], beside & 16, 1);
#pragma unroll
		for (int j = 0; j < P; j++) v[j] = (v[j] - m[j]) * s[j];
		factor<W, P>(c, w, at[7], beside & 128, 1);
		factor<W, P>(m, first, at[5], beside & 32, 0);
#pragma unroll
		for (int j = 0; j < P; j++) g[j] = g[j] * c[j] - m[j];
		factor<W, P>(m, second, at[6], beside & 64, 0);
#pragma unroll
		for (int j = 0; j < P; j++) v[j] = (g[j] - v[j] * m[j]) * s[j];
		store<T, W, P>(dst + at[0], v);
	}
}

#define NORM(T, W, P, name)                                                                                                               \
	KERNEL normalize_##name(u32 n, u32 beside, T *dst, const T *x, const W *mean, const W *scale, const W *w, const W *b, Spots spots) {  \
		normalize<T, W, P>(n, beside, dst, x, mean, scale, w, b, spots);                                                                  \
	}                                                                                                                                     \
	KERNEL normalize_grad_##name(u32 n, u32 beside, T *dst, const T *dy, const T *x, const W *mean, const W *scale, const W *first,       \
	                             const W *second, const W *w, Spots spots) {                                                              \
		grad<T, W, P>(n, beside, dst, dy, x, mean, scale, first, second, w, spots);                                                       \
	}
#define NORMS(T, W, name)    \
	NORM(T, W, 1, name)      \
	NORM(T, W, Pack<T>::count, name##_packs)

NORMS(f16, float, float16)
NORMS(bf16, float, bfloat16)
NORMS(float, float, float32)
NORMS(double, double, float64)
