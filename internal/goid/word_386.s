#include "textflag.h"

// func word(offset uintptr) uint64
TEXT ·word(SB), NOSPLIT, $0-12
	MOVL (TLS), AX
	ADDL offset+0(FP), AX
	MOVL (AX), CX
	MOVL CX, ret_lo+4(FP)
	MOVL 4(AX), CX
	MOVL CX, ret_hi+8(FP)
	RET

// func address() uintptr
TEXT ·address(SB), NOSPLIT, $0-4
	MOVL (TLS), AX
	MOVL AX, ret+0(FP)
	RET
