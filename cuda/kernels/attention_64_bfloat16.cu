// sm_80
// Attention in bfloat16 for heads of up to 64.
#include "attention_grad.cuh"
#include "attention_result.cuh"

ATTEND(bf16, 64, 2)
ATTEND_GRAD(bf16, 64, 64)
