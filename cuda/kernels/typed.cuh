// Loops of elementwise kernels whose dtype is a parameter. A module of many codes then contains
// one instance for all dtypes computed in a type W, instead of one per dtype, which keeps the
// driver's compilation short.
#pragma once
#include "pointwise.cuh"

// perTurn returns the number of elements per iteration of a thread: 16 bytes, or four int64.
DEVICE u32 perTurn(float, u32 dtype) { return dtype == Float32 ? 4 : 8; }
DEVICE u32 perTurn(double, u32 dtype) { return 2; }
DEVICE u32 perTurn(i64, u32 dtype) { return dtype == Int64 || dtype == Int32 ? 4 : dtype == Int16 ? 8 : 16; }

// loadAs sets w to element i of an array of dtype; put of common.cuh stores.

DEVICE void loadAs(float &w, u32 dtype, const void *p, i64 i) {
	if (dtype == Float32) w = ((const float *)p)[i];
	else if (dtype == Float16) w = widen(((const f16 *)p)[i]);
	else w = widen(((const bf16 *)p)[i]);
}
DEVICE void loadAs(double &w, u32 dtype, const void *p, i64 i) { w = ((const double *)p)[i]; }
DEVICE void loadAs(i64 &w, u32 dtype, const void *p, i64 i) {
	if (dtype == Int64) w = ((const i64 *)p)[i];
	else if (dtype == Int32) w = ((const i32 *)p)[i];
	else if (dtype == Int16) w = ((const i16 *)p)[i];
	else if (dtype == Int8) w = ((const i8 *)p)[i];
	else w = dtype == Bool ? widen(((const flag *)p)[i]) : widen(((const u8 *)p)[i]);
}

// Words are the words of an operand that a thread loads per iteration: 16 bytes, or 32 of int64.
// Elements are taken from the front and put at the end, as many at a time as are computed
// together, so that no register needs an index.
struct Words {
	u32 at[8];
};

DEVICE Words loadWords(const void *p, i64 turn, bool wide) {
	struct __attribute__((aligned(16))) Four { u32 at[4]; };
	Words w;
	const Four *from = (const Four *)p + (wide ? 2 * turn : turn);
	Four a = from[0], b = {};
	if (wide) b = from[1];
#pragma unroll
	for (int j = 0; j < 4; j++) w.at[j] = a.at[j], w.at[j + 4] = b.at[j];
	return w;
}
DEVICE void storeWords(void *p, i64 turn, bool wide, const Words &w) {
	struct __attribute__((aligned(16))) Four { u32 at[4]; };
	Four *to = (Four *)p + (wide ? 2 * turn : turn);
	to[0] = Four{w.at[0], w.at[1], w.at[2], w.at[3]};
	if (wide) to[1] = Four{w.at[4], w.at[5], w.at[6], w.at[7]};
}
template <int by> DEVICE void rotate(Words &w) {
#pragma unroll
	for (int j = 0; j + by < 4; j++) w.at[j] = w.at[j + by];
}

DEVICE void take(float *a, u32 dtype, Words &w) {
	if (dtype == Float32) {
#pragma unroll
		for (int j = 0; j < 4; j++) a[j] = as_float(w.at[j]);
		return;
	}
#pragma unroll
	for (int j = 0; j < 4; j++) {
		u16 bits = (u16)(w.at[j / 2] >> 16 * (j % 2));
		float h = widen(f16{bits}), b = widen(bf16{bits});
		a[j] = dtype == Float16 ? h : b;
	}
	rotate<2>(w);
}
DEVICE void append(Words &w, u32 dtype, const float *r) {
	if (dtype == Float32) {
#pragma unroll
		for (int j = 0; j < 4; j++) w.at[j] = as_bits(r[j]);
		return;
	}
	rotate<2>(w);
	u32 bits[4];
#pragma unroll
	for (int j = 0; j < 4; j++) {
		if (dtype == Float16) {
			f16 h;
			narrow(h, r[j]);
			bits[j] = h.bits;
		} else {
			bf16 h;
			narrow(h, r[j]);
			bits[j] = h.bits;
		}
	}
	w.at[2] = bits[0] | bits[1] << 16;
	w.at[3] = bits[2] | bits[3] << 16;
}

DEVICE void take(double *a, u32 dtype, Words &w) {
	a[0] = as_double((u64)w.at[1] << 32 | w.at[0]);
	rotate<2>(w);
}
DEVICE void append(Words &w, u32 dtype, const double *r) {
	rotate<2>(w);
	w.at[2] = (u32)as_bits(r[0]);
	w.at[3] = (u32)(as_bits(r[0]) >> 32);
}

DEVICE void take(i64 *a, u32 dtype, Words &w) {
	if (dtype == Int64) {
#pragma unroll
		for (int j = 0; j < 4; j++) a[j] = (i64)((u64)w.at[2 * j + 1] << 32 | w.at[2 * j]);
	} else if (dtype == Int32) {
#pragma unroll
		for (int j = 0; j < 4; j++) a[j] = (i32)w.at[j];
	} else if (dtype == Int16) {
#pragma unroll
		for (int j = 0; j < 4; j++) a[j] = (i16)(w.at[j / 2] >> 16 * (j % 2));
		rotate<2>(w);
	} else {
#pragma unroll
		for (int j = 0; j < 4; j++) {
			u32 byte = w.at[0] >> 8 * j & 0xff;
			a[j] = dtype == Bool ? byte != 0 : dtype == Int8 ? (i8)byte : (i32)byte;
		}
		rotate<1>(w);
	}
}
DEVICE u32 bytesOf(u32 dtype, const i64 *r) {
	u32 bytes = 0;
#pragma unroll
	for (int j = 0; j < 4; j++) bytes |= (dtype == Bool ? (u32)(r[j] != 0) : (u32)r[j] & 0xff) << 8 * j;
	return bytes;
}
DEVICE void append(Words &w, u32 dtype, const i64 *r) {
	if (dtype == Int64) {
#pragma unroll
		for (int j = 0; j < 4; j++) w.at[2 * j] = (u32)r[j], w.at[2 * j + 1] = (u32)(r[j] >> 32);
	} else if (dtype == Int32) {
#pragma unroll
		for (int j = 0; j < 4; j++) w.at[j] = (u32)r[j];
	} else if (dtype == Int16) {
		rotate<2>(w);
#pragma unroll
		for (int j = 0; j < 2; j++) w.at[j + 2] = ((u32)r[2 * j] & 0xffff) | (u32)r[2 * j + 1] << 16;
	} else {
		rotate<1>(w);
		w.at[3] = bytesOf(dtype, r);
	}
}

// flatTyped is flat for operands of dtype and a result of the dtype to, P elements at a time.
template <class Op, class W, int P, int operands>
DEVICE void flatTyped(u32 code, u32 dtype, u32 to, i64 n, Scalars<W> s, void *dst, const void *x, const void *y, const void *z, u32 sx, u32 sy, u32 sz) {
	const bool wide = P == 4 && dtype == Int64;
	const u32 per = perTurn(W(), dtype);
	const void *from[3] = {x, y, z};
	const u32 steps[3] = {sx, sy, sz};
	W one[3] = {};
#pragma unroll
	for (int v = 0; v < operands; v++)
		if (!steps[v]) loadAs(one[v], dtype, from[v], 0);
	for (i64 turn = (i64)BLOCK * THREADS + THREAD; turn * per < n; turn += (i64)BLOCKS * THREADS) {
		i64 i = turn * per, end = i + per;
		const bool whole = end <= n;
		if (!whole) end = n;
		Words in[3] = {}, out = {};
#pragma unroll
		for (int v = 0; v < operands; v++)
			if (whole && steps[v]) in[v] = loadWords(from[v], turn, wide);
#pragma unroll 1
		for (; i < end; i += P) {
			W w[3][P], r[P];
#pragma unroll
			for (int v = 0; v < operands; v++) {
				if (!steps[v]) {
#pragma unroll
					for (int j = 0; j < P; j++) w[v][j] = one[v];
				} else if (whole) {
					take(w[v], dtype, in[v]);
				} else {
#pragma unroll
					for (int j = 0; j < P; j++) {
						w[v][j] = 0;
						if (i + j < end) loadAs(w[v][j], dtype, from[v], i + j);
					}
				}
			}
			Op::template apply<W, P>(code, r, w[0], w[1], w[2], s);
			if (whole && to == dtype) {
				append(out, dtype, r);
			} else {
#pragma unroll
				for (int j = 0; j < P; j++)
					if (i + j < end) put(to, dst, i + j, r[j]);
			}
		}
		if (whole && to == dtype) storeWords(dst, turn, wide, out);
	}
}

// stridedTyped is strided for the same dtypes.
template <class Op, class W, int operands>
DEVICE void stridedTyped(u32 code, u32 dtype, u32 to, u32 n, Scalars<W> s, void *dst, const void *x, const void *y, const void *z, const Axes &axes) {
	const void *from[3] = {x, y, z};
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) {
		i64 at[operands + 1];
		offsets<operands + 1>(axes, i, at);
		W w[3][1] = {}, r[1];
#pragma unroll
		for (int v = 0; v < operands; v++) loadAs(w[v][0], dtype, from[v], at[v + 1]);
		Op::template apply<W, 1>(code, r, w[0], w[1], w[2], s);
		put(to, dst, at[0], r[0]);
	}
}

// TYPED defines two kernels. The given number of blocks of the first fit on a multiprocessor:
// with more registers per block, fewer loads would be in flight.
#define TYPED(name, Op, W, P, operands, blocks)                                                                                                         \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(256, blocks))) void name(                                                           \
		u32 code, u32 dtype, u32 to, i64 n, Scalars<W> s, void *dst, const void *x, const void *y, const void *z, u32 sx, u32 sy, u32 sz) {                \
		flatTyped<Op, W, P, operands>(code, dtype, to, n, s, dst, x, y, z, sx, sy, sz);                                                                 \
	}                                                                                                                                                   \
	KERNEL name##_strided(u32 code, u32 dtype, u32 to, u32 n, Scalars<W> s, void *dst, const void *x, const void *y, const void *z, Axes axes) {          \
		stridedTyped<Op, W, operands>(code, dtype, to, n, s, dst, x, y, z, axes);                                                                       \
	}
