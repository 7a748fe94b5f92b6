#include "softmax.cuh"

SOFTMAX(bf16, bfloat16)
