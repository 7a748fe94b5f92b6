// Matrix products of int32.
#include "gemm_simt.cuh"

SIMT(gemm_64, i32, 64, 64, 4)
SLICES(slices, i32)
