// Loops of elementwise kernels. A file of kernels defines the computation of codes as a type with
// a member apply, and names kernels with the macros below.
#pragma once
#include "common.cuh"

// Scalars are the parameters of a code, in the compute type.
template <class W> struct Scalars { W alpha, beta; };

// flat processes contiguous views, 16 bytes at a time. A step of 0 repeats an operand's single
// element. n counts elements; the last block handles the remainder of a pack.
template <class Op, class D, class T, int operands>
DEVICE void flat(u32 code, i64 n, Scalars<typename Wide<T>::type> s, D *dst, const T *x, const T *y, const T *z, u32 sx, u32 sy, u32 sz) {
	typedef typename Wide<T>::type W;
	const int P = Pack<T>::count;
	i64 step = (i64)BLOCKS * THREADS, first = (i64)BLOCK * THREADS + THREAD, packs = n / P;
	for (i64 i = first; i < packs; i += step) {
		W a[P], b[P], c[P], r[P];
		auto fetch = [=] __attribute__((device, always_inline)) (W *w, const T *p, u32 s) {
			if (s) {
				Pack<T> v = ((const Pack<T> *)p)[i];
#pragma unroll
				for (int j = 0; j < P; j++) w[j] = widen(v.at[j]);
			} else {
				W one = widen(*p);
#pragma unroll
				for (int j = 0; j < P; j++) w[j] = one;
			}
		};
		fetch(a, x, sx);
		if (operands > 1) fetch(b, y, sy);
		if (operands > 2) fetch(c, z, sz);
		Op::template apply<W, P>(code, r, a, b, c, s);
		if (sizeof(D) == sizeof(T)) {
			Pack<D> out;
#pragma unroll
			for (int j = 0; j < P; j++) narrow(out.at[j], r[j]);
			((Pack<D> *)dst)[i] = out;
		} else {
#pragma unroll
			for (int j = 0; j < P; j++) narrow(dst[i * P + j], r[j]);
		}
	}
	i64 i = packs * P + first;
	if (i < n) {
		W a[1] = {widen(x[i * sx])}, b[1], c[1], r[1];
		if (operands > 1) b[0] = widen(y[i * sy]);
		if (operands > 2) c[0] = widen(z[i * sz]);
		Op::template apply<W, 1>(code, r, a, b, c, s);
		narrow(dst[i], r[0]);
	}
}

// strided processes views with any strides, n < 2^31 elements.
template <class Op, class D, class T, int operands>
DEVICE void strided(u32 code, u32 n, Scalars<typename Wide<T>::type> s, D *dst, const T *x, const T *y, const T *z, const Axes &axes) {
	typedef typename Wide<T>::type W;
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) {
		i64 at[operands + 1];
		offsets<operands + 1>(axes, i, at);
		W a[1] = {widen(x[at[1]])}, b[1], c[1], r[1];
		if (operands > 1) b[0] = widen(y[at[2]]);
		if (operands > 2) c[0] = widen(z[at[3]]);
		Op::template apply<W, 1>(code, r, a, b, c, s);
		narrow(dst[at[0]], r[0]);
	}
}

#define POINTWISE(name, Op, D, T, operands)                                                                                  \
	KERNEL name(u32 code, i64 n, Scalars<Wide<T>::type> s, D *dst, const T *x, const T *y, const T *z, u32 sx, u32 sy, u32 sz) { \
		flat<Op, D, T, operands>(code, n, s, dst, x, y, z, sx, sy, sz);                                                      \
	}                                                                                                                        \
	KERNEL name##_strided(u32 code, u32 n, Scalars<Wide<T>::type> s, D *dst, const T *x, const T *y, const T *z, Axes axes) {    \
		strided<Op, D, T, operands>(code, n, s, dst, x, y, z, axes);                                                         \
	}

// EACH computes r[j] by an expression in x, y, z for every element of a pack.
#define EACH(code, expression)                                                   \
	case code:                                                                   \
		_Pragma("unroll") for (int j = 0; j < P; j++) {                          \
			W x = a[j], y = b[j], z = c[j];                                      \
			(void)x, (void)y, (void)z;                                           \
			r[j] = (W)(expression);                                              \
		}                                                                        \
		break;
