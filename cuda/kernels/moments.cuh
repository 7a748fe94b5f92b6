// Statistics of normalisations and the sums of their gradients, joined in the order of all sums.
#pragma once
#include "fold.cuh"

// Norm is the layout of results and operands, like Results. kept holds strides of up to three
// results and the first two operands, in the order variance, x, mean or first, dy, second, x; the
// rest are those of mean, scale and w.
struct Norm {
	Results all;
	Axes kept, reduced;
};

// Centred joins squares of differences from the mean.
template <class T, int V> struct Centred : Elements<T, V, Fold<typename Wide<T>::type>> {
	typedef typename Wide<T>::type W;
	typedef Elements<T, V, Fold<W>> From;
	void *dst;
	const W *means;
	W mean[V];

	METHOD Centred(const Norm &f, const T *src, void *dst, const W *means) : From(Mean, f.all, src), dst(dst), means(means) {}
	METHOD void at(i64 o) {
		From::at(o);
#pragma unroll
		for (int v = 0; v < V; v++) mean[v] = means[place<2>(this->all.kept, o + v)];
	}
	template <int n, int repeat> METHOD void centre(W *x, int there) const {
#pragma unroll
		for (int j = 0; j < n; j++) {
			W d = x[j] - mean[j % repeat];
			x[j] = j < there ? d * d : 0;
		}
	}
	METHOD void open(W *x, typename From::Raw &raw, int n) const { From::open(x, raw, n), centre<8, 1>(x, n); }
	METHOD void far(W *x, i64 i, int n) const { From::far(x, i, n), centre<8, 1>(x, n); }
	METHOD void column(W *x, i64 at) const { From::column(x, at), centre<V, V>(x, V); }
	METHOD void put(i64 o, W x) const { finish(Mean, this->all, dst, o, x); }
};

// whole returns the joined value of a group of threads to each of them; the group is a block if
// there are more than 1024 elements.
template <class R> DEVICE typename R::Acc whole(const R &r, typename R::Acc a, u32 group, i64 count, typename R::Acc *room) {
	a = across(r, a, group);
	if (count <= 1024) return a;
	if (LANE == 0) room[THREAD / 32] = a;
	BARRIER();
	return across(r, LANE % 8 < THREADS / 32 ? room[LANE % 8] : r.start(), 8);
}

// moments computes means and variances of up to 8192 elements each, read once from memory.
template <class T> DEVICE void moments(const Norm &f, bool near, u32 group, const T *src, void *dst, typename Wide<T>::type *means) {
	typedef typename Wide<T>::type W;
	SHARED static W room[2][8];
	const Results &all = f.all;
	u32 t = THREAD % group;
	i64 o = BLOCK, first = THREAD / 32 * 1024, end = all.count;
	if (all.count <= 1024) {
		o = ((i64)BLOCK * THREADS + THREAD) / group, first = 0;
		if (o >= all.outs) end = 0;
	}
	FoldOf<T, 1> sum(Mean, all, src, 0);
	Centred<T, 1> squares(f, src, dst, means);
	if (end > 0) sum.at(o);
	squares.base = sum.base;
	W m = mean((u32)Mean, whole(sum, ofBlock(sum, first, end, t, near), group, all.count, room[0]), all.count);
	squares.mean[0] = m;
	W v = whole(squares, ofBlock(squares, first, end, t, near), group, all.count, room[1]);
	if (all.count <= 1024 ? t > 0 || o >= all.outs : THREAD > 0) return;
	means[place<2>(all.kept, o)] = m;
	squares.put(o, v);
}

#define MOMENTS(T, V, name)                                                                                                              \
	KERNEL moments_##name(u32 near, u32 group, const T *src, void *dst, Wide<T>::type *means, Norm f) {                                  \
		moments(f, near, group, src, dst, means);                                                                                        \
	}                                                                                                                                    \
	KERNEL rows_moments_##name(u32 near, u32 group, const T *src, void *dst, const Wide<T>::type *means, Wide<T>::type *room, Norm f) {  \
		rows(Centred<T, 1>(f, src, dst, means), near, group, f.all, room);                                                               \
	}                                                                                                                                    \
	KERNEL columns_moments_##name(u32 wide, u32 deep, i64 width, const T *src, void *dst, const Wide<T>::type *means,                    \
	                              Wide<T>::type *room, Norm f) {                                                                         \
		columns<1>(Centred<T, 1>(f, src, dst, means), wide, deep, width, f.all, room);                                                   \
	}                                                                                                                                    \
	KERNEL columns_packs_moments_##name(u32 wide, u32 deep, i64 width, const T *src, void *dst, const Wide<T>::type *means,              \
	                                    Wide<T>::type *room, Norm f) {                                                                   \
		columns<V>(Centred<T, V>(f, src, dst, means), wide, deep, width, f.all, room);                                                   \
	}

// Two is a pair of sums: of g = dy*w and of g*((x - mean)*scale).
template <class W> struct Two { W g, z; };

template <class W> struct Sums {
	typedef Two<W> Acc;
	typedef Two<W> X;
	const Norm &f;
	W *first, *second, divisor;

	METHOD Sums(const Norm &f, W *first, W *second, W divisor) : f(f), first(first), second(second), divisor(divisor) {}
	METHOD Acc start() const { return {0, 0}; }
	METHOD X missing() const { return {0, 0}; }
	template <int n> METHOD void join(Acc *a, const Acc *b) const { add<n, 1, 1>(a, b, 0); }
	template <int n, int V, int m> METHOD void add(Acc *a, const X *x, i64 i) const {
#pragma unroll
		for (int j = 0; j < n * m; j++) a[j % n].g += x[j].g, a[j % n].z += x[j].z;
	}
	METHOD void put(i64 o, Acc a) const {
		first[place<0>(f.all.kept, o)] = a.g / divisor;
		second[place<2>(f.all.kept, o)] = a.z / divisor;
	}
};

// Operands are the inputs; w may be missing.
template <class T, class W> struct Operands {
	const T *dy, *x;
	const W *mean, *scale, *w;
};

template <class T, int V> struct SumsOf : Sums<typename Wide<T>::type> {
	typedef typename Wide<T>::type W;
	typedef Two<W> X;
	struct Raw { i64 i; };
	static const bool ahead = false; // 32 pairs and their factors would not fit in registers
	Operands<T, W> from;

	METHOD SumsOf(const Norm &f, W *first, W *second, W divisor, const Operands<T, W> &from) : Sums<W>(f, first, second, divisor), from(from) {}
	METHOD void at(i64 o) {
		const Norm &f = this->f;
		from.dy += place<1>(f.all.kept, o);
		from.x += place<3>(f.all.kept, o);
		from.mean += place<0>(f.kept, o);
		from.scale += place<1>(f.kept, o);
		if (from.w) from.w += place<2>(f.kept, o);
	}
	METHOD i64 element(i64 i) const { return i; }
	METHOD void load(Raw &raw, i64 i, int n) const { raw.i = i; }
	// some sets v to n numbers with the given step.
	template <int n> METHOD void some(W *v, const W *p, i64 step, int there) const {
		if (step == 0) {
			W one = *p;
#pragma unroll
			for (int j = 0; j < n; j++) v[j] = one;
		} else {
#pragma unroll
			for (int j = 0; j < n; j++) v[j] = p[(j < there ? j : 0) * step];
		}
	}
	// beside sets to[j] from dy[j] and x[j] and from factors laid out as last specifies; j runs
	// along the last of axes.
	template <int n> METHOD void beside(X *to, const W *dy, const W *x, i64 i, const Axes &axes, int there) const {
		const Norm &f = this->f;
		u32 last = axes.rank - 1;
		W v[n], g[n], z[n];
		some<n>(v, from.mean + place<0>(f.reduced, i), axes.stride[0][last], there);
#pragma unroll
		for (int j = 0; j < n; j++) z[j] = x[j] - v[j];
		some<n>(v, from.scale + place<1>(f.reduced, i), axes.stride[1][last], there);
#pragma unroll
		for (int j = 0; j < n; j++) z[j] = z[j] * v[j], g[j] = dy[j];
		if (from.w) {
			some<n>(v, from.w + place<2>(f.reduced, i), axes.stride[2][last], there);
#pragma unroll
			for (int j = 0; j < n; j++) g[j] = g[j] * v[j];
		}
#pragma unroll
		for (int j = 0; j < n; j++) {
			to[j].g = j < there ? g[j] : 0;
			to[j].z = j < there ? g[j] * z[j] : 0;
		}
	}
	METHOD void open(X *to, Raw &raw, int n) const {
		const Norm &f = this->f;
		Eight<T> a, b;
		T v[8];
		W dy[8], x[8];
		a.load(from.dy + place<0>(f.all.reduced, raw.i), n);
		b.load(from.x + place<1>(f.all.reduced, raw.i), n);
		a.open(v);
#pragma unroll
		for (int j = 0; j < 8; j++) dy[j] = widen(v[j]);
		b.open(v);
#pragma unroll
		for (int j = 0; j < 8; j++) x[j] = widen(v[j]);
		beside<8>(to, dy, x, raw.i, f.reduced, n);
	}
	METHOD void far(X *to, i64 i, int n) const {
		const Norm &f = this->f;
#pragma unroll
		for (int j = 0; j < 8; j++) {
			i64 at = j < n ? i + j : i;
			W dy = widen(from.dy[place<0>(f.all.reduced, at)]), x = widen(from.x[place<1>(f.all.reduced, at)]);
			beside<1>(to + j, &dy, &x, at, f.reduced, j < n);
		}
	}
	METHOD void column(X *to, i64 i) const {
		const Norm &f = this->f;
		struct __attribute__((aligned(V * sizeof(T)))) Some { T at[V]; };
		Some a = *(const Some *)(from.dy + place<0>(f.all.reduced, i)), b = *(const Some *)(from.x + place<1>(f.all.reduced, i));
		W dy[V], x[V];
#pragma unroll
		for (int j = 0; j < V; j++) dy[j] = widen(a.at[j]), x[j] = widen(b.at[j]);
		beside<V>(to, dy, x, i, f.kept, V);
	}
};

// A thread sums columns of 8 bytes: those of 16 would not fit in registers.
#define SUMS(T, W, name)                                                                                                              \
	KERNEL rows_sums_##name(u32 near, u32 group, Operands<T, W> from, W *first, W *second, W divisor, Two<W> *room, Norm f) {            \
		rows(SumsOf<T, 1>(f, first, second, divisor, from), near, group, f.all, room);                                                   \
	}                                                                                                                                    \
	KERNEL columns_sums_##name(u32 wide, u32 deep, i64 width, Operands<T, W> from, W *first, W *second, W divisor, Two<W> *room, Norm f) { \
		columns<1>(SumsOf<T, 1>(f, first, second, divisor, from), wide, deep, width, f.all, room);                                       \
	}                                                                                                                                    \
	KERNEL columns_packs_sums_##name(u32 wide, u32 deep, i64 width, Operands<T, W> from, W *first, W *second, W divisor, Two<W> *room,   \
	                                 Norm f) {                                                                                           \
		columns<8 / sizeof(W)>(SumsOf<T, 8 / sizeof(W)>(f, first, second, divisor, from), wide, deep, width, f.all, room);                                       \
	}

#define JOINTS(W, name)                                                                                                                \
	KERNEL joints_moments_##name(u32 group, u32 parts, const W *room, W *more, void *dst, Norm f) {                                      \
		joints(FoldJoint<W>(Mean, f.all, dst), group, f.all.outs, parts, room, more);                                                    \
	}                                                                                                                                    \
	KERNEL joints_sums_##name(u32 group, u32 parts, const Two<W> *room, Two<W> *more, W *first, W *second, W divisor, Norm f) {          \
		joints(Sums<W>(f, first, second, divisor), group, f.all.outs, parts, room, more);                                                \
	}

#define STATISTICS(T, V, W, name) \
	MOMENTS(T, V, name)           \
	SUMS(T, W, name)              \
	JOINTS(W, name)
