// Gradients of attention. With the weights p, the gradient dp = dy vᵀ with respect to the weights
// after dropout, and delta, a row's sum of p dp, which equals that of dy y, the gradient of the
// scores is ds = p (dp - delta): dq = ds k, dk = dsᵀ q, dv = pᵀ dy. Weights are recomputed from
// the scores and a row's sums.
//
// One kernel takes rows of queries and iterates over keys, another takes rows of keys and
// iterates over queries. Sums stay in registers, in an order that depends on shapes alone.
#pragma once
#include "attention.cuh"

// weigh turns products s = q kᵀ and dp, of rows from own and columns from other, into the weights
// for dv and the gradients of the products without the scale. Rows are queries, or keys if
// turned. of returns the sums or delta of a product's query; kept reports whether dropout keeps a
// weight.
template <class T, int MT, int N, bool masked, bool turned, class F, class G>
DEVICE void weigh(const Attend &a, const Scores &scores, float s[MT][N][4], float dp[MT][N][4], u32 own, u32 other, F of, G kept) {
	if (masked) scores.masked<T, MT, N, turned>(s, own, other);
	scores.bounded<MT, N, turned>(s, own, other);
#pragma unroll
	for (int i = 0; i < MT; i++)
#pragma unroll
		for (int n = 0; n < N; n++)
#pragma unroll
			for (int l = 0; l < 4; l++) {
				float p = weight<masked>(s[i][n][l], of(0, i, n, l), a.powers), d = dp[i][n][l];
				s[i][n][l] = p;
				if (masked && scores.keep) {
					bool keep = kept(i, n, l);
					s[i][n][l] = keep ? p * a.kept : 0;
					d = keep ? d * a.kept : 0;
				}
				dp[i][n][l] = p * (d - of(1, i, n, l));
			}
}

// products sets s to the products of rows of x and of y, with D columns.
template <class T, int D, int MT, int N> DEVICE void products(const Tile<T, D> &tile, float s[MT][N / 8][4], u32 x, u32 mine, u32 y) {
#pragma unroll
	for (int step = 0; step < D / 16; step++) {
		u32 own[MT][4];
#pragma unroll
		for (int i = 0; i < MT; i++) tile.along(own[i], x, mine + i * 16, step);
#pragma unroll
		for (int n = 0; n < N / 16; n++) {
			u32 b[4];
			tile.along(b, y, n * 16, step);
#pragma unroll
			for (int i = 0; i < MT; i++) {
				multiply_add(T{}, s[i][2 * n], own[i], b[0], b[2]);
				multiply_add(T{}, s[i][2 * n + 1], own[i], b[1], b[3]);
			}
		}
	}
}

// gather adds to sum s times the rows of y.
template <class T, int D, int MT, int N> DEVICE void gather(const Tile<T, D> &tile, float sum[MT][D / 8][4], const float s[MT][N / 8][4], u32 y) {
#pragma unroll
	for (int n = 0; n < N / 16; n++) {
		u32 p[MT][4];
#pragma unroll
		for (int i = 0; i < MT; i++) packed<T>(p[i], s[i][2 * n], s[i][2 * n + 1]);
#pragma unroll
		for (int step = 0; step < D / 16; step++) {
			u32 b[4];
			tile.across(b, y, n * 16, step);
#pragma unroll
			for (int i = 0; i < MT; i++) {
				multiply_add(T{}, sum[i][2 * step], p[i], b[0], b[1]);
				multiply_add(T{}, sum[i][2 * step + 1], p[i], b[2], b[3]);
			}
		}
	}
}

// gradQueries computes 64 MT rows of dq, from N keys at a time, and their delta, which gradKeys
// reads.
template <class T, int D, int MT, int N, bool masked> DEVICE void gradQueries(const Attend &a) {
	const int threads = 128, rows = 64 * MT, bytes = N * D * 2, streams = 2 * rows * D * 2;
	extern SHARED __attribute__((aligned(128))) char room[];
	u32 base = shared_address(room), first = (a.tiles - 1 - BLOCK % a.tiles) * rows, mine = THREAD / 32 * 16 * MT;
	Place place(a, a.first + BLOCK / a.tiles);
	Tile<T, D> tile;
	tile.template copy<rows, threads>(room, 0, place.of<const T>(a.q), a.q.row, first, a.queries, a.depth, a.flags & PackQ);
	tile.template copy<rows, threads>(room, streams / 2, place.of<const T>(a.dy), a.dy.row, first, a.queries, a.width, a.flags & PackDY);
	tile.template copy<rows, threads>(room, streams, place.of<const T>(a.y), a.y.row, first, a.queries, a.width, a.flags & PackY);
	end_group();
	wait_but<0>();
	BARRIER();
	// Four threads share a row.
	float part[2][MT][2]; // sums and delta of a row
	float *sums = place.of<float>(a.sums), *deltas = place.of<float>(a.delta);
#pragma unroll
	for (int i = 0; i < MT; i++)
#pragma unroll
		for (int h = 0; h < 2; h++) {
			u32 r = mine + i * 16 + h * 8 + LANE / 4, row = first + r;
			float delta = 0;
#pragma unroll
			for (int c = 0; c < D / 8; c += 4) {
				Pack<T> x = *(Pack<T> *)(room + streams / 2 + tile.spot(r, c + LANE % 4)), y = *(Pack<T> *)(room + streams + tile.spot(r, c + LANE % 4));
#pragma unroll
				for (int j = 0; j < 8; j++) delta = fused(widen(x.at[j]), widen(y.at[j]), delta);
			}
			part[1][i][h] = delta = quadSum(delta);
			part[0][i][h] = row < a.queries ? sums[row * a.sums.row] : __builtin_inff();
			if (LANE % 4 == 0 && row < a.queries) deltas[row * a.delta.row] = delta;
		}
	BARRIER();

	u32 keys = a.flags & Causal && first + rows < a.keys ? first + rows : a.keys, slot = 0;
	const T *k = place.of<const T>(a.k), *v = place.of<const T>(a.v);
	auto copy = [&] LAMBDA (u32 slot, u32 key) {
		if (key < keys) {
			tile.template copy<N, threads>(room, streams + slot * 2 * bytes, k, a.k.row, key, a.keys, a.depth, a.flags & PackK);
			tile.template copy<N, threads>(room, streams + (slot * 2 + 1) * bytes, v, a.v.row, key, a.keys, a.width, a.flags & PackV);
		}
		end_group();
	};
	Scores scores(a, place);
	float dq[MT][D / 8][4] = {};
	copy(0, 0);
#pragma unroll 1
	for (u32 key = 0; key < keys; key += N, slot ^= 1) {
		wait_but<0>();
		BARRIER();
		copy(slot ^ 1, key + N);
		u32 at = base + streams + slot * 2 * bytes, bits[MT][2][N / 32];
		if (masked && scores.keep) scores.words<MT, N / 8>(bits, first + mine, key);
		float s[MT][N / 8][4] = {}, dp[MT][N / 8][4] = {};
		products<T, D, MT, N>(tile, s, base, mine, at);
		products<T, D, MT, N>(tile, dp, base + streams / 2, mine, at + bytes);
		weigh<T, MT, N / 8, masked, false>(a, scores, s, dp, first + mine, key,
			[&] LAMBDA (int what, int i, int n, int l) { return part[what][i][l / 2]; },
			[&] LAMBDA (int i, int n, int l) { return bits[i][l / 2][n / 4] >> (n % 4 * 8 + l % 2) & 1; });
		gather<T, D, MT, N>(tile, dq, dp, at);
	}
	float factor[MT][2];
#pragma unroll
	for (int i = 0; i < MT; i++) factor[i][0] = factor[i][1] = a.scale;
	__nvvm_bar_warp_sync(allLanes);
	bool wide = a.flags & WideGrads;
	tile.template put<MT>(room, 0, dq, factor, wide ? (void *)place.of<float>(a.dq) : (void *)place.of<T>(a.dq), a.dq.row, mine, first, a.queries, a.depth, wide, a.flags & PackDQ);
}

// gradKeys computes 64 MT rows of dk and dv, from N queries at a time.
template <class T, int D, int MT, int N, bool masked> DEVICE void gradKeys(const Attend &a) {
	const int threads = 128, rows = 64 * MT, bytes = N * D * 2, streams = 2 * rows * D * 2, tables = streams + 4 * bytes;
	extern SHARED __attribute__((aligned(128))) char room[];
	u32 base = shared_address(room), first = BLOCK % a.tiles * rows, mine = THREAD / 32 * 16 * MT;
	Place place(a, a.first + BLOCK / a.tiles);
	Tile<T, D> tile;
	tile.template copy<rows, threads>(room, 0, place.of<const T>(a.k), a.k.row, first, a.keys, a.depth, a.flags & PackK);
	tile.template copy<rows, threads>(room, streams / 2, place.of<const T>(a.v), a.v.row, first, a.keys, a.width, a.flags & PackV);
	struct Table { // per query
		float of[2][N]; // sums and delta
		u32 bits[rows / 32][N];
	} *table = (Table *)(room + tables);
	Scores scores(a, place);
	const float *sums = place.of<float>(a.sums), *deltas = place.of<float>(a.delta);
	const T *q = place.of<const T>(a.q), *dy = place.of<const T>(a.dy);
	auto copy = [&] LAMBDA (u32 slot, u32 query) {
		if (query < a.queries) {
			tile.template copy<N, threads>(room, streams + slot * 2 * bytes, q, a.q.row, query, a.queries, a.depth, a.flags & PackQ);
			tile.template copy<N, threads>(room, streams + (slot * 2 + 1) * bytes, dy, a.dy.row, query, a.queries, a.width, a.flags & PackDY);
			for (u32 u = THREAD; u < (masked ? 2 + rows / 32 : 2) * N; u += threads) {
				u32 what = u / N, i = query + u % N, key = first + (what - 2) * 32;
				bool there = i < a.queries;
				const void *from = sums + i * a.sums.row;
				if (what == 1) from = deltas + i * a.delta.row;
				if (what > 1) {
					there = there && masked && scores.keep && key < a.keys;
					from = scores.keep + i * a.keep.row + key / 32;
				}
				copy4(base + tables + slot * sizeof(Table) + u * 4, there ? from : sums, there);
			}
		}
		end_group();
	};
	float dk[MT][D / 8][4] = {}, dv[MT][D / 8][4] = {};
	u32 slot = 0, query = a.flags & Causal ? first / N * N : 0;
	copy(0, query);
#pragma unroll 1
	for (; query < a.queries; query += N, slot ^= 1) {
		wait_but<0>();
		BARRIER();
		copy(slot ^ 1, query + N);
		u32 at = base + streams + slot * 2 * bytes;
		float s[MT][N / 8][4] = {}, dp[MT][N / 8][4] = {};
		products<T, D, MT, N>(tile, s, base, mine, at);
		products<T, D, MT, N>(tile, dp, base + streams / 2, mine, at + bytes);
		weigh<T, MT, N / 8, masked, true>(a, scores, s, dp, first + mine, query,
			[&] LAMBDA (int what, int i, int n, int l) { return table[slot].of[what][n * 8 + LANE % 4 * 2 + l % 2]; },
			[&] LAMBDA (int i, int n, int l) {
				u32 key = mine + i * 16 + l / 2 * 8 + LANE / 4;
				return table[slot].bits[key / 32][n * 8 + LANE % 4 * 2 + l % 2] >> key % 32 & 1;
			});
		gather<T, D, MT, N>(tile, dv, s, at + bytes);
		gather<T, D, MT, N>(tile, dk, dp, at);
	}
	wait_but<0>();
	BARRIER(); // if there was no query
	float factor[MT][2], one[MT][2];
#pragma unroll
	for (int i = 0; i < MT; i++) factor[i][0] = factor[i][1] = a.scale, one[i][0] = one[i][1] = 1;
	bool wide = a.flags & WideGrads;
	tile.template put<MT>(room, 0, dk, factor, wide ? (void *)place.of<float>(a.dk) : (void *)place.of<T>(a.dk), a.dk.row, mine, first, a.keys, a.depth, wide, a.flags & PackDK);
	tile.template put<MT>(room, streams / 2, dv, one, wide ? (void *)place.of<float>(a.dv) : (void *)place.of<T>(a.dv), a.dv.row, mine, first, a.keys, a.width, wide, a.flags & PackDV);
}

// ATTEND_GRAD defines kernels for heads of up to D. Two blocks fit on a multiprocessor.
#define ATTEND_GRAD(T, D, N)                                                                                                                      \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(128, 2))) void queries_##D(Attend a) { gradQueries<T, D, 1, N, false>(a); }       \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(128, 2))) void queries_masked_##D(Attend a) { gradQueries<T, D, 1, N, true>(a); } \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(128, 2))) void keys_##D(Attend a) { gradKeys<T, D, 1, N, false>(a); }             \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(128, 2))) void keys_masked_##D(Attend a) { gradKeys<T, D, 1, N, true>(a); }
