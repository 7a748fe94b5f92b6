// Sums, products and extremes of elements summed in float32.
#include "fold.cuh"

FOLD(f16, 4, float16)
FOLD(bf16, 4, bfloat16)
FOLD(float, 4, float32)
FOLD_JOINTS(float, float32)
