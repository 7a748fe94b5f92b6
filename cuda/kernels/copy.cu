// Copies between views of any dtypes and strides, and fills.
#include "float8.cuh"

// Converts a real number to an integer, truncating; the lowest integer if there is none.
DEVICE i64 whole(float x) { return x >= -0x1p63f && x < 0x1p63f ? (i64)x : (i64)(1ull << 63); }
DEVICE i64 whole(double x) { return x >= -0x1p63 && x < 0x1p63 ? (i64)x : (i64)(1ull << 63); }
DEVICE i64 whole(i64 x) { return x; }

// Row holds n adjacent elements, aligned to the size of one access.
template <class T, int n> struct __attribute__((aligned(n * sizeof(T) < 16 ? n * sizeof(T) : 16))) Row { T at[n]; };

template <int n, class T, class W> DEVICE void fetch(W *w, const void *src, i64 at) {
	const int each = n * sizeof(T) < 16 ? n : 16 / sizeof(T);
#pragma unroll
	for (int i = 0; i < n; i += each) {
		Row<T, each> v = *(const Row<T, each> *)((const T *)src + at + i);
#pragma unroll
		for (int j = 0; j < each; j++) w[i + j] = widen(v.at[j]);
	}
}

template <int n, class T, class W> DEVICE void stow(void *dst, i64 at, const W *w) {
	const int each = n * sizeof(T) < 16 ? n : 16 / sizeof(T);
#pragma unroll
	for (int i = 0; i < n; i += each) {
		Row<T, each> v;
#pragma unroll
		for (int j = 0; j < each; j++) narrow(v.at[j], w[i + j]);
		*(Row<T, each> *)((T *)dst + at + i) = v;
	}
}

// as converts numbers before they are narrowed.
template <int n, class V, class W> DEVICE void as(V *v, const W *w) {
#pragma unroll
	for (int j = 0; j < n; j++) v[j] = (V)w[j];
}
template <int n, class W> DEVICE void asWhole(i64 *v, const W *w) {
#pragma unroll
	for (int j = 0; j < n; j++) v[j] = whole(w[j]);
}

// store narrows n adjacent elements to a dtype; 8 and 16 bits go through float.
template <int n, class W> DEVICE void store(u32 to, void *dst, i64 at, const W *w) {
	switch (to) {
	case Float64: {
		double v[n];
		as<n>(v, w);
		stow<n, double>(dst, at, v);
		return;
	}
	case Bool: stow<n, flag>(dst, at, w); return;
	case Int64: case Int32: case Int16: case Int8: case Uint8: {
		i64 v[n];
		asWhole<n>(v, w);
		switch (to) {
		case Int64: stow<n, i64>(dst, at, v); return;
		case Int32: stow<n, i32>(dst, at, v); return;
		case Int16: stow<n, i16>(dst, at, v); return;
		case Int8: stow<n, i8>(dst, at, v); return;
		}
		stow<n, u8>(dst, at, v);
		return;
	}
	}
	float v[n];
	as<n>(v, w);
	switch (to) {
	case Float32: stow<n, float>(dst, at, v); return;
	case Float16: stow<n, f16>(dst, at, v); return;
	case Bfloat16: stow<n, bf16>(dst, at, v); return;
	case Float8E4m3fn: stow<n, e4m3>(dst, at, v); return;
	case Float8E5m2: stow<n, e5m2>(dst, at, v); return;
	}
}

// convert copies n adjacent elements.
template <int n> DEVICE void convert(u32 from, u32 to, void *dst, i64 into, const void *src, i64 at) {
	switch (from) {
	case Float64: {
		double w[n];
		fetch<n, double>(w, src, at);
		store<n>(to, dst, into, w);
		return;
	}
	case Int64: case Int32: case Int16: case Int8: case Uint8: case Bool: {
		i64 w[n];
		switch (from) {
		case Int64: fetch<n, i64>(w, src, at); break;
		case Int32: fetch<n, i32>(w, src, at); break;
		case Int16: fetch<n, i16>(w, src, at); break;
		case Int8: fetch<n, i8>(w, src, at); break;
		case Uint8: fetch<n, u8>(w, src, at); break;
		default: fetch<n, flag>(w, src, at);
		}
		store<n>(to, dst, into, w);
		return;
	}
	}
	float w[n];
	switch (from) {
	case Float32: fetch<n, float>(w, src, at); break;
	case Float16: fetch<n, f16>(w, src, at); break;
	case Bfloat16: fetch<n, bf16>(w, src, at); break;
	case Float8E4m3fn: fetch<n, e4m3>(w, src, at); break;
	default: fetch<n, e5m2>(w, src, at);
	}
	store<n>(to, dst, into, w);
}

// convert_packs converts n packs of eight adjacent elements, which axes count as one element, and
// the last rest elements of contiguous views.
KERNEL convert_packs(u32 from, u32 to, i64 n, u32 rest, void *dst, const void *src, Axes axes) {
	i64 first = (i64)BLOCK * THREADS + THREAD, step = (i64)BLOCKS * THREADS;
	for (i64 i = first; i < n; i += step) convert<8>(from, to, dst, place<0>(axes, i), src, place<1>(axes, i));
	if (first < rest) convert<1>(from, to, dst, n * 8 + first, src, n * 8 + first);
}

KERNEL convert_strided(u32 from, u32 to, u32 n, void *dst, const void *src, Axes axes) {
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) convert<1>(from, to, dst, place<0>(axes, i), src, place<1>(axes, i));
}

typedef u64 u128 __attribute__((ext_vector_type(2)));

// Turn describes two exchanged axes: rows are adjacent in src, columns in dst.
struct Turn {
	u32 rows, columns;
	i64 row[2], column[2]; // strides in dst and src
};

// tile returns a tile's first row and column, and moves dst and src to its image.
DEVICE void tile(const Turn &t, const Axes &others, u32 *row, u32 *column, i64 *into, i64 *at) {
	u32 down = (t.rows + 31) / 32, along = (t.columns + 31) / 32, image = BLOCK / (down * along), i = BLOCK % (down * along);
	*row = i / along * 32;
	*column = i % along * 32;
	*into = place<0>(others, image) + *row * t.row[0] + *column * t.column[0];
	*at = place<1>(others, image) + *row * t.row[1] + *column * t.column[1];
}

#define COPY(T, name)                                                                                          \
	KERNEL copy_##name(u32 n, T *dst, const T *src, Axes axes) {                                               \
		u32 step = BLOCKS * THREADS;                                                                           \
		for (u64 i = BLOCK * THREADS + THREAD; i < n; i += 4ull * step) {                                      \
			T v[4];                                                                                            \
			_Pragma("unroll") for (u32 j = 0; j < 4; j++) v[j] = src[place<1>(axes, i + j * step < n ? i + j * step : i)]; \
			_Pragma("unroll") for (u32 j = 0; j < 4; j++) if (i + j * step < n) dst[place<0>(axes, i + j * step)] = v[j];  \
		}                                                                                                      \
	}

#define TURN(T, name)                                                                                          \
	KERNEL turn_##name(T *dst, const T *src, Turn t, Axes others) {                                            \
		SHARED static T image[32][33];                                                                         \
		u32 row, column, x = THREAD % 32, y = THREAD / 32;                                                     \
		i64 into, at;                                                                                          \
		tile(t, others, &row, &column, &into, &at);                                                            \
		_Pragma("unroll") for (u32 j = y; j < y + 32; j += 8)                                                  \
			if (row + x < t.rows && column + j < t.columns) image[j][x] = src[at + x * t.row[1] + j * t.column[1]]; \
		BARRIER();                                                                                             \
		_Pragma("unroll") for (u32 j = y; j < y + 32; j += 8)                                                  \
			if (row + j < t.rows && column + x < t.columns) dst[into + j * t.row[0] + x * t.column[0]] = image[x][j]; \
	}

COPY(u8, 1)
COPY(u16, 2)
COPY(u32, 4)
COPY(u64, 8)
COPY(u128, 16)
TURN(u8, 1)
TURN(u16, 2)
TURN(u32, 4)
TURN(u64, 8)

// move copies one element of 1, 2, 4 or 8 bytes.
DEVICE void move(u32 size, void *dst, i64 into, const void *src, i64 at) {
	switch (size) {
	case 1: ((u8 *)dst)[into] = ((const u8 *)src)[at]; break;
	case 2: ((u16 *)dst)[into] = ((const u16 *)src)[at]; break;
	case 4: ((u32 *)dst)[into] = ((const u32 *)src)[at]; break;
	default: ((u64 *)dst)[into] = ((const u64 *)src)[at];
	}
}

// turn_convert converts while copying: a tile holds elements of dst's dtype, of size bytes.
KERNEL turn_convert(u32 from, u32 to, u32 size, void *dst, const void *src, Turn t, Axes others) {
	SHARED static u64 image[32 * 33];
	u32 row, column, x = THREAD % 32, y = THREAD / 32;
	i64 into, at;
	tile(t, others, &row, &column, &into, &at);
	for (u32 j = y; j < y + 32; j += 8)
		if (row + x < t.rows && column + j < t.columns) convert<1>(from, to, image, j * 33 + x, src, at + x * t.row[1] + j * t.column[1]);
	BARRIER();
	for (u32 j = y; j < y + 32; j += 8)
		if (row + j < t.rows && column + x < t.columns) move(size, dst, into + j * t.row[0] + x * t.column[0], image, x * 33 + j);
}

// number stores a number as a dtype.
DEVICE void number(u32 to, void *dst, double real, i64 integer) {
	if (to >= Int64) store<1>(to, dst, 0, &integer);
	else store<1>(to, dst, 0, &real);
}

// fill sets n contiguous elements of size bytes, fill_strided those of any view.
KERNEL fill(u32 to, u32 size, double real, i64 integer, i64 n, u8 *dst) {
	SHARED static u64 word;
	if (THREAD == 0) {
		word = 0;
		number(to, &word, real, integer);
		u64 x = word;
		if (size == 1) x = (x & 0xff) * 0x0101010101010101;
		if (size == 2) x = (x & 0xffff) * 0x0001000100010001;
		if (size == 4) x = (x & 0xffffffff) * 0x0000000100000001;
		word = x;
	}
	BARRIER();
	u64 x = word;
	i64 head = (i64)(-(u64)dst & 15) / size, first = (i64)BLOCK * THREADS + THREAD, step = (i64)BLOCKS * THREADS;
	if (head > n) head = n;
	i64 words = (n - head) * size / 16, tail = head + words * (16 / size);
	u128 both = {x, x};
	for (i64 i = first; i < words; i += step) ((u128 *)(dst + head * size))[i] = both;
	if (first < head) move(size, dst, first, &x, 0);
	if (first < n - tail) move(size, dst, tail + first, &x, 0);
}

KERNEL fill_strided(u32 to, u32 size, double real, i64 integer, u32 n, void *dst, Axes axes) {
	SHARED static u64 word;
	if (THREAD == 0) {
		word = 0;
		number(to, &word, real, integer);
	}
	BARRIER();
	u64 x = word;
	for (u32 i = BLOCK * THREADS + THREAD; i < n; i += BLOCKS * THREADS) move(size, dst, place<0>(axes, i), &x, 0);
}
