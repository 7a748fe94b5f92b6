// Reductions: how the elements that go into one result are joined.
//
// Elements are taken in row-major order and cut into blocks of 1024. Lane l of 256 joins elements
// l, l+256, l+512 and l+768 of a block, in this order. Then adjacent lanes are joined, adjacent
// pairs of them, and so on; then blocks likewise. The order depends on the number of elements
// alone: rows, columns and other reductions give the same bits.
//
// The elements to join are described by a type R with
//
//	Acc, X                                   types of joined values and of elements
//	Acc start(), X missing()                 neutral values
//	void at(i64 o)                           starts result o
//	i64 element(i64 i)                       position of element i
//	bool ahead                               whether load reads: then 32 elements are read before they are joined
//	void load(Raw &raw, i64 at, int n)       reads the elements at positions at to at+7, of which n are valid
//	void open(X *x, Raw &raw, int n)         x[j] = element j of raw, or missing() from n on
//	void far(X *x, i64 i, int n)             x[j] = element i+j at any position, or missing() from n on
//	void column(X *x, i64 at)                x[j] = the element at this position of result o+j, for j < V
//	void add<n, V, m>(Acc *a, X *x, i64 i)   joins x[j], element i + j/V, to a[j], for m consecutive lists
//	                                         of n; the elements of a list are 256 after those of the one before
//	void join<n>(Acc *a, const Acc *b)       joins b[j] to a[j], in any order
//	void put(i64 o, Acc a)                   stores result o
#pragma once
#include "common.cuh"

#define ALL_LANES 0xffffffffu // lanes of a warp

// shuffled returns the value a of the lane whose number differs in the given bits.
template <class A> DEVICE A shuffled(A a, u32 bits) {
	struct Words { u32 at[sizeof(A) / 4]; } w = __builtin_bit_cast(Words, a);
#pragma unroll
	for (int i = 0; i < sizeof(A) / 4; i++) w.at[i] = __nvvm_shfl_sync_bfly_i32(ALL_LANES, w.at[i], bits, 31);
	return __builtin_bit_cast(A, w);
}

// pairs joins rows of V, adjacent ones first, and leaves the result in the first.
template <int rows, int V, class R> DEVICE void pairs(const R &r, typename R::Acc *a) {
	const int n = rows / 2 * V;
	typename R::Acc b[n];
#pragma unroll
	for (int j = 0; j < n; j++) {
		b[j] = a[(j / V * 2 + 1) * V + j % V];
		a[j] = a[j / V * 2 * V + j % V];
	}
	r.template join<n>(a, b);
	if constexpr (rows > 2) pairs<rows / 2, V>(r, a);
}

// across joins the values of a warp's lanes, in groups of adjacent lanes.
template <class R> DEVICE typename R::Acc across(const R &r, typename R::Acc a, u32 group) {
	for (u32 bit = 1; bit < group; bit *= 2) {
		typename R::Acc b = shuffled(a, bit);
		r.template join<1>(&a, &b);
	}
	return a;
}

template <int size> struct Bits {};
template <> struct Bits<1> { typedef u8 type; };
template <> struct Bits<2> { typedef u16 type; };
template <> struct Bits<4> { typedef u32 type; };
template <> struct Bits<8> { typedef u64 type; };

// chosen selects by value: a conditional of array elements would select an address.
DEVICE u32 chosen(bool first, u32 x, u32 y) { return first ? x : y; }

// Eight holds eight adjacent elements, in the words of 16 bytes (8 for one-byte elements) that
// they touch.
template <class T> struct Eight {
	static const int size = sizeof(T), word = size == 1 ? 8 : 16, lanes = word / 4, words = 8 * size / word, all = (words + 1) * lanes;
	u32 w[all], skip;

	// load reads the elements from p, of which n >= 1 are valid. It reads no word without a valid
	// element.
	METHOD void load(const T *p, int n) {
		typedef u32 Word __attribute__((ext_vector_type(lanes)));
		skip = (u32)(u64)p & (word - 1);
		const Word *from = (const Word *)(p - skip / size);
#pragma unroll
		for (int i = 0; i <= words; i++) {
			Word v = from[i * word < (int)skip + n * size ? i : 0];
#pragma unroll
			for (int j = 0; j < lanes; j++) w[i * lanes + j] = v[j];
		}
	}
	METHOD void open(T *x) {
		if (lanes == 4) {
			bool two = skip & 8;
#pragma unroll
			for (int i = 0; i + 2 < all; i++) w[i] = chosen(two, w[i + 2], w[i]);
		}
		if (size <= 4) {
			bool one = skip & 4;
#pragma unroll
			for (int i = 0; i + 1 < all; i++) w[i] = chosen(one, w[i + 1], w[i]);
		}
		if (size <= 2) {
			u32 bits = (skip & 3) * 8;
#pragma unroll
			for (int i = 0; i + 1 < all; i++) w[i] = (u32)(((u64)w[i + 1] << 32 | w[i]) >> bits);
		}
#pragma unroll
		for (int j = 0; j < 8; j++) {
			u64 bits;
			if (size == 8) bits = (u64)w[2 * j + 1] << 32 | w[2 * j];
			else bits = w[j * size / 4] >> (j * size % 4 * 8);
			x[j] = __builtin_bit_cast(T, (typename Bits<size>::type)bits);
		}
	}
};

// Results is the layout of results and their elements: kept holds the strides of results in dst
// and in src, reduced those of elements in src.
struct Results {
	u32 dtype; // dtype of dst
	u32 parts; // parts per result; several parts are partial results in room
	i64 outs, count;
	Axes kept, reduced;
};

// ofBlock joins the elements of a block, from first and before end, that belong to thread t of a
// group.
template <class R> DEVICE typename R::Acc ofBlock(const R &r, i64 first, i64 end, u32 t, bool near) {
	typename R::Acc a[8];
#pragma unroll
	for (int j = 0; j < 8; j++) a[j] = r.start();
	first += t * 8;
	if (R::ahead && near && first - t * 8 + 1024 <= end) {
		typename R::Raw raw[4];
		typename R::X x[32];
		i64 at[4];
#pragma unroll
		for (int k = 0; k < 4; k++) at[k] = r.element(first + k * 256);
#pragma unroll
		for (int k = 0; k < 4; k++) r.load(raw[k], at[k], 8);
#pragma unroll
		for (int k = 0; k < 4; k++) r.open(x + 8 * k, raw[k], 8);
		r.template add<8, 1, 4>(a, x, first);
	} else {
#pragma unroll 1
		for (int k = 0; k < 4 && first < end; k++, first += 256) {
			typename R::X x[8];
			int n = end - first < 8 ? (int)(end - first) : 8;
			if (near) {
				typename R::Raw raw;
				r.load(raw, r.element(first), n);
				r.open(x, raw, n);
			} else {
				r.far(x, first, n);
			}
			r.template add<8, 1, 1>(a, x, first);
		}
	}
	pairs<8, 1>(r, a);
	return a[0];
}

// rows computes results with nearby elements, read eight at a time if near is set: a group of
// threads per result of up to 1024 elements, a block per 8192 elements of longer ones.
template <class R> DEVICE void rows(R r, bool near, u32 group, const Results &all, typename R::Acc *room) {
	SHARED static typename R::Acc sums[8];
	u32 warp = THREAD / 32, warps = THREADS / 32, t = THREAD % group;
	i64 o, first = 0, end = all.count;
	u32 part = 0;
	if (all.count <= 1024) {
		o = ((i64)BLOCK * THREADS + THREAD) / group;
		if (o >= all.outs) end = 0;
	} else {
		o = BLOCK / all.parts;
		part = BLOCK % all.parts;
		first = (i64)part * 8192 + warp * 1024;
	}
	if (end > 0) r.at(o);
	typename R::Acc a = across(r, ofBlock(r, first, end, t, near), group);
	if (all.count <= 1024) {
		if (t == 0 && o < all.outs) r.put(o, a);
		return;
	}
	if (THREAD % 32 == 0) sums[warp] = a;
	BARRIER();
	if (warp > 0) return;
	a = across(r, THREAD < warps ? sums[THREAD] : r.start(), 8);
	if (THREAD > 0) return;
	if (all.parts > 1) room[o * all.parts + part] = a;
	else r.put(o, a);
}

// columns computes adjacent results with adjacent elements: width of them, the last kept axis, V
// per thread. wide threads are adjacent; deep of the others share the lanes of a block, and
// the rest take several blocks, which make a part.
template <int V, class R> DEVICE void columns(R r, u32 wide, u32 deep, i64 width, const Results &all, typename R::Acc *room) {
	typedef typename R::Acc Acc;
	SHARED static Acc sums[256 * V];
	u32 x = THREAD % wide, p = THREAD / wide % deep, blocks = THREADS / wide / deep;
	u32 tiles = (width + wide * V - 1) / (wide * V), beside = BLOCKS / all.parts, part = BLOCK / beside, tile = BLOCK % beside;
	i64 c = ((i64)(tile % tiles) * wide + x) * V, o = tile / tiles * width + c;
	i64 first = ((i64)part * blocks + THREAD / wide / deep) * 1024;
	u32 each = 32 / deep;
	if (all.count <= 8 * deep) each = 1;
	Acc total[V], pending[V];
#pragma unroll
	for (int v = 0; v < V; v++) total[v] = r.start();
	if (c < width && first < all.count) {
		r.at(o);
#pragma unroll 1
		for (u32 m = 0; m < each; m++) {
			Acc a[8 * V];
#pragma unroll
			for (int j = 0; j < 8 * V; j++) a[j] = r.start();
			i64 i = first + (p * each + m) * 8;
#pragma unroll 1
			for (int k = 0; k < 4 && i < all.count; k++, i += 256) {
				typename R::X x[8 * V];
				i64 at[8];
#pragma unroll
				for (int j = 0; j < 8; j++) at[j] = r.element(i + j < all.count ? i + j : i);
#pragma unroll
				for (int j = 0; j < 8; j++) r.column(x + j * V, at[j]);
#pragma unroll
				for (int j = V; j < 8 * V; j++)
					if (i + j / V >= all.count) x[j] = r.missing();
				r.template add<8 * V, V, 1>(a, x, i);
			}
			pairs<8, V>(r, a);
			// Of up to four blocks it joins the first two, the last two, and both.
			if (m & 1) r.template join<V>(pending, a);
			else
#pragma unroll
				for (int v = 0; v < V; v++) pending[v] = a[v];
			if (m == 3) r.template join<V>(total, pending);
			else if (m == 1 || each == 1)
#pragma unroll
				for (int v = 0; v < V; v++) total[v] = pending[v];
		}
	}
	u32 others = THREADS / wide; // joined, adjacent ones first
	Acc *own = sums + THREAD * V;
	for (u32 bit = 1; bit < others; bit *= 2) {
#pragma unroll
		for (int v = 0; v < V; v++) own[v] = total[v];
		BARRIER();
		if (!(THREAD / wide & bit)) r.template join<V>(total, own + bit * wide * V);
		BARRIER();
	}
	if (THREAD >= wide) return;
#pragma unroll
	for (int v = 0; v < V; v++) {
		if (c + v >= width) break;
		if (all.parts > 1) room[(o + v) * all.parts + part] = total[v];
		else r.put(o + v, total[v]);
	}
}

// joints joins partial results: of up to 32 parts with a group of threads per result, otherwise
// with a block per 1024, whose results are partial again if there are several.
template <class R> DEVICE void joints(const R &r, u32 group, i64 outs, u32 parts, const typename R::Acc *room, typename R::Acc *more) {
	SHARED static typename R::Acc sums[8];
	if (group <= 32) {
		i64 o = ((i64)BLOCK * THREADS + THREAD) / group;
		u32 t = THREAD % group;
		typename R::Acc a = across(r, o < outs && t < parts ? room[o * parts + t] : r.start(), group);
		if (t == 0 && o < outs) r.put(o, a);
		return;
	}
	u32 pieces = (parts + 1023) / 1024, first = BLOCK % pieces * 1024 + THREAD * 4;
	i64 o = BLOCK / pieces;
	typename R::Acc a[4];
#pragma unroll
	for (int j = 0; j < 4; j++) a[j] = first + j < parts ? room[o * parts + first + j] : r.start();
	pairs<4, 1>(r, a);
	typename R::Acc sum = across(r, a[0], 32);
	if (THREAD % 32 == 0) sums[THREAD / 32] = sum;
	BARRIER();
	if (THREAD >= 32) return;
	sum = across(r, THREAD < 8 ? sums[THREAD] : r.start(), 8);
	if (THREAD > 0) return;
	if (pieces > 1) more[BLOCK] = sum;
	else r.put(o, sum);
}

// Identities of minimum and maximum.
template <class W> struct limits {};
template <> struct limits<float> {
	static METHOD float least() { return -__builtin_inff(); }
	static METHOD float most() { return __builtin_inff(); }
};
template <> struct limits<double> {
	static METHOD double least() { return -__builtin_inf(); }
	static METHOD double most() { return __builtin_inf(); }
};
template <> struct limits<i64> {
	static METHOD i64 least() { return (i64)(1ull << 63); }
	static METHOD i64 most() { return (i64)(~0ull >> 1); }
};

// Elements joins the elements of a view of T with J.
template <class T, int V, class J> struct Elements : J {
	typedef typename J::X X;
	typedef Eight<T> Raw;
	static const bool ahead = true;
	const Results &all;
	const T *src;
	i64 base;

	METHOD Elements(u32 code, const Results &all, const T *src) : J(code), all(all), src(src) {}
	METHOD void at(i64 o) { base = place<1>(all.kept, o); }
	METHOD i64 element(i64 i) const { return base + place<0>(all.reduced, i); }
	METHOD void load(Raw &raw, i64 at, int n) const { raw.load(src + at, n); }
	METHOD void open(X *x, Raw &raw, int n) const {
		T v[8];
		raw.open(v);
#pragma unroll
		for (int j = 0; j < 8; j++) x[j] = j < n ? widen(v[j]) : this->missing();
	}
	METHOD void far(X *x, i64 i, int n) const {
#pragma unroll
		for (int j = 0; j < 8; j++) x[j] = j < n ? widen(src[element(i + j)]) : this->missing();
	}
	METHOD void column(X *x, i64 at) const {
		struct __attribute__((aligned(V * sizeof(T)))) Some { T at[V]; };
		Some v = *(const Some *)(src + at);
#pragma unroll
		for (int j = 0; j < V; j++) x[j] = widen(v.at[j]);
	}
};

// REDUCTION defines kernels that join elements of T and store results of D.
#define REDUCTION(Of, T, V, name, D, Acc)                                                                                          \
	KERNEL rows_##name(u32 code, u32 near, u32 group, const T *src, D *dst, Acc *room, Results all) {                              \
		rows(Of<T, 1>(code, all, src, dst), near, group, all, room);                                                               \
	}                                                                                                                              \
	KERNEL columns_##name(u32 code, u32 wide, u32 deep, i64 width, const T *src, D *dst, Acc *room, Results all) {                 \
		columns<1>(Of<T, 1>(code, all, src, dst), wide, deep, width, all, room);                                                   \
	}                                                                                                                              \
	KERNEL columns_packs_##name(u32 code, u32 wide, u32 deep, i64 width, const T *src, D *dst, Acc *room, Results all) {           \
		columns<V>(Of<T, V>(code, all, src, dst), wide, deep, width, all, room);                                                   \
	}

#define JOINTS_OF(Joint, W, name, D, Acc)                                                                                          \
	KERNEL joints_##name(u32 code, u32 group, u32 parts, const Acc *room, Acc *more, D *dst, Results all) {                        \
		joints(Joint<W>(code, all, dst), group, all.outs, parts, room, more);                                                      \
	}
