// Matrix products without tensor cores.
#pragma once
#include "gemm.cuh"

DEVICE float multiply_add(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
DEVICE double multiply_add(double x, double y, double z) { return __builtin_fma(x, y, z); }
DEVICE i64 multiply_add(i64 x, i64 y, i64 z) { return x * y + z; }
DEVICE i32 multiply_add(i32 x, i32 y, i32 z) { return (u32)x * (u32)y + (u32)z; }

// read fetches a tile of an operand as its flags specify.
template <int lines, int depth, class T>
DEVICE void read(T *r, u32 vectors, u32 along, const T *p, const i64 *line, const i64 *inner, i32 lines_left, i32 depth_left) {
	const int V = Pack<T>::count;
	if (vectors && along) fetch<lines, depth, 256, true, V>(r, p, line, inner, lines_left, depth_left);
	else if (vectors) fetch<lines, depth, 256, false, V>(r, p, line, inner, lines_left, depth_left);
	else if (along) fetch<lines, depth, 256, true, 1>(r, p, line, inner, lines_left, depth_left);
	else fetch<lines, depth, 256, false, 1>(r, p, line, inner, lines_left, depth_left);
}

// put stores the result of fetch as rows of k, in the accumulator type.
template <int lines, int depth, bool along, int V, int width, class T, class W> DEVICE void deposit(W *to, const T *r) {
	const int count = lines * depth / V;
#pragma unroll
	for (int i = 0; i < (count + 255) / 256; i++) {
		i32 u = THREAD + i * 256;
		if (count % 256 && u >= count) break;
		i32 l = along ? u / (depth / V) : u % (lines / V) * V, k = along ? u % (depth / V) * V : u / (lines / V);
#pragma unroll
		for (int j = 0; j < V; j++) to[(along ? k + j : k) * width + (along ? l : l + j)] = widen(r[i * V + j]);
	}
}

template <int lines, int depth, int width, class T, class W> DEVICE void write(W *to, u32 vectors, u32 along, const T *r) {
	const int V = Pack<T>::count;
	if (vectors && along) deposit<lines, depth, true, V, width>(to, r);
	else if (vectors) deposit<lines, depth, false, V, width>(to, r);
	else if (along) deposit<lines, depth, true, 1, width>(to, r);
	else deposit<lines, depth, false, 1, width>(to, r);
}

// simt computes a tile of M by N with 256 threads, each with R by R elements in groups of 16
// bytes. An element is the sum of a slice's products, k ascending, by fused multiply-add from 0;
// slices are added in order.
template <class T, int M, int N, int R> DEVICE void simt(const Gemm &g) {
	typedef typename Total<T>::type W;
	const int K = 16, G = 16 / sizeof(W), V = Pack<T>::count;
	const int slots_a = M * K / 256 > V ? M * K / 256 : V, slots_b = N * K / 256 > V ? N * K / 256 : V;
	static SHARED __attribute__((aligned(16))) char room[2 * K * (M + N + 2 * G) * sizeof(W)];
	W(*at)[K][M + G] = (W(*)[K][M + G])room, (*bt)[K][N + G] = (W(*)[K][N + G])(room + 2 * K * (M + G) * sizeof(W));
	static SHARED i64 line_a[M], line_b[N], inner_a[2][K], inner_b[2][K];
	static SHARED Lines<M> rows;
	static SHARED Lines<N> columns;
	Tile t = tile_of<M, N>(g);
	const T *a = (const T *)g.a + place(g.ab, t.matrix), *b = (const T *)g.b + place(g.bb, t.matrix);
	tabulate<M, 256>(line_a, g.am, t.row, g.m);
	tabulate<N, 256>(line_b, g.bn, t.column, g.n);
	locate<M, N, 256>(g, t, rows, columns);
	tabulate_depth<K>(inner_a[0], inner_b[0], g, t.begin, t.end);
	tabulate_depth<K>(inner_a[1], inner_b[1], g, t.begin + K, t.end);
	BARRIER();

	__attribute__((aligned(16))) T ra[slots_a], rb[slots_b];
	W sum[R][R] = {};
	u32 f = g.flags, warp = THREAD / 32, x = LANE % 8 + warp % 2 * 8, y = LANE / 8 + warp / 2 * 4;
	u32 next = 0; // slot of the tile being read while the previous one is used
	for (u32 k = t.begin;; k += K, next ^= 1) {
		bool more = k < t.end;
		if (more) {
			read<M, K>(ra, f & VectorsA, f & AlongA, a, line_a, inner_a[next], g.m - t.row, t.end - k);
			read<N, K>(rb, f & VectorsB, f & AlongB, b, line_b, inner_b[next], g.n - t.column, t.end - k);
		}
		if (k > t.begin) {
			tabulate_depth<K>(inner_a[next ^ 1], inner_b[next ^ 1], g, k + K, t.end);
#pragma unroll
			for (int i = 0; i < K; i++) {
				W va[R], vb[R];
#pragma unroll
				for (int j = 0; j < R; j += G) {
					Pack<W> pa = *(const Pack<W> *)&at[next ^ 1][i][j * (M / R) + y * G], pb = *(const Pack<W> *)&bt[next ^ 1][i][j * (N / R) + x * G];
#pragma unroll
					for (int l = 0; l < G; l++) va[j + l] = pa.at[l], vb[j + l] = pb.at[l];
				}
#pragma unroll
				for (int r = 0; r < R; r++)
#pragma unroll
					for (int c = 0; c < R; c++) sum[r][c] = multiply_add(va[r], vb[c], sum[r][c]);
			}
		}
		if (!more) break;
		write<M, K, M + G>(&at[next][0][0], f & VectorsA, f & AlongA, ra);
		write<N, K, N + G>(&bt[next][0][0], f & VectorsB, f & AlongB, rb);
		BARRIER();
	}

	BARRIER();
	W(*stage)[8 * R + G] = (W(*)[8 * R + G])(room + warp * 4 * (8 * R + G) * sizeof(W)); // of 4 rows, so that D is written contiguously
#pragma unroll
	for (int r = 0; r < R; r++) {
#pragma unroll
		for (int c = 0; c < R; c++) stage[LANE / 8][c / G * 8 * G + LANE % 8 * G + c % G] = sum[r][c];
		__nvvm_bar_warp_sync(~0u);
#pragma unroll 1
		for (u32 u = LANE; u < 4 * 8 * R; u += 32) {
			u32 row = r / G * (M * G / R) + (u / (8 * R) + warp / 2 * 4) * G + r % G;
			u32 c = u % (8 * R), column = c / (8 * G) * (N * G / R) + warp % 2 * 8 * G + c % (8 * G);
			if (t.row + row < g.m && t.column + column < g.n)
				store<T>(g, rows.c[row] + columns.c[column], rows.d[row] + columns.d[column], stage[u / (8 * R)][c]);
		}
		__nvvm_bar_warp_sync(~0u);
	}
}

#define SIMT(name, T, M, N, R) KERNEL_OF(256) name(Gemm g) { simt<T, M, N, R>(g); }
#define SLICES(name, T) KERNEL name(Gemm g) { add_slices<T, Total<T>::type>(g); }
