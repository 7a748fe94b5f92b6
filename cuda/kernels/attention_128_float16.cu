// sm_80
// Attention in float16 for heads of up to 128.
#include "attention_grad.cuh"
#include "attention_result.cuh"

ATTEND(f16, 128, 1)
ATTEND_GRAD(f16, 128, 32)
