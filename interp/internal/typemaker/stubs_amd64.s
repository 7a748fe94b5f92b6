#include "textflag.h"
#include "stubs.h"

// STUB loads the closure of its slot into DX, where a function expects its closure, and jumps to the
// closure's code. R12 has no meaning at the entry of a function: makeFuncStub writes it first.
#define STUB(i) \
	MOVQ ·slots+((i)*8)(SB), DX; \
	MOVQ (DX), R12; \
	JMP R12; \
	PCALIGN $16;

// func code()
TEXT ·code(SB), NOSPLIT|NOFRAME, $0-0
	STUBS

// func firstStub() unsafe.Pointer
TEXT ·firstStub(SB), NOSPLIT, $0-8
	LEAQ ·code(SB), AX
	MOVQ AX, ret+0(FP)
	RET
