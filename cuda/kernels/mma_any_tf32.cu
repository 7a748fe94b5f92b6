// sm_80
// Matrix products of TF32 by tensor cores, of operands of any strides.
#include "gemm_mma.cuh"

MMA(gathered, 1, tf32)
