// Softmax and related functions along an axis. Each sum has the order of reduce.cuh, and each
// operation rounds separately, so that results equal those of the codes that define them.
#pragma once
#include "exp.cuh"
#include "log.cuh"
#include "reduce.cuh"

// Softened is the layout of the lines: n elements with the strides along in dst, x and y; axes
// locate the lines.
struct Softened {
	u32 code, dtype; // of dst
	u32 near;        // a bit each for dst, x and y: eight elements are adjacent, those of dst at multiples of 16 bytes
	i64 lines, n, along[3];
	Axes others;
};

struct Plus {
	typedef float Acc;
	METHOD float start() const { return 0; }
	template <int n> METHOD void join(float *a, const float *b) const {
#pragma unroll
		for (int j = 0; j < n; j++) a[j] += b[j];
	}
};

struct Top {
	typedef float Acc;
	METHOD float start() const { return -__builtin_inff(); }
	template <int n> METHOD void join(float *a, const float *b) const {
#pragma unroll
		for (int j = 0; j < n; j++) a[j] = largest(a[j], b[j]);
	}
};

// share returns an element's term of the sum, and sets x to the input of its result. top is the
// largest element.
DEVICE float share(u32 code, float &x, float y, float top) {
	switch (code) {
	case SoftmaxGrad: return x * y;
	case LogSoftmaxGrad: return x;
	}
	x -= top;
	float e = exp_(x);
	if (code == Softmax) x = e;
	return e;
}

// finished returns the result from that x; total is the sum, or its logarithm for LogSoftmax.
DEVICE float finished(u32 code, float x, float y, float total) {
	switch (code) {
	case Softmax: return x / total;
	case LogSoftmax: return x - total;
	case SoftmaxGrad: return (x - total) * y;
	}
	return x - exp_(y) * total;
}

// Soft reads and writes lines of T.
template <class T> struct Soft {
	const Softened &s;
	void *dst;
	const T *x, *y;
	i64 into, from[2];

	METHOD void at(i64 line) {
		into = place<0>(s.others, line), from[0] = place<1>(s.others, line), from[1] = place<2>(s.others, line);
	}
	METHOD float one(const T *p, int view, i64 i) const { return widen(p[from[view] + i * s.along[view + 1]]); }
	METHOD void put(i64 i, float v) const { ::put(s.dtype, dst, into + i * s.along[0], v); }

	// eight sets v to elements i to i+7, of which n >= 1 are valid.
	METHOD void eight(float *v, const T *p, int view, i64 i, int n) const {
		if (s.near >> (view + 1) & 1) {
			Eight<T> raw;
			T e[8];
			raw.load(p + from[view] + i, n);
			raw.open(e);
#pragma unroll
			for (int j = 0; j < 8; j++) v[j] = widen(e[j]);
			return;
		}
#pragma unroll
		for (int j = 0; j < 8; j++) v[j] = one(p, view, j < n ? i + j : i);
	}

	// putWarp stores a warp's values, v at i to i+7 of those below n, so that adjacent threads write
	// adjacent elements. room belongs to the warp.
	METHOD void putWarp(i64 i, const float *v, i64 n, float *room) const {
		i -= LANE * 8;
#pragma unroll
		for (int j = 0; j < 8; j++) room[LANE * 9 + j] = v[j];
		__nvvm_bar_warp_sync(ALL_LANES);
#pragma unroll
		for (int j = 0; j < 8; j++) {
			u32 at = j * 32 + LANE;
			if (i + at < n) put(i + at, room[at / 8 * 9 + at % 8]);
		}
		__nvvm_bar_warp_sync(ALL_LANES);
	}

	// putEight stores n of v at i to i+7.
	METHOD void putEight(i64 i, const float *v, int n) const {
		if (!(s.near & 1) || n < 8) {
#pragma unroll
			for (int j = 0; j < 8; j++)
				if (j < n) put(i + j, v[j]);
			return;
		}
		if (sizeof(T) == 4 || s.dtype == Float32) {
			typedef float Word __attribute__((ext_vector_type(4)));
			Word *to = (Word *)((float *)dst + into + i);
			to[0] = Word{v[0], v[1], v[2], v[3]};
			to[1] = Word{v[4], v[5], v[6], v[7]};
			return;
		}
		if constexpr (sizeof(T) == 2) {
			Pack<T> p;
#pragma unroll
			for (int j = 0; j < 8; j++) narrow(p.at[j], v[j]);
			*(Pack<T> *)((T *)dst + into + i) = p;
		}
	}
};

// acrossWarps joins the values of the first lanes of a block's warps, for all threads.
template <class R> DEVICE float acrossWarps(const R &r, float a, float *room) {
	u32 warps = THREADS / 32;
	if (THREAD % 32 == 0) room[THREAD / 32] = a;
	BARRIER();
	a = across(r, THREAD % 32 < warps ? room[THREAD % 32] : r.start(), 32);
	BARRIER();
	return a;
}

// softRows computes lines of up to 8192 elements, which stay in registers: a group of threads per
// line of up to 1024, a block per longer line.
template <class T, bool grad> DEVICE void softRows(Soft<T> s, u32 group, float *room, float (*turning)[32 * 9]) {
	u32 code = s.s.code, t = THREAD % group;
	bool shared = s.s.n > 1024;
	i64 line = shared ? (i64)BLOCK : ((i64)BLOCK * THREADS + THREAD) / group;
	i64 n = s.s.n, first = shared ? THREAD / 32 * 1024 + t * 8 : t * 8;
	if (line >= s.s.lines) n = 0;
	else s.at(line);
	int left = (int)(n - first); // below 1 if none of the thread's elements is valid
	float x[32], y[grad ? 32 : 1], top = 0;
#pragma unroll
	for (int k = 0; k < 4; k++) {
		int m = left - k * 256;
		if (m <= 0) continue;
		s.eight(x + 8 * k, s.x, 0, first + k * 256, m < 8 ? m : 8);
		if constexpr (grad) s.eight(y + 8 * k, s.y, 1, first + k * 256, m < 8 ? m : 8);
	}
	if (!grad) {
		top = -__builtin_inff();
#pragma unroll
		for (int j = 0; j < 32; j++)
			if (j % 8 + j / 8 * 256 < left) top = largest(top, x[j]);
		top = across(Top(), top, group);
		if (shared) top = acrossWarps(Top(), top, room);
	}
	float a[8] = {};
#pragma unroll
	for (int j = 0; j < 32; j++)
		if (j % 8 + j / 8 * 256 < left) a[j % 8] += share(code, x[j], y[grad ? j : 0], top);
	pairs<8, 1>(Plus(), a);
	float total = across(Plus(), a[0], group);
	if (shared) total = acrossWarps(Plus(), total, room);
	if (code == LogSoftmax) total = log_(total);
#pragma unroll
	for (int k = 0; k < 4; k++) {
		i64 i = first + k * 256;
		bool turned = group == 32 && !(s.s.near & 1);
		if (turned ? i - t * 8 >= n : i >= n) continue;
		float v[8];
#pragma unroll
		for (int j = 0; j < 8; j++) v[j] = finished(code, x[8 * k + j], y[grad ? 8 * k + j : 0], total);
		if (turned) s.putWarp(i, v, n, turning[THREAD / 32]);
		else s.putEight(i, v, n - i < 8 ? (int)(n - i) : 8);
	}
}

// softRows computes results and gradients separately, which need fewer registers than both.
template <class T> DEVICE void softRows(Soft<T> s, u32 group) {
	SHARED static float room[8], turning[8][32 * 9];
	if (s.s.code >= SoftmaxGrad) softRows<T, true>(s, group, room, turning);
	else softRows<T, false>(s, group, room, turning);
}

const u32 softBlocks = 4096; // blocks of 1024 elements that softLong can sum

// softLong computes longer lines, one block each, and rereads them in each of up to three passes.
template <class T> DEVICE void softLong(Soft<T> s) {
	SHARED static float room[32], sums[2][softBlocks];
	u32 code = s.s.code, t = THREAD % 32, warp = THREAD / 32, warps = THREADS / 32;
	bool grad = code >= SoftmaxGrad;
	i64 n = s.s.n;
	s.at(BLOCK);
	float x[8], y[8], top = 0;
	if (!grad) {
		top = -__builtin_inff();
		for (i64 i = THREAD * 8; i < n; i += THREADS * 8) {
			int m = n - i < 8 ? (int)(n - i) : 8;
			s.eight(x, s.x, 0, i, m);
#pragma unroll
			for (int j = 0; j < 8; j++)
				if (j < m) top = largest(top, x[j]);
		}
		top = acrossWarps(Top(), across(Top(), top, 32), room);
	}
	u32 blocks = (u32)((n + 1023) / 1024);
	for (u32 block = warp; block < blocks; block += warps) {
		float a[8] = {};
		for (int k = 0; k < 4; k++) {
			i64 i = (i64)block * 1024 + k * 256 + t * 8;
			if (i >= n) break;
			int m = n - i < 8 ? (int)(n - i) : 8;
			s.eight(x, s.x, 0, i, m);
			if (grad) s.eight(y, s.y, 1, i, m);
#pragma unroll
			for (int j = 0; j < 8; j++)
				if (j < m) a[j] += share(code, x[j], y[j], top);
		}
		pairs<8, 1>(Plus(), a);
		float sum = across(Plus(), a[0], 32);
		if (t == 0) sums[0][block] = sum;
	}
	BARRIER();
	u32 now = 0;
	for (u32 left = blocks; left > 1; left = (left + 1) / 2, now ^= 1) {
		for (u32 i = THREAD; i < (left + 1) / 2; i += THREADS) sums[now ^ 1][i] = 2 * i + 1 < left ? sums[now][2 * i] + sums[now][2 * i + 1] : sums[now][2 * i];
		BARRIER();
	}
	float total = sums[now][0];
	if (code == LogSoftmax) total = log_(total);
	if (!(s.s.near & 1)) {
		for (i64 i = THREAD; i < n; i += THREADS * 4) {
#pragma unroll
			for (int j = 0; j < 4; j++) {
				i64 at = i + j * THREADS < n ? i + j * THREADS : i;
				x[j] = s.one(s.x, 0, at);
				if (grad) y[j] = s.one(s.y, 1, at);
			}
#pragma unroll
			for (int j = 0; j < 4; j++) {
				share(code, x[j], y[j], top);
				if (i + j * THREADS < n) s.put(i + j * THREADS, finished(code, x[j], y[j], total));
			}
		}
		return;
	}
	for (i64 i = THREAD * 8; i < n; i += THREADS * 8) {
		int m = n - i < 8 ? (int)(n - i) : 8;
		s.eight(x, s.x, 0, i, m);
		if (grad) s.eight(y, s.y, 1, i, m);
#pragma unroll
		for (int j = 0; j < 8; j++) {
			share(code, x[j], y[j], top);
			x[j] = finished(code, x[j], y[j], total);
		}
		s.putEight(i, x, m);
	}
}

// softColumns computes adjacent lines of up to 1024 elements: wide of them per block, each by as
// many threads as share it.
template <class T> DEVICE void softColumns(Soft<T> s, u32 wide) {
	SHARED static float room[256];
	u32 code = s.s.code, c = THREAD % wide, p = THREAD / wide, deep = THREADS / wide;
	bool grad = code >= SoftmaxGrad;
	i64 line = (i64)BLOCK * wide + c, n = s.s.n;
	if (line >= s.s.lines) n = 0;
	else s.at(line);
	float top = 0;
	if (!grad) {
		top = -__builtin_inff();
		for (i64 i = p; i < n; i += deep) top = largest(top, s.one(s.x, 0, i));
		for (u32 bit = 1; bit < deep; bit *= 2) {
			room[THREAD] = top;
			BARRIER();
			top = largest(top, room[THREAD ^ bit * wide]);
			BARRIER();
		}
	}
	// Threads that share a line take lanes of eight in turn: 32 / deep adjacent ones.
	u32 each = s.s.n <= 8 * deep ? 1 : 32 / deep;
	float total = 0, pending[5];
#pragma unroll 1
	for (u32 m = 0; m < each; m++) {
		float a[8] = {};
		for (i64 i = (p * each + m) * 8; i < n; i += 256)
#pragma unroll
			for (int j = 0; j < 8; j++)
				if (i + j < n) {
					float x = s.one(s.x, 0, i + j);
					a[j] += share(code, x, grad ? s.one(s.y, 1, i + j) : 0, top);
				}
		pairs<8, 1>(Plus(), a);
		total = a[0];
#pragma unroll
		for (int level = 0; level < 5; level++) {
			if ((m + 1) % (2u << level) != 0) {
				if ((m + 1) % (1u << level) == 0) pending[level] = total;
			} else {
				total = pending[level] + total;
			}
		}
	}
	for (u32 bit = 1; bit < deep; bit *= 2) {
		room[THREAD] = total;
		BARRIER();
		total += room[THREAD ^ bit * wide];
		BARRIER();
	}
	if (code == LogSoftmax) total = log_(total);
	for (i64 i = p; i < n; i += deep) {
		float x = s.one(s.x, 0, i), y = grad ? s.one(s.y, 1, i) : 0;
		share(code, x, y, top);
		s.put(i, finished(code, x, y, total));
	}
}

// Two blocks of the first kernel must fit on a multiprocessor.
#define SOFTMAX(T, name)                                                                                                                       \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(256, 2))) void rows_##name(u32 group, void *dst, const T *x, const T *y, Softened s) { softRows(Soft<T>{s, dst, x, y, 0, {}}, group); }            \
	KERNEL_OF(512) long_##name(void *dst, const T *x, const T *y, Softened s) { softLong(Soft<T>{s, dst, x, y, 0, {}}); }                      \
	KERNEL columns_##name(u32 wide, void *dst, const T *x, const T *y, Softened s) { softColumns(Soft<T>{s, dst, x, y, 0, {}}, wide); }
