// Positions of extremes of elements computed in float32.
#include "extreme.cuh"

EXTREME(f16, 4, float16)
EXTREME(bf16, 4, bfloat16)
EXTREME(float, 4, float32)
EXTREME_JOINTS(float, float32)
