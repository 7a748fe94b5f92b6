#include "moments.cuh"
STATISTICS(f16, 4, float, float16)
