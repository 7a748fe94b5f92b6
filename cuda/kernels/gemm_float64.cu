// Matrix products of float64 without tensor cores.
#include "gemm_simt.cuh"

SIMT(gemm_64, double, 64, 64, 4)
SLICES(slices, double)
