// What changes tensors in place: unscaling gradients, steps of optimizers; many tensors in
// one launch.
#include "common.cuh"

DEVICE float root(float x) { return __builtin_sqrtf(x); }
DEVICE double root(double x) { return __builtin_sqrt(x); }

// rounded returns x rounded to T.
template <class T, class W> DEVICE W rounded(W x) {
	T t;
	narrow(t, x);
	return widen(t);
}

// Factors are the scalars of an update: for Unscale the factor alone, for SGD rate,
// momentum, decay and 1 - dampening, for Adam a to e, rate and epsilon.
template <class W> struct Factors {
	W c[7];
	u32 nesterov, first;
};

// An update changes elements x[0] to x[views-1] of as many tensors, and writes those whose
// bits are set in writes. It says whether it met one that is not finite.

struct Unscaling {
	static const int views = 1, writes = 1, ahead = 4;
	template <class T, class W> DEVICE bool step(W *x, const Factors<W> &f) {
		bool finite = x[0] - x[0] == 0;
		x[0] = f.c[0] * x[0];
		return !finite;
	}
};

template <bool momentum> struct Descent {
	static const int views = momentum ? 3 : 2, writes = momentum ? 5 : 1, ahead = 2;
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

// Table lists tensors without gaps, of n elements each. Blocks first[i] to first[i+1]-1 go
// through tensor i. at has an update's views and, after them, where found is.
const int tensors = 88, chunk = 8192;
struct Table {
	u32 count, first[tensors + 1];
	i64 n[tensors];
	u64 at[4][tensors];
};

// several updates the elements of all tensors of a table, 16 bytes at a time, a chunk of
// one of them in a block.
template <class Op, class T> DEVICE void several(const Table &t, const Factors<typename Wide<T>::type> &f, u32 write) {
	typedef typename Wide<T>::type W;
	const int P = Pack<T>::count, V = Op::views, U = Op::ahead;
	u32 tensor = 0;
	for (u32 end = t.count; end - tensor > 1;) {
		u32 middle = (tensor + end) / 2;
		if (t.first[middle] <= BLOCK) tensor = middle;
		else end = middle;
	}
	i64 from = (i64)(BLOCK - t.first[tensor]) * chunk, rest = t.n[tensor] - from;
	u32 n = rest < chunk ? (u32)rest : chunk;
	T *p[V];
	u64 bits = 0;
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
#pragma unroll
			for (int j = 0; j < P; j++) {
				W x[V];
#pragma unroll
				for (int v = 0; v < V; v++) x[v] = widen(in[v][u].at[j]);
				bad |= Op::template step<T, W>(x, f);
#pragma unroll
				for (int v = 0; v < V; v++) narrow(in[v][u].at[j], x[v]);
			}
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
		bad |= Op::template step<T, W>(x, f);
		if (!write) continue;
#pragma unroll
		for (int v = 0; v < V; v++)
			if (Op::writes >> v & 1) narrow(p[v][i], x[v]);
	}
	if (bad) *(float *)t.at[V & 3][tensor] = 1;
}

// scattered updates n < 2^31 elements of views of any strides.
template <class Op, class T>
DEVICE void scattered(u32 n, const Factors<typename Wide<T>::type> &f, u32 write, T *a, T *b, T *c, T *d, float *found, const Axes &axes) {
	typedef typename Wide<T>::type W;
	const int V = Op::views;
	T *p[4] = {a, b, c, d};
	bool bad = false;
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
	if (bad) *found = 1;
}

#define UPDATE(name, Op, T)                                                                                                             \
	KERNEL name(Factors<Wide<T>::type> f, u32 write, Table table) { several<Op, T>(table, f, write); }                                  \
	KERNEL name##_strided(Factors<Wide<T>::type> f, u32 write, u32 n, T *a, T *b, T *c, T *d, float *found, Axes axes) {                \
		scattered<Op, T>(n, f, write, a, b, c, d, found, axes);                                                                         \
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
