// Copies with zero padding, for the images of convolutions.
#include "common.cuh"

// Margins maps positions of dst to memory in dst and in src, whose before and there give its
// start and size along each axis. The last axis varies fastest.
struct Margins {
	u32 rank;
	Divider size[6];
	i32 before[6], there[6];
	i64 to[6], from[6];
};

// find sets to and from to the addresses of position i, and reports whether src has it.
DEVICE bool find(const Margins &m, u32 i, i64 *to, i64 *from) {
	bool inside = true;
	*to = *from = 0;
#pragma unroll
	for (int axis = 5; axis >= 0; axis--) {
		if (axis >= m.rank) continue;
		u32 q = axis ? m.size[axis].quotient(i) : 0, at = i - q * m.size[axis].by;
		i32 s = (i32)at - m.before[axis];
		inside = inside && (u32)s < (u32)m.there[axis];
		*to += at * m.to[axis];
		*from += s * m.from[axis];
		i = q;
	}
	return inside;
}

#define PAD(T, name)                                                           \
	KERNEL pad_##name(u32 n, T *dst, const T *src, Margins m) {                \
		for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) { \
			i64 to, from;                                                      \
			bool inside = find(m, i, &to, &from);                              \
			dst[to] = inside ? src[from] : (T)0;                               \
		}                                                                      \
	}

// Channels are adjacent in dst, in packs of 16 bytes, but not in src.
struct Channels {
	u32 count;
	i32 before, there;
	i64 from;
};

// turned copies tiles of 64 positions by 128 bytes of channels. A warp reads one channel of 32
// mostly adjacent positions, and writes 16 bytes per thread; rows of 33 words keep the tile's
// accesses free of bank conflicts both ways.
template <class T> DEVICE void turned(u32 n, T *dst, const T *src, const Margins &m, const Channels &c) {
	const int E = 128 / sizeof(T), P = Pack<T>::count;
	static SHARED u32 image[64][33];
	static SHARED i64 into[64];
	u32 x = THREAD % 64, y = THREAD / 64, first = BLOCK * 64, channel = BLOCK_Y * E;
	i64 to = 0, from = 0;
	bool inside = first + x < n && find(m, first + x, &to, &from);
	if (y == 0) into[x] = to;
	T v[E / 4];
#pragma unroll
	for (int j = 0; j < E / 4; j++) {
		i32 s = (i32)(channel + y + j * 4) - c.before;
		v[j] = inside && (u32)s < (u32)c.there ? src[from + s * c.from] : (T)0;
	}
#pragma unroll
	for (int j = 0; j < E / 4; j++) ((T *)image[x])[y + j * 4] = v[j];
	BARRIER();
#pragma unroll
	for (int i = 0; i < 2; i++) {
		u32 place = (THREAD + i * 256) / 8, at = THREAD % 8;
		if (first + place >= n || channel + at * P >= c.count) continue;
		Pack<u32> out;
#pragma unroll
		for (int j = 0; j < 4; j++) out.at[j] = image[place][at * 4 + j];
		*(Pack<u32> *)(dst + into[place] + channel + at * P) = out;
	}
}

#define TURNED(T, name) \
	KERNEL pad_turned_##name(u32 n, T *dst, const T *src, Margins m, Channels c) { turned<T>(n, dst, src, m, c); }

PAD(u8, 1)
PAD(u16, 2)
PAD(u32, 4)
PAD(u64, 8)
TURNED(u16, 2)
TURNED(u32, 4)
