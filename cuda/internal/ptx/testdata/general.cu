// Kernels for which clang emits most of the instructions of ordinary kernels.

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define TX __nvvm_read_ptx_sreg_tid_x()
#define BX __nvvm_read_ptx_sreg_ctaid_x()
#define NX __nvvm_read_ptx_sreg_ntid_x()
#define GX __nvvm_read_ptx_sreg_nctaid_x()
typedef unsigned u32;
typedef unsigned short u16;
typedef unsigned long long u64;
typedef long long i64;

// y += a x, four elements at a time where possible
extern "C" __global__ void saxpy(float *__restrict y, const float *__restrict x, float a, i64 n) {
	typedef float f4 __attribute__((ext_vector_type(4)));
	i64 i = ((i64)BX * NX + TX) * 4;
	if (i + 4 <= n) {
		f4 u = *(const f4 *)(x + i), v = *(f4 *)(y + i);
		*(f4 *)(y + i) = v + a * u;
		return;
	}
	for (; i < n; i++)
		y[i] += a * x[i];
}

// sum of each row, one block per row: shuffles, then shared memory
extern "C" __global__ void row_sum(float *y, const float *x, u32 cols) {
	__shared__ float part[32];
	float s = 0;
	for (u32 i = TX; i < cols; i += NX)
		s += x[(u64)BX * cols + i];
	for (int o = 16; o; o >>= 1)
		s += __nvvm_shfl_sync_bfly_f32(~0u, s, o, 31);
	if ((TX & 31) == 0)
		part[TX / 32] = s;
	__nvvm_bar_sync(0);
	if (TX < 32) {
		s = TX < (NX + 31) / 32 ? part[TX] : 0;
		for (int o = 16; o; o >>= 1)
			s += __nvvm_shfl_sync_down_f32(~0u, s, o, 31);
		if (TX == 0)
			y[BX] = s;
	}
}

// transpose in tiles of dynamic shared memory
extern __attribute__((shared)) float dynamic_tile[];
extern "C" __global__ void transpose(float *y, const float *x, u32 rows, u32 cols) {
	u32 tx = TX, ty = __nvvm_read_ptx_sreg_tid_y(), by = __nvvm_read_ptx_sreg_ctaid_y();
	u32 c = BX * 16 + tx, r = by * 16 + ty;
	if (r < rows && c < cols)
		dynamic_tile[ty * 17 + tx] = x[(u64)r * cols + c];
	__nvvm_bar_sync(0);
	r = by * 16 + tx, c = BX * 16 + ty;
	if (r < rows && c < cols)
		y[(u64)c * rows + r] = dynamic_tile[tx * 17 + ty];
}

// a struct parameter by value, with an array indexed by a variable
struct Shape {
	int rank;
	int size[6];
	i64 stride[6];
	double scale;
	signed char flags[3];
};
extern "C" __global__ void strided(float *y, const float *x, struct Shape s, u32 n) {
	u32 i = BX * NX + TX;
	if (i >= n)
		return;
	i64 at = 0;
	u32 left = i;
	for (int d = s.rank - 1; d >= 0; d--) {
		at += (i64)(left % (u32)s.size[d]) * s.stride[d];
		left /= (u32)s.size[d];
	}
	y[i] = (float)(x[at] * s.scale) + s.flags[i % 3];
}

// divergent branches, a branch table, a called device function, local memory
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ u32 counters[4];
__device__ __attribute__((noinline)) int collatz(i64 n, int most) {
	int steps = 0;
	while (n != 1 && steps < most) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}
extern "C" __global__ void branches(int *y, u32 n) {
	u32 i = BX * NX + TX;
	if (i >= n)
		return;
	int v, local[16];
	for (int k = 0; k < 16; k++)
		local[k] = (int)i * k;
	switch (i % 7) {
	case 0: v = collatz(i + 1, 1000); break;
	case 1: v = local[(i / 7) & 15]; break;
	case 2: v = table[i & 7]; break;
	case 3: v = (int)i / -3; break;
	case 4: v = (int)(i * 2654435761u >> 7) % 1000; break;
	case 5: v = __builtin_popcount(i) + __builtin_clz(i + 1) * 100; break;
	default: v = -(int)i;
	}
	y[i] = v;
	__nvvm_atom_add_gen_i((int *)&counters[i & 3], 1);
}

// sums with atomics in shared and global memory
extern "C" __global__ void histogram(u32 *bins, float *total, const unsigned char *x, u32 n) {
	__shared__ u32 mine[256];
	for (u32 i = TX; i < 256; i += NX)
		mine[i] = 0;
	__nvvm_bar_sync(0);
	for (u32 i = BX * NX + TX; i < n; i += NX * GX)
		__atomic_fetch_add(&mine[x[i]], 1u, __ATOMIC_RELAXED);
	__nvvm_bar_sync(0);
	for (u32 i = TX; i < 256; i += NX)
		if (mine[i])
			__atomic_fetch_add(&bins[i], mine[i], __ATOMIC_RELAXED);
	if (TX == 0)
		__nvvm_atom_add_gen_f(total, 1.0f);
}

// float16 operands and results
extern "C" __global__ void halves(u16 *y, const u16 *x, float a, u32 n) {
	u32 i = BX * NX + TX;
	if (i >= n)
		return;
	float f;
	u16 h = x[i];
	asm("cvt.f32.f16 %0,%1;" : "=f"(f) : "h"(h));
	f = f * a + 1.0f;
	asm("cvt.rn.f16.f32 %0,%1;" : "=h"(h) : "f"(f));
	y[i] = h;
}

// Euclid's algorithm: loops of different lengths, 64-bit division
extern "C" __global__ void gcd(u64 *y, const u64 *a, const u64 *b, u32 n) {
	u32 i = BX * NX + TX;
	if (i >= n)
		return;
	u64 p = a[i], q = b[i];
	while (q) {
		u64 r = p % q;
		p = q;
		q = r;
	}
	y[i] = p;
}

// double precision
extern "C" __global__ void doubles(double *y, const double *x, u32 n) {
	u32 i = BX * NX + TX;
	if (i < n) {
		double v = x[i];
		y[i] = __builtin_fabs(v) > 2 ? __nvvm_sqrt_rn_d(__builtin_fabs(v)) / 3 : __builtin_fma(v, v, -1.0);
	}
}

// mistakes that checks must find
extern "C" __global__ void past_the_end(float *y, u32 n) { y[BX * NX + TX] = n; }
extern "C" __global__ void misaligned(char *y) { *(float *)(y + 2 + TX * 4) = 1; }
extern "C" __global__ void half_barrier(float *y) {
	if (TX < 32)
		__nvvm_bar_sync(0);
	else
		__nvvm_bar_sync(1);
	y[TX] = 1;
}
extern "C" __global__ void racy(float *y) {
	__shared__ float s[64];
	s[TX] = TX;
	__nvvm_bar_sync(0);
	s[TX] = s[63 - TX] + 1;
	__nvvm_bar_sync(0);
	y[TX] = s[TX];
}
extern "C" __global__ void unset(float *y) {
	__shared__ volatile float s[64];
	if (TX)
		s[TX] = TX;
	__nvvm_bar_sync(0);
	y[TX] = s[TX];
}
extern "C" __global__ void endless(volatile int *y) {
	while (*y)
		;
}
