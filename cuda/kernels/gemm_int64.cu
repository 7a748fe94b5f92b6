// Matrix products of int64.
#include "gemm_simt.cuh"

SIMT(gemm_64, i64, 64, 64, 4)
SLICES(slices, i64)
