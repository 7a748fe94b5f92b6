// Matrix products of float16 without tensor cores.
#include "gemm_simt.cuh"

SIMT(gemm_128, f16, 128, 128, 8)
SIMT(gemm_64, f16, 64, 64, 4)
SLICES(slices, f16)
