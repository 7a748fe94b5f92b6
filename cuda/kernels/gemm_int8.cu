// Matrix products of int8.
#include "gemm_simt.cuh"

SIMT(gemm_64, i8, 64, 64, 4)
SLICES(slices, i8)
