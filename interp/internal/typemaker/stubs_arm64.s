#include "textflag.h"
#include "stubs.h"

// STUB loads the closure of its slot into R26, where a function expects its closure, and jumps to the
// closure's code. R20 has no meaning at the entry of a function: makeFuncStub writes it first.
#define STUB(i) \
	MOVD ·slots+((i)*8)(SB), R26; \
	MOVD (R26), R20; \
	JMP (R20); \
	PCALIGN $16;

// func code()
TEXT ·code(SB), NOSPLIT|NOFRAME, $0-0
	STUBS

// func firstStub() unsafe.Pointer
TEXT ·firstStub(SB), NOSPLIT, $0-8
	MOVD $·code(SB), R0
	MOVD R0, ret+0(FP)
	RET
