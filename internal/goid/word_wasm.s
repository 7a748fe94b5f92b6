#include "textflag.h"

// func word(offset uintptr) uint64
TEXT ·word(SB), NOSPLIT, $0-16
	MOVD offset+0(FP), R0
	Get SP
	Get g
	Get R0
	I64Add
	I32WrapI64
	I64Load $0
	I64Store ret+8(FP)
	RET

// func address() uintptr
TEXT ·address(SB), NOSPLIT, $0-8
	MOVD g, R0
	MOVD R0, ret+0(FP)
	RET
