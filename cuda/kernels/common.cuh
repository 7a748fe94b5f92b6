// Code shared by all kernels: element types, conversions, thread indices. CUDA C for clang,
// without NVIDIA headers.
#pragma once
#include "zcodes.cuh"

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

// Kernels run in blocks of at most 256 threads unless stated otherwise.
#define KERNEL extern "C" __attribute__((global)) __attribute__((launch_bounds(256))) void
#define KERNEL_OF(threads) extern "C" __attribute__((global)) __attribute__((launch_bounds(threads))) void
#define DEVICE static inline __attribute__((device, always_inline))
#define METHOD inline __attribute__((device, always_inline))
#define SHARED __attribute__((shared))

#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define THREADS __nvvm_read_ptx_sreg_ntid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define BLOCK_Z __nvvm_read_ptx_sreg_ctaid_z()
#define BLOCKS __nvvm_read_ptx_sreg_nctaid_x()
#define LANE (THREAD & 31)
#define BARRIER() __nvvm_bar_sync(0)

// Storage types that C lacks. Integers of all sizes and bool are computed in i64, half precision
// in float.
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct e4m3 { u8 bits; };
struct e5m2 { u8 bits; };
struct flag { u8 bits; }; // bool

template <class T> struct Wide { typedef T type; };
template <> struct Wide<f16> { typedef float type; };
template <> struct Wide<bf16> { typedef float type; };
template <> struct Wide<i32> { typedef i64 type; };
template <> struct Wide<i16> { typedef i64 type; };
template <> struct Wide<i8> { typedef i64 type; };
template <> struct Wide<u8> { typedef i64 type; };
template <> struct Wide<flag> { typedef i64 type; };

DEVICE float as_float(u32 x) { return __builtin_bit_cast(float, x); }
DEVICE u32 as_bits(float x) { return __builtin_bit_cast(u32, x); }
DEVICE double as_double(u64 x) { return __builtin_bit_cast(double, x); }
DEVICE u64 as_bits(double x) { return __builtin_bit_cast(u64, x); }

DEVICE float widen(f16 x) {
	float y;
	asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
	return y;
}
DEVICE float widen(bf16 x) { return as_float((u32)x.bits << 16); }
DEVICE float widen(float x) { return x; }
DEVICE double widen(double x) { return x; }
DEVICE i64 widen(i64 x) { return x; }
DEVICE i64 widen(i32 x) { return x; }
DEVICE i64 widen(i16 x) { return x; }
DEVICE i64 widen(i8 x) { return x; }
DEVICE i64 widen(u8 x) { return x; }
DEVICE i64 widen(flag x) { return x.bits != 0; }

// narrow rounds to nearest even; integers wrap around.
DEVICE void narrow(f16 &y, float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); }
DEVICE void narrow(bf16 &y, float x) {
	u32 b = as_bits(x);
	y.bits = x != x ? (u16)(b >> 16 | 0x40) : (u16)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}
DEVICE void narrow(float &y, float x) { y = x; }
DEVICE void narrow(double &y, double x) { y = x; }
DEVICE void narrow(i64 &y, i64 x) { y = x; }
DEVICE void narrow(i32 &y, i64 x) { y = (i32)x; }
DEVICE void narrow(i16 &y, i64 x) { y = (i16)x; }
DEVICE void narrow(i8 &y, i64 x) { y = (i8)x; }
DEVICE void narrow(u8 &y, i64 x) { y = (u8)x; }
DEVICE void narrow(flag &y, i64 x) { y.bits = x != 0; }
DEVICE void narrow(flag &y, float x) { y.bits = x != 0; }
DEVICE void narrow(flag &y, double x) { y.bits = x != 0; }

// put stores a result, computed in float, double or i64, as the dtype requires.
DEVICE void put(u32 dtype, void *p, i64 at, float x) {
	switch (dtype) {
	case Float16: narrow(((f16 *)p)[at], x); break;
	case Bfloat16: narrow(((bf16 *)p)[at], x); break;
	default: ((float *)p)[at] = x;
	}
}
DEVICE void put(u32 dtype, void *p, i64 at, double x) { ((double *)p)[at] = x; }
DEVICE void put(u32 dtype, void *p, i64 at, i64 x) {
	switch (dtype) {
	case Int32: narrow(((i32 *)p)[at], x); break;
	case Int16: narrow(((i16 *)p)[at], x); break;
	case Int8: narrow(((i8 *)p)[at], x); break;
	case Uint8: narrow(((u8 *)p)[at], x); break;
	case Bool: narrow(((flag *)p)[at], x); break;
	default: ((i64 *)p)[at] = x;
	}
}

// largest and smallest propagate NaN; 0 is larger than -0, as in PTX's max and min, which prefer
// numbers to NaN.
DEVICE float largest(float x, float y) { return x == x && y == y ? __builtin_fmaxf(x, y) : x + y; }
DEVICE float smallest(float x, float y) { return x == x && y == y ? __builtin_fminf(x, y) : x + y; }
DEVICE double largest(double x, double y) { return x == x && y == y ? __builtin_fmax(x, y) : x + y; }
DEVICE double smallest(double x, double y) { return x == x && y == y ? __builtin_fmin(x, y) : x + y; }
DEVICE i64 largest(i64 x, i64 y) { return x > y ? x : y; }
DEVICE i64 smallest(i64 x, i64 y) { return x < y ? x : y; }

// Pack holds the elements of one 16-byte load.
template <class T> struct __attribute__((aligned(16))) Pack {
	static const int count = 16 / sizeof(T);
	T at[16 / sizeof(T)];
};

// Divider divides numbers below 2^31 by a constant, with a product and a shift: Granlund and
// Montgomery, Division by invariant integers using multiplication, 1994.
struct Divider {
	u32 by, factor, shift;
	METHOD u32 quotient(u32 n) const { return (u32)(((u64)n * factor >> 32) + n) >> shift; }
};

// Axes maps row-major indices below 2^31 to elements of up to four views. The last axis varies
// fastest.
struct Axes {
	u32 rank;
	Divider size[8];
	i64 stride[4][8]; // in elements; the result's first
};

// offsets sets at[v] to the position of element i of view v. A is Axes or a similar type for more
// views.
template <int views, class A> DEVICE void offsets(const A &a, u32 i, i64 *at) {
	for (int v = 0; v < views; v++) at[v] = 0;
#pragma unroll
	for (int axis = 7; axis > 0; axis--) {
		if (axis >= a.rank) continue;
		u32 q = a.size[axis].quotient(i), r = i - q * a.size[axis].by;
		for (int v = 0; v < views; v++) at[v] += r * a.stride[v][axis];
		i = q;
	}
	for (int v = 0; v < views; v++) at[v] += i * a.stride[v][0];
}

// place returns the position of element i of a view.
template <int view> DEVICE i64 place(const Axes &a, i64 i) {
	if (a.rank == 1) return i * a.stride[view][0];
	u32 n = (u32)i;
	i64 at = 0;
#pragma unroll 1
	for (u32 axis = a.rank - 1; axis > 0; axis--) {
		u32 q = a.size[axis].quotient(n);
		at += (n - q * a.size[axis].by) * a.stride[view][axis];
		n = q;
	}
	return at + n * a.stride[view][0];
}
