// Matrix products on tensor cores: mma.sync of float16, bfloat16 and TF32, with sums in float32
// (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions").
//
// A tile of an operand is lines by 64 bytes of k, in shared memory either line by line (along k)
// or, of the same size, k by k (along lines). Its chunks of 16 bytes are permuted so that neither
// copies nor ldmatrix have bank conflicts.
#pragma once
#include "gemm.cuh"
#include "mma.cuh"

// tf32 is a float whose last 13 bits tensor cores ignore.
struct tf32 { float value; };
DEVICE float widen(tf32 x) { return x.value; }
DEVICE void narrow(tf32 &y, float x) { y.value = x; }
template <> struct Wide<tf32> { typedef float type; };

// copy16_near is copy16 through the L1 cache, for data that the next tiles or other blocks of the
// multiprocessor copy too.
DEVICE void copy16_near(u32 to, const void *from, bool there) {
	asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
DEVICE void multiply_add(tf32, float *c, const u32 *a, u32 b0, u32 b1) {
	asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Panel is a tile of an operand in shared memory. It takes lines * 64 bytes.
template <class T, int lines, bool along> struct Panel {
	static const int E = 16 / sizeof(T), depth = 64 / sizeof(T);

	// chunk returns the offset of an element's chunk.
	DEVICE u32 chunk(u32 line, u32 k) {
		if (along) return line * 64 + ((k / E ^ (line >> 1 & 3)) << 4);
		return k * (lines * sizeof(T)) + ((line / E ^ (sizeof(T) == 2 ? k & 7 : (k & 3) << 1)) << 4);
	}

	// fragment sets r to lines first … first+15, the step-th 32 bytes of k: lines 0 to 7
	// and 8 to 15 of the first 16 bytes, then of the second.
	DEVICE void fragment(u32 *r, u32 panel, u32 first, u32 step) {
		u32 lane = LANE;
		if (along) {
			u32 a = panel + chunk(first + lane % 16, (step * 2 + lane / 16) * E);
			asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
		} else if (sizeof(T) == 2) {
			u32 a = panel + chunk(first + (lane >> 3 & 1) * 8, step * 16 + lane / 16 * 8 + lane % 8);
			asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
		} else {
#pragma unroll
			for (int i = 0; i < 4; i++) {
				u32 line = first + lane / 4 + (i & 1) * 8, a = panel + chunk(line, step * 8 + (i >> 1) * 4 + lane % 4) + line % 4 * 4;
				asm volatile("ld.shared.b32 %0, [%1];" : "=r"(r[i]) : "r"(a) : "memory");
			}
		}
		if (sizeof(T) == 4) {
#pragma unroll
			for (int i = 0; i < 4; i++) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r[i]) : "f"(as_float(r[i])));
		}
	}
};

// Warp holds a warp's sums: 16 MF by 16 NF elements of a tile.
template <class T, int M, int N, bool along_a, bool along_b, int MF, int NF> struct Warp {
	u32 row, column;
	float sum[MF][NF * 2][4];

	METHOD Warp() : sum{} {
		u32 warp = THREAD / 32;
		row = warp % (M / (16 * MF)) * 16 * MF;
		column = warp / (M / (16 * MF)) * 16 * NF;
	}

	METHOD void multiply(u32 a, u32 b) {
#pragma unroll
		for (int step = 0; step < 2; step++) {
			u32 fa[MF][4], fb[NF][4];
#pragma unroll
			for (int i = 0; i < MF; i++) Panel<T, M, along_a>::fragment(fa[i], a, row + i * 16, step);
#pragma unroll
			for (int j = 0; j < NF; j++) Panel<T, N, along_b>::fragment(fb[j], b, column + j * 16, step);
#pragma unroll
			for (int i = 0; i < MF; i++)
#pragma unroll
				for (int j = 0; j < NF * 2; j++) multiply_add(T{}, sum[i][j], fa[i], fb[j / 2][j % 2], fb[j / 2][j % 2 + 2]);
		}
	}

	// put stores the sums as Lines specify. They pass through shared memory, 16 rows at a time, so
	// that D is written contiguously, in units of 16 bytes where possible.
	METHOD void put(const Gemm &g, const Tile &t, const Lines<M> &rows, const Lines<N> &columns, float *stages) {
		float *stage = stages + THREAD / 32 * stage_floats;
		u32 right = t.column + column < g.n ? g.n - t.column - column : 0;
#pragma unroll
		for (int i = 0; i < MF; i++) {
#pragma unroll
			for (int j = 0; j < NF * 2; j++)
#pragma unroll
				for (int l = 0; l < 4; l++) stage[(LANE / 4 + l / 2 * 8) * (NF * 16 + 4) + j * 8 + LANE % 4 * 2 + l % 2] = sum[i][j][l];
			__nvvm_bar_warp_sync(~0u);
			u32 from = row + i * 16, down = t.row + from < g.m ? g.m - t.row - from : 0;
			if (g.flags & PacksD && g.slices == 1) {
				if (sizeof(T) == 2 && !(g.flags & WideD)) put_packs<T>(g, stage, rows, columns, from, down, right);
				else put_packs<float>(g, stage, rows, columns, from, down, right);
			} else {
#pragma unroll 1
				for (u32 u = LANE; u < 16 * NF * 16; u += 32) {
					u32 r = u / (NF * 16), c = u % (NF * 16);
					if (r >= down || c >= right) continue;
					store<T>(g, rows.c[from + r] + columns.c[column + c], rows.d[from + r] + columns.d[column + c], stage[r * (NF * 16 + 4) + c]);
				}
			}
			__nvvm_bar_warp_sync(~0u);
		}
	}
	static const int stage_floats = 16 * (NF * 16 + 4);

	template <class D> METHOD void put_packs(const Gemm &g, const float *stage, const Lines<M> &rows, const Lines<N> &columns, u32 from, u32 down, u32 right) {
		const int P = Pack<D>::count;
#pragma unroll 1
		for (u32 u = LANE; u < 16 * NF * 16 / P; u += 32) {
			u32 r = u / (NF * 16 / P), c = u % (NF * 16 / P) * P;
			if (r >= down || c >= right) continue;
			Pack<D> out;
#pragma unroll
			for (int j = 0; j < P; j += 4) {
				Pack<float> in = *(const Pack<float> *)&stage[r * (NF * 16 + 4) + c + j];
#pragma unroll
				for (int l = 0; l < 4; l++) narrow(out.at[j + l], with_third<T>(g, rows.c[from + r] + columns.c[column + c + j + l], in.at[l]));
			}
			*(Pack<D> *)((D *)g.d + rows.d[from + r] + columns.d[column + c]) = out;
		}
	}
};

// Source is a thread's part of an operand that is read in units of 16 bytes and whose k has one
// axis.
template <class T, int lines, int threads, bool along> struct Source {
	typedef Panel<T, lines, along> To;
	static const int count = lines * 4 / threads;
	const T *at[count];
	i64 step;
	bool there[count];

	METHOD Source(const T *p, const Map &map, const Map &inner, u32 first, u32 end, u32 k) {
		i64 stride = inner.stride[0];
		step = To::depth * stride;
#pragma unroll
		for (int i = 0; i < count; i++) {
			there[i] = first + line(i) < end;
			at[i] = p + (there[i] ? place(map, first + line(i)) : 0) + (i64)(k + depth(i)) * stride;
		}
	}
	METHOD u32 line(int i) const {
		u32 u = THREAD + i * threads;
		return along ? u / 4 : u % (lines / To::E) * To::E;
	}
	METHOD u32 depth(int i) const {
		u32 u = THREAD + i * threads;
		return along ? u % 4 * To::E : u / (lines / To::E);
	}

	// copy enqueues the copies of the tile at k, and advances to the next.
	METHOD void copy(u32 panel, u32 k, u32 end) {
#pragma unroll
		for (int i = 0; i < count; i++) {
			copy16(panel + To::chunk(line(i), depth(i)), at[i], there[i] && k + depth(i) < end);
			at[i] += step;
		}
	}
};

// pipelined computes a tile of M by N of operands that can be copied in units of 16 bytes, while
// the following tiles are being copied. An element is the sum of a slice's products as tensor
// cores add 16 (8 of TF32) at a time to the accumulator, k ascending; slices are added in order.
template <class T, int M, int N, int MF, int NF, bool along_a, bool along_b> DEVICE void pipelined(const Gemm &g) {
	const int threads = M / (16 * MF) * (N / (16 * NF)) * 32, stages = 48 * 1024 / 64 / (M + N) < 4 ? 3 : 4, K = 64 / sizeof(T);
	static SHARED __attribute__((aligned(128))) char room[stages * (M + N) * 64];
	Tile t = tile_of<M, N>(g);
	u32 panels = shared_address(room), k = t.begin;
	Source<T, M, threads, along_a> a((const T *)g.a + place(g.ab, t.matrix), g.am, g.ak, t.row, g.m, k);
	Source<T, N, threads, along_b> b((const T *)g.b + place(g.bb, t.matrix), g.bn, g.bk, t.column, g.n, k);
	auto copy = [&] __attribute__((device, always_inline)) (u32 slot) {
		if (k < t.end) {
			a.copy(panels + slot * (M * 64), k, t.end);
			b.copy(panels + stages * M * 64 + slot * (N * 64), k, t.end);
		}
		end_group();
		k += K;
	};
#pragma unroll
	for (int s = 0; s < stages - 1; s++) copy(s);
	Warp<T, M, N, along_a, along_b, MF, NF> warp;
	u32 slot = 0, last = stages - 1;
	for (u32 done = t.begin; done < t.end; done += K) {
		wait_but<stages - 2>();
		BARRIER();
		copy(last);
		warp.multiply(panels + slot * (M * 64), panels + stages * M * 64 + slot * (N * 64));
		last = slot;
		slot = slot + 1 == stages ? 0 : slot + 1;
	}
	wait_but<0>();
	BARRIER();
	Lines<M> &rows = *(Lines<M> *)room;
	Lines<N> &columns = *(Lines<N> *)(room + sizeof(rows));
	locate<M, N, threads>(g, t, rows, columns);
	BARRIER();
	warp.put(g, t, rows, columns, (float *)(room + sizeof(rows) + sizeof(columns)));
}

// Window is Source for a k of several axes, whose positions are in tables.
template <class T, int lines, int threads, bool along> struct Window {
	typedef Panel<T, lines, along> To;
	static const int count = lines * 4 / threads;
	const T *at[count];
	bool there[count];

	METHOD Window(const T *p, const Map &map, u32 first, u32 end) {
#pragma unroll
		for (int i = 0; i < count; i++) {
			there[i] = first + line(i) < end;
			at[i] = p + (there[i] ? place(map, first + line(i)) : 0);
		}
	}
	METHOD u32 line(int i) const {
		u32 u = THREAD + i * threads;
		return along ? u / 4 : u % (lines / To::E) * To::E;
	}
	METHOD u32 depth(int i) const { return along ? THREAD % 4 * To::E : (THREAD + i * threads) / (lines / To::E); }

	// copy enqueues the copies of a tile with left remaining elements of k.
	METHOD void copy(u32 panel, const i32 *table, u32 left) {
		i32 inner[count]; // one along k: copies would force a reload for each
#pragma unroll
		for (int i = 0; i < count; i++) inner[i] = table[depth(i)];
#pragma unroll
		for (int i = 0; i < count; i++)
			copy16_near(panel + To::chunk(line(i), depth(i)), at[i] + inner[i], there[i] && depth(i) < left);
	}
};

// windowed is pipelined for operands whose k has several axes, such as a convolution's windows.
// k's positions are below 2^31, in tables that two warps write one tile ahead of its copies.
template <class T, int M, int N, int MF, int NF, bool along_a, bool along_b> DEVICE void windowed(const Gemm &g) {
	const int threads = M / (16 * MF) * (N / (16 * NF)) * 32, stages = 48 * 1024 / 64 / (M + N) < 4 ? 3 : 4, K = 64 / sizeof(T);
	extern SHARED __attribute__((aligned(128))) char space[]; // of stages * ((M + N) * 64 + 2 * K * 4) bytes
	i32 *table_a = (i32 *)(space + stages * (M + N) * 64), *table_b = table_a + stages * K;
	Tile t = tile_of<M, N>(g);
	u32 panels = shared_address(space), k = t.begin;
	auto tabulate = [&] __attribute__((device, always_inline)) (u32 slot, u32 from) {
		if (LANE >= K) return;
		bool there = from + LANE < t.end;
		if (THREAD < 32) table_a[slot * K + LANE] = there ? place(g.ak, from + LANE) : 0;
		else if (THREAD < 64) table_b[slot * K + LANE] = there ? place(g.bk, from + LANE) : 0;
	};
#pragma unroll
	for (int s = 0; s < stages; s++) tabulate(s, k + s * K);
	Window<T, M, threads, along_a> a((const T *)g.a + place(g.ab, t.matrix), g.am, t.row, g.m);
	Window<T, N, threads, along_b> b((const T *)g.b + place(g.bb, t.matrix), g.bn, t.column, g.n);
	auto copy = [&] __attribute__((device, always_inline)) (u32 slot) {
		if (k < t.end) {
			a.copy(panels + slot * (M * 64), table_a + slot * K, t.end - k);
			b.copy(panels + stages * M * 64 + slot * (N * 64), table_b + slot * K, t.end - k);
		}
		end_group();
		k += K;
	};
	BARRIER();
#pragma unroll
	for (int s = 0; s < stages - 1; s++) copy(s);
	Warp<T, M, N, along_a, along_b, MF, NF> warp;
	u32 slot = 0, last = stages - 1;
	for (u32 done = t.begin; done < t.end; done += K) {
		wait_but<stages - 2>();
		BARRIER();
		copy(last);
		tabulate(slot, k); // of the next tile to copy, into this slot
		warp.multiply(panels + slot * (M * 64), panels + stages * M * 64 + slot * (N * 64));
		last = slot;
		slot = slot + 1 == stages ? 0 : slot + 1;
	}
	wait_but<0>();
	BARRIER();
	Lines<M> &rows = *(Lines<M> *)space;
	Lines<N> &columns = *(Lines<N> *)(space + sizeof(rows));
	locate<M, N, threads>(g, t, rows, columns);
	BARRIER();
	warp.put(g, t, rows, columns, (float *)(space + sizeof(rows) + sizeof(columns)));
}

// take reads a thread's part of a tile of an operand with any strides.
template <class T, int lines, int threads, bool along>
DEVICE void take(T *r, u32 vectors, const T *p, const i64 *line, const i64 *inner, i32 lines_left, i32 depth_left) {
	typedef Panel<T, lines, along> To;
	if (vectors) fetch<lines, To::depth, threads, along, To::E>(r, p, line, inner, lines_left, depth_left);
	else fetch<lines, To::depth, threads, along, 1>(r, p, line, inner, lines_left, depth_left);
}

// lay stores in a panel what take has read.
template <class T, int lines, int threads, bool along> DEVICE void lay(char *panel, u32 vectors, const T *r) {
	typedef Panel<T, lines, along> To;
	if (vectors) {
#pragma unroll
		for (int i = 0; i < lines * 4 / threads; i++) {
			u32 u = THREAD + i * threads;
			Pack<T> v;
#pragma unroll
			for (int j = 0; j < To::E; j++) v.at[j] = r[i * To::E + j];
			*(Pack<T> *)(panel + (along ? To::chunk(u / 4, u % 4 * To::E) : To::chunk(u % (lines / To::E) * To::E, u / (lines / To::E)))) = v;
		}
	} else {
#pragma unroll
		for (int i = 0; i < lines * To::depth / threads; i++) {
			u32 u = THREAD + i * threads, line = along ? u / To::depth : u % lines, k = along ? u % To::depth : u / lines;
			((T *)(panel + To::chunk(line, k)))[along ? k % To::E : line % To::E] = r[i];
		}
	}
}

// gathered is pipelined for operands with any strides and axes: positions are in tables, and the
// next tile is prefetched into registers.
template <class T, int M, int N, int MF, int NF, bool along_a, bool along_b> DEVICE void gathered(const Gemm &g) {
	const int threads = M / (16 * MF) * (N / (16 * NF)) * 32, K = 64 / sizeof(T);
	static SHARED __attribute__((aligned(128))) char room[2 * (M + N) * 64];
	static SHARED i64 line_a[M], line_b[N], inner_a[2][K], inner_b[2][K];
	static SHARED Lines<M> rows;
	static SHARED Lines<N> columns;
	Tile t = tile_of<M, N>(g);
	const T *a = (const T *)g.a + place(g.ab, t.matrix), *b = (const T *)g.b + place(g.bb, t.matrix);
	tabulate<M, threads>(line_a, g.am, t.row, g.m);
	tabulate<N, threads>(line_b, g.bn, t.column, g.n);
	locate<M, N, threads>(g, t, rows, columns);
	tabulate_depth<K>(inner_a[0], inner_b[0], g, t.begin, t.end);
	tabulate_depth<K>(inner_a[1], inner_b[1], g, t.begin + K, t.end);
	BARRIER();
	Warp<T, M, N, along_a, along_b, MF, NF> warp;
	T ra[M * K / threads], rb[N * K / threads];
	u32 f = g.flags, next = 0;
	for (u32 k = t.begin;; k += K, next ^= 1) {
		bool more = k < t.end;
		char *panels = room + next * (M + N) * 64, *before = room + (next ^ 1) * (M + N) * 64;
		if (more) {
			take<T, M, threads, along_a>(ra, f & VectorsA, a, line_a, inner_a[next], g.m - t.row, t.end - k);
			take<T, N, threads, along_b>(rb, f & VectorsB, b, line_b, inner_b[next], g.n - t.column, t.end - k);
		}
		if (k > t.begin) {
			tabulate_depth<K>(inner_a[next ^ 1], inner_b[next ^ 1], g, k + K, t.end);
			warp.multiply(shared_address(before), shared_address(before + M * 64));
		}
		if (!more) break;
		lay<T, M, threads, along_a>(panels, f & VectorsA, ra);
		lay<T, N, threads, along_b>(panels + M * 64, f & VectorsB, rb);
		BARRIER();
	}
	BARRIER();
	warp.put(g, t, rows, columns, (float *)room);
}

// KERNEL_BESIDE is KERNEL_OF(256) with registers for the given number of blocks per
// multiprocessor.
#define KERNEL_BESIDE(blocks) extern "C" __attribute__((global)) __attribute__((launch_bounds(256, blocks))) void

// MMA defines kernels for operands that lie along k or along lines.
#define TILES(kind, blocks, T, a, b, along_a, along_b)                                                       \
	KERNEL_BESIDE(blocks) kind##_128x128_##a##b(Gemm g) { kind<T, 128, 128, 4, 2, along_a, along_b>(g); }    \
	KERNEL_OF(128) kind##_64x64_##a##b(Gemm g) { kind<T, 64, 64, 2, 2, along_a, along_b>(g); }
#define MMA(kind, blocks, T)                  \
	TILES(kind, blocks, T, k, k, true, true)  \
	TILES(kind, blocks, T, k, l, true, false) \
	TILES(kind, blocks, T, l, k, false, true) \
	TILES(kind, blocks, T, l, l, false, false)

// WINDOWS defines the kernels of windowed for one layout of A.
#define LONG_TILES(kind, T, a, b, along_a, along_b) \
	TILES(kind, 2, T, a, b, along_a, along_b)       \
	KERNEL_BESIDE(2) kind##_64x256_##a##b(Gemm g) { kind<T, 64, 256, 4, 2, along_a, along_b>(g); }
#define WINDOWS(T, a, along_a)                   \
	LONG_TILES(windowed, T, a, k, along_a, true) \
	LONG_TILES(windowed, T, a, l, along_a, false)
