// sm_80
// Matrix products of TF32 by tensor cores, of operands that can be copied by 16 bytes and
// whose k has several axes; A lies along its lines.
#include "gemm_mma.cuh"

WINDOWS(tf32, l, false)
