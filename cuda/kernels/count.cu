// Counts elements by kind.
#include "reduce.cuh"

// Format gives the bounds of kinds in a number's bits without the sign: the smallest normal
// number, infinity and NaN. The last two are equal if the format has no infinity.
struct Format { u64 magnitude, normal, inf, nan; };

// Census holds the counts, the largest finite magnitude, and the ones' complement of the bits of
// the smallest nonzero one less 1. All begin as 0.
struct Census {
	u64 zeros, subnormals, infs, nans, least, most;

	METHOD void add(u64 x, const Format &f) {
		x &= f.magnitude;
		zeros += x == 0;
		nans += x >= f.nan;
		infs += x >= f.inf && x < f.nan;
		if (x == 0 || x >= f.inf) return;
		subnormals += x < f.normal;
		least = least > ~(x - 1) ? least : ~(x - 1);
		most = most > x ? most : x;
	}
};

// give adds the counts of a warp's threads to the result.
DEVICE void give(Census c, Census *to) {
	u64 *from[] = {&c.zeros, &c.subnormals, &c.infs, &c.nans};
	u64 *into[] = {&to->zeros, &to->subnormals, &to->infs, &to->nans};
#pragma unroll
	for (int i = 0; i < 4; i++) {
		for (u32 bit = 16; bit > 0; bit /= 2) *from[i] += shuffled(*from[i], bit);
		if (LANE == 0 && *from[i]) __nvvm_atom_add_gen_ll((i64 *)into[i], *from[i]);
	}
	for (u32 bit = 16; bit > 0; bit /= 2) {
		u64 least = shuffled(c.least, bit), most = shuffled(c.most, bit);
		c.least = c.least > least ? c.least : least;
		c.most = c.most > most ? c.most : most;
	}
	if (LANE == 0) {
		__nvvm_atom_max_gen_ull(&to->least, c.least);
		__nvvm_atom_max_gen_ull(&to->most, c.most);
	}
}

#define COUNT(T, name)                                                                                     \
	KERNEL count_##name(i64 n, Format f, const T *x, Census *to) {                                         \
		Census c = {};                                                                                     \
		i64 first = (i64)BLOCK * THREADS + THREAD, step = (i64)BLOCKS * THREADS, packs = n / Pack<T>::count; \
		for (i64 i = first; i < packs; i += step) {                                                        \
			Pack<T> v = ((const Pack<T> *)x)[i];                                                           \
			_Pragma("unroll") for (int j = 0; j < Pack<T>::count; j++) c.add(v.at[j], f);                  \
		}                                                                                                  \
		i64 i = packs * Pack<T>::count + first;                                                            \
		if (i < n) c.add(x[i], f);                                                                         \
		give(c, to);                                                                                       \
	}                                                                                                      \
	KERNEL count_strided_##name(u32 n, Format f, const T *x, Census *to, Axes axes) {                      \
		Census c = {};                                                                                     \
		for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) c.add(x[place<0>(axes, i)], f); \
		give(c, to);                                                                                       \
	}

COUNT(u8, 1)
COUNT(u16, 2)
COUNT(u32, 4)
COUNT(u64, 8)
