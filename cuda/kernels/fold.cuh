// Sums, products and extremes: joining numbers by code, and macros that define the kernels of a
// type.
#pragma once
#include "reduce.cuh"

// Fold joins numbers as a code requires.
template <class W> struct Fold {
	typedef W Acc;
	typedef W X;
	u32 code;
	W none;

	METHOD Fold(u32 code) : code(code) {
		none = code == ReduceMax ? limits<W>::least() : code == ReduceMin ? limits<W>::most() : code == Prod;
	}
	METHOD W start() const { return none; }
	METHOD W missing() const { return none; }
	template <int n> METHOD void join(W *a, const W *b) const { joinLists<n, 1>(a, b); }
	template <int n, int V, int m> METHOD void add(W *a, W *x, i64 i) const {
		if (code == SumSquares)
#pragma unroll
			for (int j = 0; j < n * m; j++) x[j] *= x[j];
		joinLists<n, m>(a, x);
	}
	template <int n, int m> METHOD void joinLists(W *a, const W *b) const {
		switch (code) {
		case ReduceMax:
#pragma unroll
			for (int j = 0; j < n * m; j++) a[j % n] = largest(a[j % n], b[j]);
			break;
		case ReduceMin:
#pragma unroll
			for (int j = 0; j < n * m; j++) a[j % n] = smallest(a[j % n], b[j]);
			break;
		case Prod:
#pragma unroll
			for (int j = 0; j < n * m; j++) a[j % n] *= b[j];
			break;
		default:
#pragma unroll
			for (int j = 0; j < n * m; j++) a[j % n] += b[j];
		}
	}
};

DEVICE float mean(u32 code, float x, i64 count) { return code == Mean ? x / (float)count : x; }
DEVICE double mean(u32 code, double x, i64 count) { return code == Mean ? x / (double)count : x; }
DEVICE i64 mean(u32 code, i64 x, i64 count) { return x; }

// finish stores result o.
template <class W> DEVICE void finish(u32 code, const Results &all, void *dst, i64 o, W x) {
	put(all.dtype, dst, place<0>(all.kept, o), mean(code, x, all.count));
}

template <class T, int V> struct FoldOf : Elements<T, V, Fold<typename Wide<T>::type>> {
	void *dst;
	METHOD FoldOf(u32 code, const Results &all, const T *src, void *dst) : Elements<T, V, Fold<typename Wide<T>::type>>(code, all, src), dst(dst) {}
	METHOD void put(i64 o, typename Wide<T>::type x) const { finish(this->code, this->all, dst, o, x); }
};

template <class W> struct FoldJoint : Fold<W> {
	const Results &all;
	void *dst;
	METHOD FoldJoint(u32 code, const Results &all, void *dst) : Fold<W>(code), all(all), dst(dst) {}
	METHOD void put(i64 o, W x) const { finish(this->code, all, dst, o, x); }
};

#define FOLD(T, V, name) REDUCTION(FoldOf, T, V, name, void, Wide<T>::type)
#define FOLD_JOINTS(W, name) JOINTS_OF(FoldJoint, W, name, void, W)
