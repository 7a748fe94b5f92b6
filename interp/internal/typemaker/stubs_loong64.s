#include "textflag.h"
#include "stubs.h"

// STUB loads the closure of its slot into REGCTXT (R29), where a function expects its closure, and jumps
// to the closure's code. R25 has no meaning at the entry of a function: makeFuncStub writes it first.
#define STUB(i) \
	MOVV ·slots+((i)*8)(SB), R29; \
	MOVV (R29), R25; \
	JMP (R25); \
	PCALIGN $16;

// func code()
TEXT ·code(SB), NOSPLIT|NOFRAME, $0-0
	STUBS

// func firstStub() unsafe.Pointer
TEXT ·firstStub(SB), NOSPLIT, $0-8
	MOVV $·code(SB), R4
	MOVV R4, ret+0(FP)
	RET
