// sm_80
// Attention in float16 for heads of up to 32.
#include "attention_grad.cuh"
#include "attention_result.cuh"

ATTEND(f16, 32, 2)
ATTEND_GRAD(f16, 32, 64)
