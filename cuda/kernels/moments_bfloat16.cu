#include "moments.cuh"
STATISTICS(bf16, 4, float, bfloat16)
