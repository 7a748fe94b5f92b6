// sm_80
// Attention in float16 for heads of up to 64.
#include "attention_grad.cuh"
#include "attention_result.cuh"

ATTEND(f16, 64, 2)
ATTEND_GRAD(f16, 64, 64)
