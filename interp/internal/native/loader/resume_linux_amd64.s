#include "textflag.h"

// func callOld(entry uintptr, argument unsafe.Pointer)
TEXT ·callOld(SB), NOSPLIT, $8-16
	MOVQ entry+0(FP), AX
	MOVQ argument+8(FP), BX
	MOVQ BX, 0(SP)
	CALL AX
	RET
