#include "textflag.h"
#include "stubs.h"

// STUB loads the closure of its slot into CTXT (X26), where a function expects its closure, and jumps
// to the closure's code. X25 has no meaning at the entry of a function: makeFuncStub writes it first.
#define STUB(i) \
	MOV ·slots+((i)*8)(SB), CTXT; \
	MOV (CTXT), X25; \
	JMP (X25); \
	PCALIGN $16;

// func code()
TEXT ·code(SB), NOSPLIT|NOFRAME, $0-0
	STUBS

// func firstStub() unsafe.Pointer
TEXT ·firstStub(SB), NOSPLIT, $0-8
	MOV $·code(SB), T0
	MOV T0, ret+0(FP)
	RET
