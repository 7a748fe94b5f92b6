// Argsort of lines. Keys are numbers that order like elements; the sort is stable. Lines of up to
// 64 elements are sorted by counting, those of up to 4096 in a block, longer ones digit by digit
// through memory: Satish, Harris and Garland, Designing efficient sorting algorithms for manycore
// GPUs, 2009.
#include "common.cuh"

#define BALLOT(x) __nvvm_vote_ballot_sync(0xffffffff, x)
#define SYNC_WARP() __nvvm_bar_warp_sync(0xffffffff)

// Source is the origin of keys: elements of a view of dtype, along lines, or stored keys, n per
// line, if dtype is 0. flip is ~0 for descending order. Axes locate lines: first in the result,
// then in the view.
struct Source {
	const void *at;
	u64 flip;
	i64 step; // distance between a line's elements
	u32 dtype, n;
};

template <class K, class B> DEVICE K float_key(B bits, B infinity) {
	const B sign = (B)1 << (sizeof(B) * 8 - 1);
	B size = bits & (B)~sign;
	if (size > infinity) return (K)(B)~(B)0; // NaN
	if (size == 0) return sign;
	return bits & sign ? (K)(B)~bits : (K)(B)(bits | sign);
}

DEVICE void key_of(u32 &key, u32 dtype, const void *p, i64 at) {
	switch (dtype) {
	case Float16: key = float_key<u32, u16>(((const u16 *)p)[at], 0x7c00); break;
	case Bfloat16: key = float_key<u32, u16>(((const u16 *)p)[at], 0x7f80); break;
	case Float32: key = float_key<u32, u32>(((const u32 *)p)[at], 0x7f800000); break;
	case Int32: key = ((const u32 *)p)[at] ^ 1u << 31; break;
	case Int16: key = ((const u16 *)p)[at] ^ 1u << 15; break;
	case Int8: key = ((const u8 *)p)[at] ^ 1u << 7; break;
	case Uint8: key = ((const u8 *)p)[at]; break;
	case Bool: key = ((const u8 *)p)[at] != 0; break;
	default: key = ((const u32 *)p)[at];
	}
}
DEVICE void key_of(u64 &key, u32 dtype, const void *p, i64 at) {
	key = ((const u64 *)p)[at];
	if (dtype == Float64) key = float_key<u64, u64>(key, 0x7ffull << 52);
	else if (dtype == Int64) key ^= 1ull << 63;
}

// Reader reads the keys of a line.
template <class K> struct Reader {
	const void *p;
	K flip;
	i64 from, step;
	u32 dtype;
	METHOD Reader(const Source &s, u32 line, i64 from) : p(s.at), flip((K)s.flip), from(from), step(s.step), dtype(s.dtype) {
		if (dtype == 0) this->from = (i64)line * s.n, step = 1;
	}
	METHOD K at(u32 i) const {
		K key;
		key_of(key, dtype, p, from + i * step);
		return key ^ flip;
	}
};

// sort_few counts, for each element, the elements that precede it.
template <class K> DEVICE void few(i64 *dst, i64 step, const Source &s, u32 lines, const Axes &axes) {
	SHARED static K keys[256];
	u32 together = 256 / s.n, mine = THREAD / s.n, i = THREAD - mine * s.n;
	for (u32 first = BLOCK * together; first < lines; first += BLOCKS * together) {
		u32 line = first + mine;
		bool in = mine < together && line < lines;
		i64 at[2];
		K key = 0;
		if (in) {
			offsets<2>(axes, line, at);
			keys[THREAD] = key = Reader<K>(s, line, at[1]).at(i);
		}
		BARRIER();
		if (in) {
			u32 rank = 0;
			for (u32 j = 0; j < s.n; j++) {
				K other = keys[mine * s.n + j];
				rank += other < key || (other == key && j < i);
			}
			dst[at[0] + rank * step] = i;
		}
		BARRIER();
	}
}

KERNEL sort_few_32(i64 *dst, i64 step, Source s, u32 lines, Axes axes) { few<u32>(dst, step, s, lines, axes); }
KERNEL sort_few_64(i64 *dst, i64 step, Source s, u32 lines, Axes axes) { few<u64>(dst, step, s, lines, axes); }

// sums_before returns the sum of x over the preceding threads of a block of 256.
DEVICE u32 sums_before(u32 x, u32 *room) {
	u32 sum = x;
#pragma unroll
	for (u32 d = 1; d < 32; d *= 2) {
		u32 other = __nvvm_shfl_sync_up_i32(0xffffffff, sum, d, 0);
		if (LANE >= d) sum += other;
	}
	if (LANE == 31) room[THREAD / 32] = sum;
	BARRIER();
	u32 before = sum - x;
	for (u32 w = 0; w < THREAD / 32; w++) before += room[w];
	BARRIER();
	return before;
}

// same returns the lanes with this lane's digit.
DEVICE u32 same(u32 digit) {
	u32 lanes = 0xffffffff;
#pragma unroll
	for (int b = 0; b < 8; b++) {
		bool set = digit >> b & 1;
		u32 those = BALLOT(set);
		lanes &= set ? those : ~those;
	}
	return lanes;
}

// Digits counts digits in a block of 256 threads, each warp separately.
struct Digits {
	u32 count[8][256];
	u32 room[8];
	METHOD void clear() {
#pragma unroll
		for (int w = 0; w < 8; w++) count[w][THREAD] = 0;
		BARRIER();
	}
	// add counts a digit of each lane and returns the warp's previous count of it.
	METHOD u32 add(u32 digit) {
		u32 lanes = same(digit), before = __builtin_popcount(lanes & ((1u << LANE) - 1));
		u32 *c = &count[THREAD / 32][digit];
		u32 sum = *c;
		SYNC_WARP();
		if (before == 0) *c = sum + __builtin_popcount(lanes);
		SYNC_WARP();
		return sum + before;
	}
	// place turns counts into the position of each warp's first element of a digit in the block, and
	// returns the position of the first with digit THREAD.
	METHOD u32 place() {
		BARRIER();
		u32 sum = 0;
#pragma unroll
		for (int w = 0; w < 8; w++) {
			u32 c = count[w][THREAD];
			count[w][THREAD] = sum;
			sum += c;
		}
		u32 first = sums_before(sum, room);
#pragma unroll
		for (int w = 0; w < 8; w++) count[w][THREAD] += first;
		BARRIER();
		return first;
	}
};

// A thread holds I elements of a block's 256*I; those of a warp are contiguous.
#define OWN(r) (THREAD / 32 * 32 * I + (r)*32 + LANE)

// sorted sorts keys, and their positions, by the digit at shift in a block.
template <class K, int I> DEVICE u32 sorted(K *key, u32 *place, u32 shift, Digits &digits, K *room) {
	u32 rank[I];
	digits.clear();
#pragma unroll
	for (int r = 0; r < I; r++) rank[r] = digits.add((u32)(key[r] >> shift) & 255);
	u32 first = digits.place();
#pragma unroll
	for (int r = 0; r < I; r++) {
		rank[r] += digits.count[THREAD / 32][(u32)(key[r] >> shift) & 255];
		room[rank[r]] = key[r];
	}
	BARRIER();
#pragma unroll
	for (int r = 0; r < I; r++) key[r] = room[OWN(r)];
	BARRIER();
	u32 *places = (u32 *)room;
#pragma unroll
	for (int r = 0; r < I; r++) places[rank[r]] = place[r];
	BARRIER();
#pragma unroll
	for (int r = 0; r < I; r++) place[r] = places[OWN(r)];
	return first;
}

// sort_block sorts a line in a block. The order goes to dst, or to order, with the keys. bits are
// those in which keys may differ.
template <class K, int I>
DEVICE void block(i64 *dst, i64 step, K *keys, u32 *order, const Source &s, u32 bits, u32 lines, const Axes &axes) {
	SHARED static K room[256 * I];
	SHARED static Digits digits;
	for (u32 line = BLOCK; line < lines; line += BLOCKS) {
		i64 at[2];
		offsets<2>(axes, line, at);
		Reader<K> in(s, line, at[1]);
		K key[I];
		u32 place[I];
#pragma unroll
		for (int r = 0; r < I; r++) {
			place[r] = OWN(r);
			key[r] = place[r] < s.n ? in.at(place[r]) : (K)~(K)0;
		}
		for (u32 shift = 0; shift < bits; shift += 8) {
			sorted<K, I>(key, place, shift, digits, room);
			BARRIER();
		}
#pragma unroll
		for (int r = 0; r < I; r++) {
			u32 i = OWN(r);
			if (i >= s.n) continue;
			if (dst) {
				dst[at[0] + i * step] = place[r];
			} else {
				keys[i] = key[r];
				order[i] = place[r];
			}
		}
	}
}

#define SORT_BLOCK(K, bits, I)                                                                                                       \
	KERNEL sort_block##I##_##bits(i64 *dst, i64 step, K *keys, u32 *order, Source s, u32 digits, u32 lines, Axes axes) {             \
		block<K, I>(dst, step, keys, order, s, digits, lines, axes);                                                                 \
	}
SORT_BLOCK(u32, 32, 1)
SORT_BLOCK(u32, 32, 4)
SORT_BLOCK(u32, 32, 16)
SORT_BLOCK(u64, 64, 1)
SORT_BLOCK(u64, 64, 4)
SORT_BLOCK(u64, 64, 16)

// The digits of long lines are counted in tiles of 4096 elements: a line is BLOCK_Y after the
// first. counts holds, for each line and digit, those of all tiles.
const int tile = 4096;

// sort_count counts the digits of each tile.
template <class K> DEVICE void count(u32 *counts, const Source &s, u32 shift, u32 first, const Axes &axes) {
	const int I = tile / 256;
	SHARED static Digits digits;
	i64 at[2];
	offsets<2>(axes, first + BLOCK_Y, at);
	Reader<K> in(s, BLOCK_Y, at[1]);
	u32 from = BLOCK * tile;
	digits.clear();
#pragma unroll 4
	for (int r = 0; r < I; r++) {
		u32 i = from + OWN(r);
		K key = i < s.n ? in.at(i) : (K)~(K)0;
		digits.add((u32)(key >> shift) & 255);
	}
	BARRIER();
	u32 sum = 0;
#pragma unroll
	for (int w = 0; w < 8; w++) sum += digits.count[w][THREAD];
	counts[((u64)BLOCK_Y * 256 + THREAD) * BLOCKS + BLOCK] = sum;
}

KERNEL sort_count_32(u32 *counts, Source s, u32 shift, u32 first, Axes axes) { count<u32>(counts, s, shift, first, axes); }
KERNEL sort_count_64(u32 *counts, Source s, u32 shift, u32 first, Axes axes) { count<u64>(counts, s, shift, first, axes); }

// sort_scan turns the counts of digit BLOCK of line BLOCK_Y into sums over the preceding tiles,
// and sets totals to the sums over all tiles.
KERNEL sort_scan(u32 *counts, u32 *totals, u32 tiles) {
	SHARED static u32 room[8], last;
	u32 *c = counts + ((u64)BLOCK_Y * 256 + BLOCK) * tiles, sum = 0;
	for (u32 from = 0; from < tiles; from += 256) {
		u32 i = from + THREAD, x = i < tiles ? c[i] : 0;
		u32 before = sum + sums_before(x, room);
		if (i < tiles) c[i] = before;
		if (THREAD == 255) last = before + x;
		BARRIER();
		sum = last;
		BARRIER();
	}
	if (THREAD == 0) totals[BLOCK_Y * 256 + BLOCK] = sum;
}

// sort_move moves each tile's keys and places to their positions sorted by a digit. Without
// places it numbers them from 0. It sets the order dst, or keys and places.
template <class K>
DEVICE void move(i64 *dst, i64 step, K *keys, u32 *places, const u32 *counts, const u32 *totals, const Source &s, const u32 *from_places, u32 shift, u32 first, const Axes &axes) {
	const int I = tile / 256;
	SHARED static K room[tile];
	SHARED static Digits digits;
	SHARED static u32 base[256];
	i64 at[2];
	offsets<2>(axes, first + BLOCK_Y, at);
	Reader<K> in(s, BLOCK_Y, at[1]);
	u32 from = BLOCK * tile, n = s.n - from < tile ? s.n - from : tile;
	u64 begin = (u64)BLOCK_Y * s.n;
	K key[I];
	u32 place[I];
#pragma unroll
	for (int r = 0; r < I; r++) {
		u32 i = OWN(r);
		key[r] = i < n ? in.at(from + i) : (K)~(K)0;
		place[r] = i < n && from_places ? from_places[begin + from + i] : from + i;
	}
	u32 start = sums_before(totals[BLOCK_Y * 256 + THREAD], digits.room) + counts[((u64)BLOCK_Y * 256 + THREAD) * BLOCKS + BLOCK];
	u32 own = sorted<K, I>(key, place, shift, digits, room);
	base[THREAD] = start - own;
	BARRIER();
#pragma unroll
	for (int r = 0; r < I; r++) {
		u32 i = OWN(r);
		if (i >= n) continue;
		u32 to = base[(u32)(key[r] >> shift) & 255] + i;
		if (dst) {
			dst[at[0] + to * step] = place[r];
		} else {
			keys[begin + to] = key[r];
			places[begin + to] = place[r];
		}
	}
}

#define SORT_MOVE(K, bits)                                                                                                           \
	KERNEL sort_move_##bits(i64 *dst, i64 step, K *keys, u32 *places, const u32 *counts, const u32 *totals, Source s,                \
	                        const u32 *from_places, u32 shift, u32 first, Axes axes) {                                               \
		move<K>(dst, step, keys, places, counts, totals, s, from_places, shift, first, axes);                                        \
	}
SORT_MOVE(u32, 32)
SORT_MOVE(u64, 64)
