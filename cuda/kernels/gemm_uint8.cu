// Matrix products of uint8.
#include "gemm_simt.cuh"

SIMT(gemm_64, u8, 64, 64, 4)
SLICES(slices, u8)
