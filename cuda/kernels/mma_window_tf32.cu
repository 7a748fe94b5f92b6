// sm_80
// Matrix products of TF32 by tensor cores, of operands that can be copied by 16 bytes and
// whose k has several axes.
#include "gemm_mma.cuh"

MMA(TILES, windowed, tf32)
MMA(LONG_TILES, windowed, tf32)
