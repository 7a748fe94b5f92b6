#include "textflag.h"

// func synchronizeCaches(text, writable *byte, n int)
TEXT ·synchronizeCaches(SB), NOSPLIT, $0-24
	MOVD text+0(FP), R0
	MOVD writable+8(FP), R1
	MOVD n+16(FP), R2
	ADD  R0, R2, R3 // end of text
	ADD  R1, R2, R4 // end of writable
	MRS  CTR_EL0, R5
	MOVD $4, R6
	UBFX $16, R5, $4, R7
	LSL  R7, R6, R7 // bytes in a line of the data cache
	AND  $15, R5, R8
	LSL  R8, R6, R8 // bytes in a line of the instruction cache
	SUB  $1, R7, R9
	BIC  R9, R1
	SUB  $1, R8, R9
	BIC  R9, R0

clean:
	DC   CVAU, R1
	ADD  R7, R1
	CMP  R4, R1
	BLO  clean
	DSB  $11 // inner shareable

invalidate:
	WORD $0xd50b7520 // IC IVAU, R0
	ADD  R8, R0
	CMP  R3, R0
	BLO  invalidate
	DSB  $11
	ISB  $15
	RET
