#include "softmax.cuh"

SOFTMAX(float, float32)
