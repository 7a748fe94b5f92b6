// Code shared by the kernels of matrix products: layouts, fetching of operand tiles, and storing
// of sums. A product is D (m,n) = A (m,k) times B (k,n), plus C. A's rows and B's columns are the
// lines of an operand: both operands are lines by k and are fetched alike.
#pragma once
#include "common.cuh"

// Map maps an index i < 2^31 to memory, on up to four axes of which the last varies fastest. The
// offset tables of an implicit product are made from it, block by block.
struct Map {
	u32 rank;
	Divider size[4];
	i64 stride[4]; // in elements
};

DEVICE i64 place(const Map &map, u32 i) {
	if (map.rank == 1) return (i64)i * map.stride[0];
	i64 at = 0;
#pragma unroll
	for (int axis = 3; axis > 0; axis--) {
		if (axis >= map.rank) continue;
		u32 q = map.size[axis].quotient(i);
		at += (i64)(i - q * map.size[axis].by) * map.stride[axis];
		i = q;
	}
	return at + (i64)i * map.stride[0];
}

enum { VectorsA = 1, VectorsB = 2, AlongA = 4, AlongB = 8, WideC = 16, WideD = 32, PacksD = 64 };

// Gemm is a batch of products. k is cut into slices of depth, a multiple of every tile's depth;
// the grid's y counts slices, its z counts matrices of the batch from the first.
struct Gemm {
	const void *a, *b, *c; // c may be null
	void *d;           // result; with several slices, scratch for their sums, (slices, batches, m, n)
	const void *parts; // that scratch, as input of the final sums
	u32 m, n, k, depth, slices, batches, first;
	u32 flags; // operands can be read by 16 bytes, along k (else along lines); C and D are not of A's type but of the sums'; D can be written by 16 bytes
	Map am, ak, ab, bn, bk, bb, cm, cn, cb, dm, dn, db;
};

// Tile is the work of a block. Tiles are taken in bands of 8 rows of tiles, column by column, so
// that concurrent blocks share what they read.
struct Tile { u32 row, column, matrix, slice, begin, end; };

template <int M, int N> DEVICE Tile tile_of(const Gemm &g) {
	u32 down = (g.m + M - 1) / M, across = (g.n + N - 1) / N;
	u32 band = BLOCK / (8 * across), in = BLOCK - band * 8 * across, rows = down - band * 8 < 8 ? down - band * 8 : 8;
	Tile t;
	t.row = (band * 8 + in % rows) * M;
	t.column = in / rows * N;
	t.matrix = g.first + BLOCK_Z;
	t.slice = BLOCK_Y;
	t.begin = t.slice * g.depth;
	t.end = g.k - t.begin > g.depth ? t.begin + g.depth : g.k;
	return t;
}

// tabulate sets table[i] to the position of index first+i, for count indices before end.
template <int count, int threads> DEVICE void tabulate(i64 *table, const Map &map, u32 first, u32 end) {
	for (u32 i = THREAD; i < count && first + i < end; i += threads) table[i] = place(map, first + i);
}

// tabulate_depth does the same for count elements of k, with two warps.
template <int count> DEVICE void tabulate_depth(i64 *a, i64 *b, const Gemm &g, u32 k, u32 end) {
	if (LANE < count && k + LANE < end) {
		if (THREAD < 32) a[LANE] = place(g.ak, k + LANE);
		else if (THREAD < 64) b[LANE] = place(g.bk, k + LANE);
	}
}

// fetch reads a thread's part of a tile of lines by depth elements into r: V adjacent elements at
// a time, along k or along lines. Elements beyond the ends are 0; V elements never straddle an
// end.
template <int lines, int depth, int threads, bool along, int V, class T>
DEVICE void fetch(T *r, const T *p, const i64 *line, const i64 *inner, i32 lines_left, i32 depth_left) {
	const int count = lines * depth / V;
#pragma unroll
	for (int i = 0; i < (count + threads - 1) / threads; i++) {
		i32 u = THREAD + i * threads;
		i32 l = along ? u / (depth / V) : u % (lines / V) * V, k = along ? u % (depth / V) * V : u / (lines / V);
		bool there = l < lines_left && k < depth_left;
		if (count % threads && u >= count) there = false;
		if (V > 1) {
			Pack<T> v = {};
			if (there) v = *(const Pack<T> *)(p + line[l] + inner[k]);
#pragma unroll
			for (int j = 0; j < V; j++) r[i * V + j] = v.at[j];
		} else {
			T v = {};
			if (there) v = p[line[l] + inner[k]];
			r[i] = v;
		}
	}
}

// Total is the accumulator type: Wide, or for integers of up to 32 bits their own width, because
// sums wrap around anyway.
template <class T> struct Total { typedef typename Wide<T>::type type; };
template <> struct Total<i32> { typedef i32 type; };
template <> struct Total<i16> { typedef i32 type; };
template <> struct Total<i8> { typedef i32 type; };
template <> struct Total<u8> { typedef i32 type; };

// Lines holds the positions of C's and D's rows or columns in a tile.
template <int count> struct Lines { i64 c[count], d[count]; };

// locate sets the destinations of a tile's results: among the sums of slices, if there are
// several.
template <int M, int N, int threads> DEVICE void locate(const Gemm &g, const Tile &t, Lines<M> &rows, Lines<N> &columns) {
	i64 c = g.c ? place(g.cb, t.matrix) : 0, d = place(g.db, t.matrix);
	for (u32 i = THREAD; i < M + N; i += threads) {
		bool row = i < M;
		u32 j = row ? t.row + i : t.column + i - M;
		if (j >= (row ? g.m : g.n)) continue;
		i64 cj = 0, dj;
		if (g.slices > 1) {
			dj = row ? (((i64)t.slice * g.batches + t.matrix) * g.m + j) * g.n : j;
		} else {
			if (g.c) cj = row ? c + place(g.cm, j) : place(g.cn, j);
			dj = row ? d + place(g.dm, j) : place(g.dn, j);
		}
		if (row) rows.c[i] = cj, rows.d[i] = dj;
		else columns.c[i - M] = cj, columns.d[i - M] = dj;
	}
}

// with_third returns a sum plus C's element, if there is C and the sum is not a slice's.
template <class T, class W> DEVICE W with_third(const Gemm &g, i64 c, W sum) {
	if (!g.c || g.slices > 1) return sum;
	return sum + (sizeof(W) > sizeof(T) && g.flags & WideC ? ((const W *)g.c)[c] : (W)widen(((const T *)g.c)[c]));
}

// store rounds a sum plus C and stores it; a slice's sum is stored unrounded.
template <class T, class W> DEVICE void store(const Gemm &g, i64 c, i64 d, W sum) {
	sum = with_third<T>(g, c, sum);
	if (sizeof(W) > sizeof(T) && (g.slices > 1 || g.flags & WideD)) ((W *)g.d)[d] = sum;
	else narrow(((T *)g.d)[d], sum);
}

// add_slices adds the sums of slices in order.
template <class T, class W> DEVICE void add_slices(Gemm g) {
	u32 size = g.m * g.n, all = g.batches * size, slices = g.slices;
	g.slices = 1;
	for (u32 i = BLOCK * THREADS + THREAD; i < all; i += BLOCKS * THREADS) {
		u32 matrix = i / size, row = (i - matrix * size) / g.n, column = i - matrix * size - row * g.n;
		const W *part = (const W *)g.parts + i;
		W sum = *part;
		for (u32 s = 1; s < slices; s++) sum += part[(i64)s * all];
		i64 c = g.c ? place(g.cb, matrix) + place(g.cm, row) + place(g.cn, column) : 0;
		store<T>(g, c, place(g.db, matrix) + place(g.dm, row) + place(g.dn, column), sum);
	}
}
