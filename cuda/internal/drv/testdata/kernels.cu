// The kernels of package drv's tests; kernels.ptx is what clang makes of them:
//
//	clang-16 -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx70 \
//		-nocudainc -nocudalib -O3 -S -o kernels.ptx kernels.cu

#define kernel extern "C" __attribute__((global)) void

typedef unsigned long long u64;

struct pair { unsigned x, y; };

// k848848 adds its parameters' bits, of as many bytes as its name says, and tells
// the launch's shape.
kernel k848848(u64 *out, unsigned a, u64 b, u64 c, unsigned d, pair e) {
	if (__nvvm_read_ptx_sreg_tid_x() || __nvvm_read_ptx_sreg_tid_y() || __nvvm_read_ptx_sreg_tid_z() ||
	    __nvvm_read_ptx_sreg_ctaid_x() || __nvvm_read_ptx_sreg_ctaid_y() || __nvvm_read_ptx_sreg_ctaid_z())
		return;
	out[0] = a + b + c + d + e.x + ((u64)e.y << 32);
	out[1] = __nvvm_read_ptx_sreg_nctaid_x();
	out[2] = __nvvm_read_ptx_sreg_nctaid_y();
	out[3] = __nvvm_read_ptx_sreg_nctaid_z();
	out[4] = __nvvm_read_ptx_sreg_ntid_x();
	out[5] = __nvvm_read_ptx_sreg_ntid_y();
	out[6] = __nvvm_read_ptx_sreg_ntid_z();
}

kernel increment(unsigned *p) { (*p)++; }

// large uses dynamic shared memory, n words of it.
kernel large(unsigned *out, unsigned n) {
	extern __attribute__((shared)) unsigned words[];
	words[n - 1] = n;
	*out = words[n - 1];
}

kernel fault(unsigned *p) { *p = 1; }
