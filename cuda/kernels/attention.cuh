// Attention on tensor cores: scores stay in registers, one block of keys after the other (T. Dao,
// "FlashAttention-2", 2023). Code shared by the kernels of results and gradients.
//
// A tile is rows of D half-precision elements in shared memory, 0 beyond the edges of a matrix.
// Its chunks of 16 bytes are permuted so that neither copies nor ldmatrix have bank conflicts.
#pragma once
#include "elementary.cuh"
#include "mma.cuh"

#define LAMBDA __attribute__((device, always_inline))

const u32 allLanes = ~0u; // lanes of a warp

// Matrix is the layout of the matrices of a batch. Columns are adjacent, except in masks.
struct Matrix {
	void *at;
	i64 row, column, lead[4]; // in elements
};

enum { // flags: keys after a query do not count; gradients are float32; these can be read or written by 16 bytes
	Causal = 1, WideGrads = 2, PackQ = 4, PackK = 8, PackV = 16, PackY = 32, PackDY = 64, PackDQ = 128, PackDK = 256, PackDV = 512
};

// Attend is a batch of softmax(q kᵀ scale + mask) v, or of its gradients.
struct Attend {
	u32 queries, keys, depth, width; // sizes: columns of q and k, and of v
	u32 tiles, first;                // tiles of rows of a matrix, one per block; the first matrix
	u32 flags, mask;                 // the mask's dtype, 0 without a mask
	float scale, kept, powers;       // kept is dropout's factor; powers is scale times log2(e)
	u32 rank;
	Divider size[4];
	Matrix q, k, v, y, sums, masks, keep, dy, delta, dq, dk, dv;
};

// Place is a matrix of the batch.
struct Place {
	u32 at[4];

	METHOD Place(const Attend &a, u32 i) {
#pragma unroll
		for (int axis = 3; axis >= 0; axis--) {
			u32 q = axis < a.rank ? a.size[axis].quotient(i) : i;
			at[axis] = axis < a.rank ? i - q * a.size[axis].by : 0;
			i = q;
		}
	}
	template <class T> METHOD T *of(const Matrix &m) const {
		i64 n = 0;
#pragma unroll
		for (int axis = 0; axis < 4; axis++) n += at[axis] * m.lead[axis];
		return (T *)m.at + n;
	}
};

// power2Near returns 2^x with 22 correct bits, 0 if the result is subnormal: a weight, which is
// added to 1.
DEVICE float power2Near(float x) {
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}
DEVICE float logNear(float x) {
	float y;
	asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

const float log2e = 0x1.715476p+0f, log2 = 0x1.62e430p-1f;

// weight returns the power of a score minus the maximum, or minus the value that makes the sum 1.
// A mask may hold the lowest numbers, which must not be multiplied; without a mask, scores are
// products, and power is scale times log2(e).
template <bool masked> DEVICE float weight(float s, float less, float power) {
	return power2Near(masked ? (s - less) * log2e : fused(s, power, -less));
}

// pack rounds two adjacent values.
DEVICE u32 pack(f16, float x, float y) {
	u32 r;
	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
	return r;
}
DEVICE u32 pack(bf16, float x, float y) {
	u32 r;
	asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
	return r;
}

// packed rounds adjacent sums of eight columns to operands of the next product.
template <class T> DEVICE void packed(u32 *r, const float *x, const float *y) {
	r[0] = pack(T{}, x[0], x[1]);
	r[1] = pack(T{}, x[2], x[3]);
	r[2] = pack(T{}, y[0], y[1]);
	r[3] = pack(T{}, y[2], y[3]);
}

// quadSum and quadTop join the values of the four threads that share a row.
DEVICE float quad(float x, u32 bit) { return as_float(__nvvm_shfl_sync_bfly_i32(allLanes, as_bits(x), bit, 31)); }
DEVICE float quadSum(float x) {
	x += quad(x, 1);
	return x + quad(x, 2);
}
DEVICE float quadTop(float x) {
	x = __builtin_fmaxf(x, quad(x, 1));
	return __builtin_fmaxf(x, quad(x, 2));
}

// Tile is rows of D elements of T.
template <class T, int D> struct Tile {
	static const int chunks = D / 8, line = D * 2;
	u32 at, key; // of a thread in ldmatrix

	METHOD Tile() {
		at = LANE % 16 * line;
		key = (LANE / 16 ^ turn(LANE)) << 4;
	}
	DEVICE u32 turn(u32 row) { return D == 32 ? row >> 1 & 3 : row & 7; }
	DEVICE u32 spot(u32 row, u32 chunk) { return row * line + ((chunk ^ turn(row)) << 4); }

	// along sets r to rows first … first+15 and the step-th 16 columns: rows 0 to 7 and 8 to 15 of
	// the first eight columns, then of the second. across gives the transpose, summed over columns.
	METHOD void along(u32 *r, u32 tile, u32 first, u32 step) const {
		u32 a = tile + first * line + at + (key ^ step << 5);
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
	}
	METHOD void across(u32 *r, u32 tile, u32 first, u32 step) const {
		u32 a = tile + first * line + at + (key ^ step << 5);
		asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a) : "memory");
	}

	// copy enqueues copies of rows first … of a matrix with end rows of width elements, or copies
	// synchronously if they cannot be read in units of 16 bytes.
	template <int rows, int threads> DEVICE void copy(char *room, u32 to, const T *p, i64 stride, u32 first, u32 end, u32 width, bool packs) {
		const int step = threads / chunks; // a multiple of 8
		u32 r = THREAD / chunks, c = THREAD % chunks, left = c * 8 < width && first < end ? end - first : 0;
		char *at = room + to + spot(r, c);
		const T *from = p + (r < left ? (i64)(first + r) * stride + c * 8 : 0);
#pragma unroll
		for (int i = 0; i < rows / step; i++) {
			bool there = r + i * step < left;
			if (packs) {
				copy16(shared_address(at), from, there);
			} else {
				Pack<T> x;
#pragma unroll
				for (int j = 0; j < 8; j++) x.at[j] = there && c * 8 + j < width ? from[j] : T{0};
				*(Pack<T> *)at = x;
			}
			at += step * line;
			if (r + (i + 1) * step < left) from += step * stride;
		}
	}

	// put stores rows of sums, times factors, from a warp's first row of the tile. They pass through
	// the warp's own rows of shared memory.
	template <int MT> METHOD void put(char *room, u32 to, const float sum[MT][D / 8][4], const float factor[MT][2], void *p, i64 stride, u32 mine, u32 first, u32 end, u32 width, bool wide, bool packs) const {
#pragma unroll
		for (int i = 0; i < MT; i++)
#pragma unroll
			for (int h = 0; h < 2; h++) {
				u32 r = mine + i * 16 + h * 8 + LANE / 4;
#pragma unroll
				for (int n = 0; n < D / 8; n++) {
					float x = sum[i][n][2 * h] * factor[i][h], y = sum[i][n][2 * h + 1] * factor[i][h];
					if (!wide) {
						*(u32 *)(room + to + spot(r, n) + LANE % 4 * 4) = pack(T{}, x, y);
					} else if (first + r < end) {
						float *q = (float *)p + (first + r) * stride + n * 8 + LANE % 4 * 2;
						if (n * 8 + LANE % 4 * 2 < width) q[0] = x;
						if (n * 8 + LANE % 4 * 2 + 1 < width) q[1] = y;
					}
				}
			}
		if (wide) return;
		__nvvm_bar_warp_sync(allLanes);
#pragma unroll
		for (int i = 0; i < MT * 16 * chunks / 32; i++) {
			u32 u = LANE + i * 32, r = mine + u / chunks, c = u % chunks;
			if (first + r >= end || c * 8 >= width) continue;
			Pack<T> x = *(Pack<T> *)(room + to + spot(r, c));
			T *q = (T *)p + (first + r) * stride + c * 8;
			if (packs) {
				*(Pack<T> *)q = x;
				continue;
			}
#pragma unroll
			for (int j = 0; j < 8; j++)
				if (c * 8 + j < width) q[j] = x.at[j];
		}
	}
};

// Scores computes scores from products of queries and keys: scale, mask, excluded elements and
// dropout.
struct Scores {
	const Attend &a;
	const char *masks;
	const u32 *keep; // one bit per key

	METHOD Scores(const Attend &a, const Place &place) : a(a), masks(0), keep(0) {
		if (a.mask == Float32) masks = (const char *)place.of<float>(a.masks);
		else if (a.mask == Bool) masks = (const char *)place.of<flag>(a.masks);
		else if (a.mask) masks = (const char *)place.of<f16>(a.masks);
		if (a.keep.at) keep = place.of<const u32>(a.keep);
	}

	// masked turns products into scores: times scale, with the mask. Rows are queries from row,
	// columns are keys; if turned, rows are keys and columns queries.
	template <class T, int MT, int N, bool turned> METHOD void masked(float s[MT][N][4], u32 row, u32 column) const {
		switch (a.mask) {
		case 0: {
#pragma unroll
			for (int i = 0; i < MT; i++)
#pragma unroll
				for (int n = 0; n < N; n++)
#pragma unroll
					for (int l = 0; l < 4; l++) s[i][n][l] *= a.scale;
			return;
		}
		case Bool: return each<MT, N, turned>(s, row, column, [&] LAMBDA (i64 at) { return masks[at] ? 0 : -__builtin_inff(); }, [&] LAMBDA (float x, float m) { return m < 0 ? m : x * a.scale; });
		case Float32: return each<MT, N, turned>(s, row, column, [&] LAMBDA (i64 at) { return ((const float *)masks)[at]; }, [&] LAMBDA (float x, float m) { return fused(x, a.scale, m); });
		default: each<MT, N, turned>(s, row, column, [&] LAMBDA (i64 at) { return widen(((const T *)masks)[at]); }, [&] LAMBDA (float x, float m) { return fused(x, a.scale, m); });
		}
	}

	// each sets scores to f of them and of the mask's elements. Elements of a mask of keys are
	// fetched once for all queries.
	template <int MT, int N, bool turned, class F, class G> METHOD void each(float s[MT][N][4], u32 row, u32 column, F fetch, G f) const {
		i64 across = turned ? a.masks.row : a.masks.column, down = turned ? a.masks.column : a.masks.row;
		u32 rows = turned ? a.keys : a.queries, columns = turned ? a.queries : a.keys;
		if (a.masks.row == 0) {
			float own[MT][2];
			if (turned)
#pragma unroll
				for (int i = 0; i < MT; i++)
#pragma unroll
					for (int h = 0; h < 2; h++) {
						u32 r = row + i * 16 + h * 8 + LANE / 4;
						own[i][h] = fetch((r < rows ? r : rows - 1) * down);
					}
#pragma unroll
			for (int n = 0; n < N; n++)
#pragma unroll
				for (int c = 0; c < 2; c++) {
					u32 j = column + n * 8 + LANE % 4 * 2 + c;
					float m = turned ? 0 : fetch((j < columns ? j : columns - 1) * across);
#pragma unroll
					for (int i = 0; i < MT; i++)
#pragma unroll
						for (int h = 0; h < 2; h++) s[i][n][2 * h + c] = f(s[i][n][2 * h + c], turned ? own[i][h] : m);
				}
			return;
		}
#pragma unroll
		for (int n = 0; n < N; n++)
#pragma unroll
			for (int c = 0; c < 2; c++) {
				u32 j = column + n * 8 + LANE % 4 * 2 + c;
				i64 at = (j < columns ? j : columns - 1) * across;
#pragma unroll
				for (int i = 0; i < MT; i++)
#pragma unroll
					for (int h = 0; h < 2; h++) {
						u32 r = row + i * 16 + h * 8 + LANE / 4;
						s[i][n][2 * h + c] = f(s[i][n][2 * h + c], fetch(at + (r < rows ? r : rows - 1) * down));
					}
			}
	}

	// bounded sets excluded scores to -Inf.
	template <int MT, int N, bool turned> METHOD void bounded(float s[MT][N][4], u32 row, u32 column) const {
		bool causal = a.flags & Causal, diagonal = causal && (turned ? row + MT * 16 > column + 1 : column + N * 8 > row + 1);
		u32 columns = turned ? a.queries : a.keys;
		if (!diagonal && column + N * 8 <= columns) return;
#pragma unroll
		for (int n = 0; n < N; n++)
#pragma unroll
			for (int l = 0; l < 4; l++)
#pragma unroll
				for (int i = 0; i < MT; i++) {
					u32 j = column + n * 8 + LANE % 4 * 2 + l % 2, r = row + i * 16 + l / 2 * 8 + LANE / 4;
					if (j >= columns || (causal && (turned ? r > j : j > r))) s[i][n][l] = -__builtin_inff();
				}
	}

	// words fetches dropout's bits of 8 N keys for the thread's rows of queries, its own first.
	template <int MT, int N> METHOD void words(u32 bits[MT][2][N / 4], u32 row, u32 column) const {
#pragma unroll
		for (int i = 0; i < MT; i++)
#pragma unroll
			for (int h = 0; h < 2; h++) {
				u32 r = row + i * 16 + h * 8 + LANE / 4;
				const u32 *from = keep + (r < a.queries ? r : a.queries - 1) * a.keep.row + column / 32;
#pragma unroll
				for (int w = 0; w < N / 4; w++) bits[i][h][w] = column + w * 32 < a.keys ? from[w] >> LANE % 4 * 2 : 0;
			}
	}
};
