#include "moments.cuh"
STATISTICS(float, 4, float, float32)
