// Matrix products of float32 without tensor cores.
#include "gemm_simt.cuh"

SIMT(gemm_128, float, 128, 128, 8)
SIMT(gemm_64, float, 64, 64, 4)
SLICES(slices, float)
