#include "textflag.h"

// func word(offset uintptr) uint64
TEXT ·word(SB), NOSPLIT, $0-16
	MOV offset+0(FP), X5
	ADD g, X5
	MOV (X5), X5
	MOV X5, ret+8(FP)
	RET

// func address() uintptr
TEXT ·address(SB), NOSPLIT, $0-8
	MOV g, ret+0(FP)
	RET
