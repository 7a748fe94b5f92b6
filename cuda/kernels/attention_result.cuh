// Results of attention.
#pragma once
#include "attention.cuh"

// attend computes 64 MT rows of a matrix of results, 16 MT by each of four warps, from N keys at
// a time, while the next keys are being copied. Weights are powers of the scores minus the
// running maximum; when the maximum grows, the sums are rescaled.
template <class T, int D, int MT, int N, bool masked> DEVICE void attend(const Attend &a) {
	const int threads = 128, rows = 64 * MT, bytes = N * D * 2;
	extern SHARED __attribute__((aligned(128))) char room[];
	u32 base = shared_address(room), first = (a.tiles - 1 - BLOCK % a.tiles) * rows;
	Place place(a, a.first + BLOCK / a.tiles);
	Tile<T, D> tile;
	tile.template copy<rows, threads>(room, 0, place.of<const T>(a.q), a.q.row, first, a.queries, a.depth, a.flags & PackQ);
	end_group();
	wait_but<0>();
	BARRIER();
	u32 mine = THREAD / 32 * 16 * MT, q[MT][D / 16][4];
#pragma unroll
	for (int i = 0; i < MT; i++)
#pragma unroll
		for (int step = 0; step < D / 16; step++) tile.along(q[i][step], base, mine + i * 16, step);
	BARRIER();

	u32 keys = a.flags & Causal && first + rows < a.keys ? first + rows : a.keys, slot = 0;
	const T *k = place.of<const T>(a.k), *v = place.of<const T>(a.v);
	auto copy = [&] LAMBDA (u32 slot, u32 key) {
		if (key < keys) {
			tile.template copy<N, threads>(room, slot * 2 * bytes, k, a.k.row, key, a.keys, a.depth, a.flags & PackK);
			tile.template copy<N, threads>(room, (slot * 2 + 1) * bytes, v, a.v.row, key, a.keys, a.width, a.flags & PackV);
		}
		end_group();
	};
	Scores scores(a, place);
	float top[MT][2], sum[MT][2], y[MT][D / 8][4] = {}, power = a.powers;
#pragma unroll
	for (int i = 0; i < MT; i++) top[i][0] = top[i][1] = -__builtin_inff(), sum[i][0] = sum[i][1] = 0;
	copy(0, 0);
#pragma unroll 1
	for (u32 key = 0; key < keys; key += N, slot ^= 1) {
		wait_but<0>();
		BARRIER();
		copy(slot ^ 1, key + N);
		u32 bits[MT][2][N / 32];
		if (masked && scores.keep) scores.words<MT, N / 8>(bits, first + mine, key);
		float s[MT][N / 8][4] = {};
#pragma unroll
		for (int step = 0; step < D / 16; step++)
#pragma unroll
			for (int n = 0; n < N / 16; n++) {
				u32 b[4];
				tile.along(b, base + slot * 2 * bytes, n * 16, step);
#pragma unroll
				for (int i = 0; i < MT; i++) {
					multiply_add(T{}, s[i][2 * n], q[i][step], b[0], b[2]);
					multiply_add(T{}, s[i][2 * n + 1], q[i][step], b[1], b[3]);
				}
			}
		if (masked) scores.masked<T, MT, N / 8, false>(s, first + mine, key);
		scores.bounded<MT, N / 8, false>(s, first + mine, key);
#pragma unroll
		for (int i = 0; i < MT; i++)
#pragma unroll
			for (int h = 0; h < 2; h++) {
				float before = top[i][h], now = before;
#pragma unroll
				for (int n = 0; n < N / 8; n++) now = __builtin_fmaxf(now, __builtin_fmaxf(s[i][n][2 * h], s[i][n][2 * h + 1]));
				top[i][h] = now = quadTop(now);
				float less = now == -__builtin_inff() ? 0 : masked ? now : now * power, grown = weight<masked>(before, less, power), more = 0;
#pragma unroll
				for (int n = 0; n < N / 8; n++)
#pragma unroll
					for (int c = 0; c < 2; c++) {
						float p = weight<masked>(s[i][n][2 * h + c], less, power);
						s[i][n][2 * h + c] = p;
						more += p;
					}
				sum[i][h] = fused(sum[i][h], grown, more);
#pragma unroll
				for (int n = 0; n < D / 8; n++) y[i][n][2 * h] *= grown, y[i][n][2 * h + 1] *= grown;
			}
		if (masked && scores.keep)
#pragma unroll
			for (int i = 0; i < MT; i++)
#pragma unroll
				for (int n = 0; n < N / 8; n++)
#pragma unroll
					for (int l = 0; l < 4; l++)
						if (!(bits[i][l / 2][n / 4] >> (n % 4 * 8 + l % 2) & 1)) s[i][n][l] = 0;
#pragma unroll
		for (int n = 0; n < N / 16; n++) {
			u32 p[MT][4];
#pragma unroll
			for (int i = 0; i < MT; i++) packed<T>(p[i], s[i][2 * n], s[i][2 * n + 1]);
#pragma unroll
			for (int step = 0; step < D / 16; step++) {
				u32 b[4];
				tile.across(b, base + (slot * 2 + 1) * bytes, n * 16, step);
#pragma unroll
				for (int i = 0; i < MT; i++) {
					multiply_add(T{}, y[i][2 * step], p[i], b[0], b[1]);
					multiply_add(T{}, y[i][2 * step + 1], p[i], b[2], b[3]);
				}
			}
		}
	}
	BARRIER();
	float *sums = place.of<float>(a.sums);
#pragma unroll
	for (int i = 0; i < MT; i++)
#pragma unroll
		for (int h = 0; h < 2; h++) {
			float total = quadSum(sum[i][h]);
			u32 row = first + mine + i * 16 + h * 8 + LANE / 4;
			if (LANE % 4 == 0 && row < a.queries) sums[row * a.sums.row] = total == 0 ? __builtin_inff() : masked ? fused(logNear(total), log2, top[i][h]) : fused(top[i][h], power, logNear(total));
			sum[i][h] = total == 0 ? 0 : a.kept / total;
		}
	tile.template put<MT>(room, 0, y, sum, place.of<T>(a.y), a.y.row, mine, first, a.queries, a.width, false, a.flags & PackY);
}

// ATTEND defines kernels for heads of up to D. Three blocks without a mask fit on a
// multiprocessor, two with one.
#define ATTEND(T, D, MT)                                                                                                                          \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(128, 3))) void attend_##D(Attend a) { attend<T, D, MT, 32, false>(a); }          \
	extern "C" __attribute__((global)) __attribute__((launch_bounds(128, 2))) void attend_masked_##D(Attend a) { attend<T, D, MT, 32, true>(a); }
