// In-place updates of tensors: unscaling of gradients and optimizer steps, many tensors per
// launch.
#include "guard.cuh"

DEVICE float root(float x) { return __builtin_sqrtf(x); }
DEVICE double root(double x) { return __builtin_sqrt(x); }

// rounded returns x rounded to T.
template <class T, class W> DEVICE W rounded(W x) {
	T t;
	narrow(t, x);
	return widen(t);
}

// Factors are the scalars of an update: for Unscale the factor alone, for SGD rate, momentum,
// decay and 1 - dampening, for Adam a to e, rate and epsilon.
template <class W> struct Factors {
	W c[7];
	u32 nesterov, first;
};

// An update changes elements x[0] to x[views-1] of that many tensors, and writes those whose bits
// are set in writes. It reports whether it found a non-finite one. Two more pointers, which may
// be null, follow the tensors. guard reads the first before the elements and reports whether to
// write.

// The two pointers of Unscaling are the flag and the factor.
struct Unscaling {
	static const int views = 1, writes = 1, ahead = 4;
	static const bool checks = true;
	template <class W> DEVICE bool guard(Factors<W> &f, const u64 *behind) {
		if (behind[1]) f.c[0] = *(const float *)behind[1];
		return f.c[0] != 1;
	}
	template <class T, class W> DEVICE bool step(W *x, const Factors<W> &f) {
		bool finite = x[0] - x[0] == 0;
		x[0] = f.c[0] * x[0];
		return !finite;
	}
};

// The two pointers of an optimizer are its count and the copy.
template <bool momentum> struct Descent {
	static const int views = momentum ? 3 : 2, writes = momentum ? 5 : 1, ahead = 2;
	static const bool checks = false;
	template <class W> DEVICE bool guard(Factors<W> &f, const u64 *behind) {
		const Count *count = (const Count *)behind[0];
		if (!count) return true;
		f.c[0] = (W)count->rate;
		if (count->steps != 1) f.first = 0;
		return count->taken != 0;
	}
	template <class T, class W> DEVICE bool step(W *x, const Factors<W> &f) {
		W h = x[1];
		if (f.c[2] != 0) h = rounded<T>(h + f.c[2] * x[0]);
		W to = h;
		if (momentum) {
			W v = h;
			if (!f.first) v = rounded<T>(rounded<T>(f.c[1] * x[2]) + f.c[3] * h);
			to = x[2] = v;
		}
		if (f.nesterov) to = rounded<T>(h + f.c[1] * to);
		x[0] = x[0] + -f.c[0] * to;
		return false;
	}
};

struct Adaptive {
	static const int views = 4, writes = 13, ahead = 1;
	static const bool checks = false;
	template <class W> DEVICE bool guard(Factors<W> &f, const u64 *behind) {
		const Count *count = (const Count *)behind[0];
		if (!count) return true;
		f.c[4] = (W)count->scale, f.c[5] = (W)count->rate;
		return count->taken != 0;
	}
	template <class T, class W> DEVICE bool step(W *x, const Factors<W> &f) {
		W g = x[1];
		W m = x[2] + f.c[0] * (g - x[2]);
		W v = f.c[1] * x[3] + f.c[2] * (g * g);
		W divisor = f.c[4] * root(v) + f.c[6];
		x[0] = f.c[3] * x[0] - f.c[5] * (m / divisor);
		x[2] = m, x[3] = v;
		return false;
	}
};

// Table lists contiguous tensors of n elements each, as many as fit next to Factors in the 4 KiB
// of parameters. Blocks first[i] to first[i+1]-1 process tensor i. at holds an update's views and
// the pointers that follow them.
const int chunk = 8192;
template <int views> struct Table {
	static const int slots = views + 2, tensors = 4000 / (12 + 8 * slots);
	u32 count, first[tensors + 1];
	i64 n[tensors];
	u64 at[slots][tensors];
};

// half returns x as float16 or bfloat16.
DEVICE u16 half(u32 dtype, float x) {
	f16 y;
	bf16 z;
	if (dtype == Float16) return narrow(y, x), y.bits;
	return narrow(z, x), z.bits;
}
DEVICE u16 half(u32, double) { return 0; } // only float32 has copies
template <class T> struct Copied { static const bool value = false; };
template <> struct Copied<float> { static const bool value = true; };

// several updates the elements of all tensors of a table, 16 bytes at a time, one chunk of one
// tensor per block.
template <class Op, class T> DEVICE void several(const Table<Op::views> &t, Factors<typename Wide<T>::type> f, u32 dtype) {
	typedef typename Wide<T>::type W;
	const int P = Pack<T>::count, V = Op::views, U = Op::ahead;
	u32 tensor = 0;
	for (u32 end = t.count; end - tensor > 1;) {
		u32 middle = (tensor + end) / 2;
		if (t.first[middle] <= BLOCK) tensor = middle;
		else end = middle;
	}
	u64 behind[2] = {t.at[V][tensor], t.at[V + 1][tensor]};
	bool write = Op::guard(f, behind), copies = !Op::checks && Copied<T>::value && behind[1];
	if (!write && !copies && !Op::checks) return;
	i64 from = (i64)(BLOCK - t.first[tensor]) * chunk, rest = t.n[tensor] - from;
	u32 n = rest < chunk ? (u32)rest : chunk;
	T *p[V];
	u64 bits = copies ? behind[1] << 1 : 0;
	u16 *copy = (u16 *)behind[1] + from;
#pragma unroll
	for (int v = 0; v < V; v++) {
		bits |= t.at[v][tensor];
		p[v] = (T *)t.at[v][tensor] + from;
	}
	u32 packs = bits % 16 == 0 ? n / P : 0;
	bool bad = false;
	for (u32 i = THREAD; i < packs; i += U * THREADS) {
		Pack<T> in[V][U];
#pragma unroll
		for (int u = 0; u < U; u++) {
			if (i + u * THREADS >= packs) continue;
#pragma unroll
			for (int v = 0; v < V; v++) in[v][u] = ((const Pack<T> *)p[v])[i + u * THREADS];
		}
#pragma unroll
		for (int u = 0; u < U; u++) {
			if (i + u * THREADS >= packs) continue;
			Pack<u16> out;
#pragma unroll
			for (int j = 0; j < P; j++) {
				W x[V];
#pragma unroll
				for (int v = 0; v < V; v++) x[v] = widen(in[v][u].at[j]);
				W old = x[0];
				bad |= Op::template step<T, W>(x, f);
				if (copies) out.at[j] = half(dtype, write ? x[0] : old);
#pragma unroll
				for (int v = 0; v < V; v++) narrow(in[v][u].at[j], x[v]);
			}
			if (copies) ((u64 *)copy)[i + u * THREADS] = *(const u64 *)out.at;
			if (!write) continue;
#pragma unroll
			for (int v = 0; v < V; v++)
				if (Op::writes >> v & 1) ((Pack<T> *)p[v])[i + u * THREADS] = in[v][u];
		}
	}
	for (u32 i = packs * P + THREAD; i < n; i += THREADS) {
		W x[V];
#pragma unroll
		for (int v = 0; v < V; v++) x[v] = widen(p[v][i]);
		W old = x[0];
		bad |= Op::template step<T, W>(x, f);
		if (copies) copy[i] = half(dtype, write ? x[0] : old);
		if (!write) continue;
#pragma unroll
		for (int v = 0; v < V; v++)
			if (Op::writes >> v & 1) narrow(p[v][i], x[v]);
	}
	if (Op::checks && bad) *(float *)behind[0] = 1;
}

// scattered updates n < 2^31 elements of views with any strides, without copies.
template <class Op, class T>
DEVICE void scattered(u32 n, Factors<typename Wide<T>::type> f, T *a, T *b, T *c, T *d, u64 first, u64 second, const Axes &axes) {
	typedef typename Wide<T>::type W;
	const int V = Op::views;
	T *p[4] = {a, b, c, d};
	u64 behind[2] = {first, second};
	bool bad = false, write = Op::guard(f, behind);
	if (!write && !Op::checks) return;
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) {
		i64 at[V];
		offsets<V>(axes, i, at);
		W x[V];
#pragma unroll
		for (int v = 0; v < V; v++) x[v] = widen(p[v][at[v]]);
		bad |= Op::template step<T, W>(x, f);
		if (!write) continue;
#pragma unroll
		for (int v = 0; v < V; v++)
			if (Op::writes >> v & 1) narrow(p[v][at[v]], x[v]);
	}
	if (Op::checks && bad) *(float *)behind[0] = 1;
}

#define UPDATE(name, Op, T)                                                                                                             \
	KERNEL name(Factors<Wide<T>::type> f, u32 dtype, Table<Op::views> table) { several<Op, T>(table, f, dtype); }                       \
	KERNEL name##_strided(Factors<Wide<T>::type> f, u32 n, T *a, T *b, T *c, T *d, u64 first, u64 second, Axes axes) {                  \
		scattered<Op, T>(n, f, a, b, c, d, first, second, axes);                                                                        \
	}

#define ALL(T, name)                              \
	UPDATE(unscale_##name, Unscaling, T)          \
	UPDATE(sgd_##name, Descent<false>, T)         \
	UPDATE(momentum_##name, Descent<true>, T)

ALL(f16, float16)
ALL(bf16, bfloat16)
ALL(float, float32)
ALL(double, float64)
UPDATE(adam_float32, Adaptive, float)
UPDATE(adam_float64, Adaptive, double)
