// Matrix products of bfloat16 without tensor cores.
#include "gemm_simt.cuh"

SIMT(gemm_128, bf16, 128, 128, 8)
SIMT(gemm_64, bf16, 64, 64, 4)
SLICES(slices, bf16)
