// sm_80
// Matrix products of float16 by tensor cores, of operands that can be copied by 16 bytes.
#include "gemm_mma.cuh"

MMA(pipelined, 2, f16)
