//go:build !android

#include "textflag.h"
#include "stubs.h"

// STUB loads the closure of its slot into DX, where a function expects its closure, and jumps to the
// closure's code. Arguments are on the stack, so that AX is free.
#define STUB(i) \
	MOVL ·slots+((i)*4)(SB), DX; \
	MOVL (DX), AX; \
	JMP AX; \
	PCALIGN $16;

// func code()
TEXT ·code(SB), NOSPLIT|NOFRAME, $0-0
	STUBS

// func firstStub() unsafe.Pointer
TEXT ·firstStub(SB), NOSPLIT, $0-4
	LEAL ·code(SB), AX
	MOVL AX, ret+0(FP)
	RET
