// Gathers and scatters by positions along an axis.
#include "common.cuh"

typedef Pack<u64> wide; // several elements moved together

// gather sets dst[i] to x[i] with index[i], times step, in place of the index along the axis,
// along which x's stride is 0: n < 2^31 elements.
template <class E> DEVICE void gather(u32 n, E *dst, const E *x, const i64 *index, i64 step, const Axes &axes) {
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) {
		i64 at[3];
		offsets<3>(axes, i, at);
		dst[at[0]] = x[at[1] + index[at[2]] * step];
	}
}

#define GATHER(E, bits) \
	KERNEL gather_##bits(u32 n, E *dst, const E *x, const i64 *index, i64 step, Axes axes) { gather(n, dst, x, index, step, axes); }
GATHER(u8, 8)
GATHER(u16, 16)
GATHER(u32, 32)
GATHER(u64, 64)
GATHER(wide, 128)

// meet returns the new value of an element a to which x is scattered.
template <class T> DEVICE T meet(u32 code, T a, T x) {
	switch (code) {
	case ScatterMul: return a * x;
	case ScatterMax: return largest(a, x);
	case ScatterMin: return smallest(a, x);
	}
	return a + x;
}
template <class T> DEVICE Pack<T> meet(u32 code, Pack<T> a, Pack<T> x) {
#pragma unroll
	for (int j = 0; j < Pack<T>::count; j++) a.at[j] = meet(code, a.at[j], x.at[j]);
	return a;
}

// Lines are the elements along the axis in dst, x and index: m elements in the latter two.
// Positions on all other axes number the lines, n < 2^31 in all. Steps are distances between a
// line's elements.
struct Lines {
	u32 code, n, m;
	u32 _;
	i64 to, from, index;
};

// scatter_lines uses one thread per line.
template <class E, bool replace> DEVICE void lines(const Lines &l, E *dst, const E *x, const i64 *index, const Axes &axes) {
	for (u32 line = BLOCK * THREADS + THREAD; line < l.n; line += BLOCKS * THREADS) {
		i64 at[3];
		offsets<3>(axes, line, at);
		E *to = dst + at[0];
		const E *from = x + at[1];
		const i64 *position = index + at[2];
		if constexpr (replace) {
			for (u32 j = 0; j < l.m; j++) to[position[j * l.index] * l.to] = from[j * l.from];
		} else {
			const u32 U = 4;
			for (u32 j = 0; j < l.m; j += U) {
				i64 p[U];
				E v[U];
#pragma unroll
				for (u32 u = 0; u < U; u++) {
					u32 i = j + u < l.m ? j + u : j;
					p[u] = position[i * l.index] * l.to;
					v[u] = from[i * l.from];
				}
#pragma unroll
				for (u32 u = 0; u < U; u++)
					if (j + u < l.m) to[p[u]] = meet(l.code, to[p[u]], v[u]);
			}
		}
	}
}

// scatter_keys sets keys to the positions of several lines, from first, with an offset of size
// per line.
template <class K> DEVICE void keys(const Lines &l, u32 count, K *to, const i64 *index, u64 size, Divider m, u32 first, const Axes &axes) {
	for (u32 i = BLOCK * THREADS + THREAD; i < count; i += BLOCKS * THREADS) {
		u32 line = m.quotient(i), j = i - line * m.by;
		i64 at[3];
		offsets<3>(axes, first + line, at);
		to[i] = (K)(line * size + index[at[2] + j * l.index]);
	}
}

KERNEL scatter_keys_32(Lines l, u32 count, u32 *to, const i64 *index, u64 size, Divider m, u32 first, Axes axes) { keys(l, count, to, index, size, m, first, axes); }
KERNEL scatter_keys_64(Lines l, u32 count, u64 *to, const i64 *index, u64 size, Divider m, u32 first, Axes axes) { keys(l, count, to, index, size, m, first, axes); }

// scatter_sorted uses a group of 2^group threads, which share the lines, for each of count sorted
// keys and their original order. The first of equal keys processes them all, or the last stays.
// If size is 0, all lines have these positions; otherwise keys belong to the lines from first,
// one thread each.
template <class E, class K, bool replace>
DEVICE void sorted(const Lines &l, u32 count, const K *keys, const u32 *order, u32 group, u64 size, u32 first, E *dst, const E *x, const Axes &axes) {
	u32 s = BLOCK * (THREADS >> group) + (THREAD >> group), lane = THREAD & ((1u << group) - 1);
	if (s >= count) return;
	K key = keys[s];
	if (replace ? s + 1 < count && keys[s + 1] == key : s > 0 && keys[s - 1] == key) return;
	u32 line = lane + (BLOCK_Y << group), lines = l.n, skip = 0;
	i64 position = key;
	if (size) {
		line = (u32)(key / size);
		position = key - line * size;
		skip = line * l.m;
		line += first;
		lines = line + 1;
	}
	for (; line < lines; line += __nvvm_read_ptx_sreg_nctaid_y() << group) {
		i64 at[3];
		offsets<3>(axes, line, at);
		E *to = dst + at[0] + position * l.to;
		const E *from = x + at[1];
		const u32 U = 8;
		if constexpr (replace) {
			*to = from[(i64)(order[s] - skip) * l.from];
		} else {
			E sum = *to;
			for (u32 i = s, found = U; found == U; i += U) {
				u32 o[U];
				E v[U];
				found = 0;
#pragma unroll
				for (u32 u = 0; u < U; u++) {
					bool in = i + u < count && keys[i + u] == key;
					o[u] = in ? order[i + u] : 0;
					found += in;
				}
#pragma unroll
				for (u32 u = 0; u < U; u++)
					if (u < found) v[u] = from[(i64)(o[u] - skip) * l.from];
#pragma unroll
				for (u32 u = 0; u < U; u++)
					if (u < found) sum = meet(l.code, sum, v[u]);
			}
			*to = sum;
		}
	}
}

#define SORTED(name, E, K, replace)                                                                                                        \
	KERNEL scatter_sorted_##name(Lines l, u32 count, const K *keys, const u32 *order, u32 group, u64 size, u32 first, E *dst, const E *x, \
	                             Axes axes) {                                                                                              \
		sorted<E, K, replace>(l, count, keys, order, group, size, first, dst, x, axes);                                                    \
	}
#define SCATTER(name, E, replace)                                                                       \
	KERNEL scatter_lines_##name(Lines l, E *dst, const E *x, const i64 *index, Axes axes) {             \
		lines<E, replace>(l, dst, x, index, axes);                                                      \
	}                                                                                                   \
	SORTED(name##_32, E, u32, replace)

SCATTER(8, u8, true)
SCATTER(16, u16, true)
SCATTER(32, u32, true)
SCATTER(64, u64, true)
SCATTER(128, wide, true)
SCATTER(float32, float, false)
SCATTER(float64, double, false)
SCATTER(int64, i64, false)
SORTED(8_64, u8, u64, true)
SORTED(16_64, u16, u64, true)
SORTED(32_64, u32, u64, true)
SORTED(64_64, u64, u64, true)
SORTED(float32_64, float, u64, false)
SORTED(float64_64, double, u64, false)
SORTED(int64_64, i64, u64, false)
SCATTER(float32s, Pack<float>, false)
SCATTER(float64s, Pack<double>, false)
SCATTER(int64s, Pack<i64>, false)
