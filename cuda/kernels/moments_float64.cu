#include "moments.cuh"
STATISTICS(double, 2, double, float64)
