// Positions of extremes: joining them, and macros that define the kernels of a type.
#pragma once
#include "reduce.cuh"

// Found is the best element so far and its position. It is packed, because padding would never be
// written.
template <class W> struct __attribute__((packed, aligned(sizeof(W)))) Found {
	W value;
	i64 at;
};

// flipped reverses the order.
DEVICE float flipped(float x) { return -x; }
DEVICE double flipped(double x) { return -x; }
DEVICE i64 flipped(i64 x) { return ~x; }

// Best joins elements as ArgMax requires, flipped ones for ArgMin: NaN is best, and of equal
// elements the first. An element that does not improve on the initial value has no position until
// the end; if none does, all are equal, and the first is taken.
template <class W> struct Best {
	typedef Found<W> Acc;
	typedef W X;
	static const i64 nowhere = ~0ull >> 1;
	bool most;

	METHOD Best(u32 code) : most(code == Argmax) {}
	METHOD Acc start() const { return {limits<W>::least(), nowhere}; }
	METHOD W missing() const { return most ? limits<W>::least() : flipped(limits<W>::least()); }
	METHOD bool before(W x, W y) const { return !(x <= y) && y == y; }
	template <int n> METHOD void join(Acc *a, const Acc *b) const {
#pragma unroll
		for (int j = 0; j < n; j++) {
			bool first = b[j].at < a[j].at, better = before(b[j].value, a[j].value), worse = before(a[j].value, b[j].value);
			bool take = better || (first && !worse);
			a[j].value = take ? b[j].value : a[j].value;
			a[j].at = take ? b[j].at : a[j].at;
		}
	}
	template <int n, int V, int m> METHOD void add(Acc *a, const W *x, i64 i) const {
#pragma unroll
		for (int j = 0; j < n * m; j++) {
			W y = most ? x[j] : flipped(x[j]);
			bool take = before(y, a[j % n].value);
			a[j % n].value = take ? y : a[j % n].value;
			a[j % n].at = take ? i + j % n / V + j / n * 256 : a[j % n].at;
		}
	}
	METHOD void put(i64 *dst, const Results &all, i64 o, Acc a) const { dst[place<0>(all.kept, o)] = a.at == nowhere ? 0 : a.at; }
};

template <class T, int V> struct BestOf : Elements<T, V, Best<typename Wide<T>::type>> {
	i64 *dst;
	METHOD BestOf(u32 code, const Results &all, const T *src, i64 *dst) : Elements<T, V, Best<typename Wide<T>::type>>(code, all, src), dst(dst) {}
	METHOD void put(i64 o, Found<typename Wide<T>::type> a) const { Best<typename Wide<T>::type>::put(dst, this->all, o, a); }
};

template <class W> struct BestJoint : Best<W> {
	const Results &all;
	i64 *dst;
	METHOD BestJoint(u32 code, const Results &all, i64 *dst) : Best<W>(code), all(all), dst(dst) {}
	METHOD void put(i64 o, Found<W> a) const { Best<W>::put(dst, all, o, a); }
};

#define EXTREME(T, V, name) REDUCTION(BestOf, T, V, name, i64, Found<Wide<T>::type>)
#define EXTREME_JOINTS(W, name) JOINTS_OF(BestJoint, W, name, i64, Found<W>)
