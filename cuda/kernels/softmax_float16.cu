#include "softmax.cuh"

SOFTMAX(f16, float16)
