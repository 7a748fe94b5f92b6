#include "textflag.h"

// func word(offset uintptr) uint64
TEXT ·word(SB), NOSPLIT, $0-16
	MOVD offset+0(FP), R0
	MOVD (g)(R0), R0
	MOVD R0, ret+8(FP)
	RET

// func address() uintptr
TEXT ·address(SB), NOSPLIT, $0-8
	MOVD g, ret+0(FP)
	RET
