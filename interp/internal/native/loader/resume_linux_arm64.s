#include "textflag.h"

// func callOld(entry uintptr, argument unsafe.Pointer)
TEXT ·callOld(SB), NOSPLIT, $16-16
	MOVD entry+0(FP), R0
	MOVD argument+8(FP), R1
	MOVD R1, 8(RSP)
	BL   (R0)
	RET
