// One warp multiplies tiles on tensor cores: sm_80.

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define TX __nvvm_read_ptx_sreg_tid_x()
typedef unsigned u32;
typedef unsigned short u16;
typedef unsigned long long u64;

#define MMA(name, type) \
	extern "C" __global__ void name(float *c, const u16 *a, const u16 *b, u32 k) { \
		__shared__ __attribute__((aligned(16))) u16 sa[16 * 24], sb[16 * 24]; \
		float d0 = 0, d1 = 0, d2 = 0, d3 = 0; \
		for (u32 k0 = 0; k0 < k; k0 += 16) { \
			/* A is (16,k), B is (k,8) */ \
			u32 pa, pb; \
			asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(pa) : "l"(sa)); \
			asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(pb) : "l"(sb)); \
			u32 row = TX >> 1, half = TX & 1, left = k - k0 > half * 8 ? (k - k0 - half * 8) * 2 : 0; \
			left = left < 16 ? left : 16; \
			asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(pa + row * 48 + half * 16), "l"(a + (u64)row * k + k0 + half * 8), "r"(left) : "memory"); \
			u32 valid = k0 + TX < k ? 16 : 0; \
			if (TX < 16) \
				asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(pb + TX * 48), "l"(b + (u64)(k0 + TX) * 8), "r"(valid) : "memory"); \
			asm volatile("cp.async.commit_group;" ::: "memory"); \
			asm volatile("cp.async.wait_group 0;" ::: "memory"); \
			__nvvm_bar_sync(0); \
			u32 a0, a1, a2, a3, b0, b1; \
			asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(pa + (TX & 15) * 48 + (TX >> 4) * 16) : "memory"); \
			asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(b0), "=r"(b1) : "r"(pb + (TX & 15) * 48) : "memory"); \
			asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
				: "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1)); \
			__nvvm_bar_sync(0); \
		} \
		u32 g = TX / 4, q = TX % 4 * 2; \
		c[g * 8 + q] = d0, c[g * 8 + q + 1] = d1, c[(g + 8) * 8 + q] = d2, c[(g + 8) * 8 + q + 1] = d3; \
	}

MMA(mma_f16, "f16")
MMA(mma_bf16, "bf16")

// tf32, k = 8
extern "C" __global__ void mma_tf32(float *c, const float *a, const float *b) {
	float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
	u32 g = TX / 4, q = TX % 4, x[4], y[2];
	float va[4] = {a[g * 8 + q], a[(g + 8) * 8 + q], a[g * 8 + q + 4], a[(g + 8) * 8 + q + 4]};
	float vb[2] = {b[q * 8 + g], b[(q + 4) * 8 + g]};
	for (int i = 0; i < 4; i++)
		asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x[i]) : "f"(va[i]));
	for (int i = 0; i < 2; i++)
		asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y[i]) : "f"(vb[i]));
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		: "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
	c[g * 8 + q * 2] = d0, c[g * 8 + q * 2 + 1] = d1, c[(g + 8) * 8 + q * 2] = d2, c[(g + 8) * 8 + q * 2 + 1] = d3;
}
