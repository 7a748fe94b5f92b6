// sm_80
// Attention in bfloat16 for heads of up to 128.
#include "attention_grad.cuh"
#include "attention_result.cuh"

ATTEND(bf16, 128, 1)
ATTEND_GRAD(bf16, 128, 32)
