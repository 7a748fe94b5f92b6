// Matrix products of int16.
#include "gemm_simt.cuh"

SIMT(gemm_64, i16, 64, 64, 4)
SLICES(slices, i16)
