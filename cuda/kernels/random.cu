// Stateless random numbers: each thread computes its own from a key and a counter.
#include "common.cuh"

// philox is Philox4x32-10: J. Salmon and others, "Parallel Random Numbers: As Easy as
// 1, 2, 3", 2011.
DEVICE void philox(u32 *c, u32 low, u32 high) {
#pragma unroll
	for (int round = 0; round < 10; round++) {
		u64 a = (u64)0xD2511F53 * c[0], b = (u64)0xCD9E8D57 * c[2];
		u32 x = (u32)(b >> 32) ^ c[1] ^ low, z = (u32)(a >> 32) ^ c[3] ^ high;
		c[0] = x, c[1] = (u32)b, c[2] = z, c[3] = (u32)a;
		low += 0x9E3779B9, high += 0xBB67AE85;
	}
}

// bernoulli sets each of n elements to whether its random number is below limit, four at a time.
// run, if not null, is the number of a graph's run, so that each run draws other numbers.
KERNEL bernoulli(u8 *dst, i64 n, u64 limit, u32 low, u32 high, const u64 *run) {
	i64 step = (i64)BLOCKS * THREADS;
	u64 runs = run ? *run : 0;
	for (i64 i = (i64)BLOCK * THREADS + THREAD; 4 * i < n; i += step) {
		u32 c[4] = {(u32)i, (u32)((u64)i >> 32), (u32)runs, (u32)(runs >> 32)};
		philox(c, low, high);
		if (4 * i + 4 <= n) {
			*(u32 *)(dst + 4 * i) = (u32)(c[0] < limit) | (u32)(c[1] < limit) << 8 | (u32)(c[2] < limit) << 16 | (u32)(c[3] < limit) << 24;
			continue;
		}
		for (int j = 0; 4 * i + j < n; j++) dst[4 * i + j] = c[j] < limit;
	}
}

// count_run ends a graph's run: one thread adds 1 to its number.
KERNEL count_run(u64 *run) { *run += 1; }

// bernoulli_bits does the same for words of 32 elements; across words hold a row of n.
KERNEL bernoulli_bits(u32 *dst, i64 words, u64 limit, u32 low, u32 high, const u64 *run, i64 n, u32 across) {
	i64 step = (i64)BLOCKS * THREADS;
	u64 runs = run ? *run : 0;
	for (i64 w = (i64)BLOCK * THREADS + THREAD; w < words; w += step) {
		i64 row = w / across, from = (w - row * across) * 32, at = row * n + from;
		u32 skip = at % 4;
		u64 all = 0;
		for (u32 k = 0; k < (skip ? 9 : 8); k++) {
			u64 i = (u64)at / 4 + k;
			u32 c[4] = {(u32)i, (u32)(i >> 32), (u32)runs, (u32)(runs >> 32)};
			philox(c, low, high);
			u32 kept = (u32)(c[0] < limit) | (u32)(c[1] < limit) << 1 | (u32)(c[2] < limit) << 2 | (u32)(c[3] < limit) << 3;
			all |= (u64)kept << 4 * k;
		}
		u32 bits = (u32)(all >> skip);
		dst[w] = n - from < 32 ? bits & ((1u << (n - from)) - 1) : bits;
	}
}
