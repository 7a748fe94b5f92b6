#include "textflag.h"

// func frames(pcs []uintptr) int
//
// Nothing is called and nothing moves the stack meanwhile.
TEXT ·frames(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ pcs_base+0(FP), DI
	MOVQ pcs_len+8(FP), CX
	MOVQ BP, SI
	XORQ AX, AX
loop:
	TESTQ SI, SI
	JZ done
	CMPQ AX, CX
	JGE done
	MOVQ 8(SI), DX
	MOVQ DX, (DI)(AX*8)
	INCQ AX
	MOVQ (SI), SI
	JMP loop
done:
	MOVQ AX, ret+24(FP)
	RET
