// Scans along an axis.
#include "reduce.cuh"

// Lines is the layout of lines: n elements with the strides along in dst and operands; axes
// locate the lines.
struct Lines {
	i64 count, n, along[3];
	u32 side;   // lines per block, a power of two up to 32
	u32 each;   // elements of a line in a tile, a power of two; side * each is at most 1024
	u32 turned; // whether the lines' elements, rather than those of a line, are adjacent
	Axes others;
};

const u32 tileRoom = 1536;

// scan processes lines, one tile after the other: as many threads as lines compute, element by
// element, while the others fetch the next tile and store the previous one. S has
//
//	X, Y                       element types of a tile
//	void load(x, y, i, j)      sets x, y or both to the elements at positions i and j of the operands
//	bool both()                reports whether y is read
//	void step(x, y, i)         computes the result of the next element, number i, in x or y
//	void keep(x, y, at, a, b)  stores the result in the tile
//	void store(i, x, y)        stores the result at position i of dst
template <class S> DEVICE void scan(S s, const Lines &l) {
	SHARED static typename S::X x[2][tileRoom];
	SHARED static typename S::Y y[2][tileRoom];
	u32 each = l.each, pitch = l.side | 1; // distance of a line's elements in a tile
	i64 tiles = (l.n + each - 1) / each;
	for (i64 t = -1; t <= tiles; t++) {
		if (THREAD < 32) {
			if (t >= 0 && t < tiles && THREAD < l.side && (i64)BLOCK * l.side + THREAD < l.count) {
				u32 n = l.n - t * each < each ? (u32)(l.n - t * each) : each, buffer = t & 1;
				for (u32 e = 0; e < n; e += 8) {
					typename S::X a[8];
					typename S::Y b[8];
#pragma unroll
					for (u32 j = 0; j < 8; j++) {
						u32 at = (e + j < n ? e + j : e) * pitch + THREAD;
						a[j] = x[buffer][at];
						if (s.both()) b[j] = y[buffer][at];
					}
#pragma unroll
					for (u32 j = 0; j < 8; j++)
						if (e + j < n) s.step(a[j], b[j], t * each + e + j);
#pragma unroll
					for (u32 j = 0; j < 8; j++)
						if (e + j < n) s.keep(x[buffer], y[buffer], (e + j) * pitch + THREAD, a[j], b[j]);
				}
			}
		} else {
			u32 buffer = t + 1 & 1;
			for (u32 i = THREAD - 32; i < l.side * each; i += THREADS - 32) {
				u32 line = l.turned ? i % l.side : i / each, e = l.turned ? i / l.side : i % each, at = e * pitch + line;
				i64 o = (i64)BLOCK * l.side + line, before = (t - 1) * each + e, next = (t + 1) * each + e;
				if (o >= l.count) continue;
				if (t > 0 && before < l.n) s.store(place<0>(l.others, o) + before * l.along[0], x[buffer][at], y[buffer][at]);
				if (next < l.n) s.load(x[buffer][at], y[buffer][at], place<1>(l.others, o) + next * l.along[1], place<2>(l.others, o) + next * l.along[2]);
			}
		}
		BARRIER();
	}
}

// Carried is the state of Recurrence: float64 for float32.
template <class T> struct Carried : Wide<T> {};
template <> struct Carried<float> { typedef double type; };

// Running is Recurrence. Missing factors are 1, which changes nothing.
template <class T> struct Running {
	typedef typename Wide<T>::type X;
	typedef X Y;
	typedef typename Carried<T>::type Sum;
	T *dst;
	const T *x, *y;
	Sum last;

	METHOD void load(X &a, Y &b, i64 i, i64 j) const {
		a = widen(x[i]);
		if (y) b = widen(y[j]);
	}
	METHOD bool both() const { return y; }
	METHOD void step(X &a, Y b, i64 i) { last = i == 0 ? (Sum)a : y ? (Sum)a + (Sum)b * last : last + (Sum)a, a = (X)last; }
	METHOD void keep(X *x, Y *, u32 at, X a, Y) const { x[at] = a; }
	METHOD void store(i64 i, X a, Y) const { narrow(dst[i], a); }
};

// Leading is CumArgMax and CumArgMin.
template <class T> struct Leading {
	typedef typename Wide<T>::type X;
	typedef i64 Y;
	i64 *dst;
	const T *x;
	bool most;
	X best;
	i64 place;

	METHOD void load(X &a, Y &, i64 i, i64) const { a = widen(x[i]); }
	METHOD bool both() const { return false; }
	METHOD void step(X a, Y &b, i64 i) {
		bool better = most ? a >= best : a <= best;
		if ((better && best == best) || a != a || i == 0) best = a, place = i;
		b = place;
	}
	METHOD void keep(X *, Y *y, u32 at, X, Y b) const { y[at] = b; }
	METHOD void store(i64 i, X, Y b) const { dst[i] = b; }
};

#define SCAN(T, name)                                                                      \
	KERNEL recurrence_##name(T *dst, const T *x, const T *y, Lines lines) {                \
		scan(Running<T>{dst, x, y, 0}, lines);                                             \
	}                                                                                      \
	KERNEL leading_##name(u32 code, i64 *dst, const T *x, Lines lines) {                   \
		scan(Leading<T>{dst, x, code == CumArgMax, 0, 0}, lines);                          \
	}

SCAN(f16, float16)
SCAN(bf16, bfloat16)
SCAN(float, float32)
SCAN(double, float64)
SCAN(i64, int64)
SCAN(i32, int32)
SCAN(i16, int16)
SCAN(i8, int8)
SCAN(u8, uint8)
SCAN(flag, bool)
