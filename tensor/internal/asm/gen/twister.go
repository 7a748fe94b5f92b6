package main

// twisters prints the slow parts of MT19937 in AVX2: its recurrence, and drawing bools.
func twisters() {
	constant := func(reg int, c uint32) { p("MOVL $0x%08x, AX\nVMOVD AX, X%d\nVPBROADCASTD X%d, Y%d", c, reg, reg, reg) }
	fn("sets n words, a multiple of 8, to far ^ y>>1 ^ (0x9908b0df if y is odd), where y is the first bit of a word and the other bits of the next word.",
		"twist", "(words, far unsafe.Pointer, n int)", 0, 24)
	load("words", "DI", "far", "SI", "n", "CX")
	constant(15, 0x7fffffff)
	constant(14, 0x9908b0df)
	p("loop:\nVMOVDQU (DI), Y0\nVMOVDQU 4(DI), Y1\nVPAND Y15, Y1, Y1\nVPANDN Y0, Y15, Y0\nVPOR Y1, Y0, Y0")
	p("VPSRLD $1, Y0, Y1\nVPSLLD $31, Y0, Y0\nVPSRAD $31, Y0, Y0\nVPAND Y14, Y0, Y0\nVPXOR Y1, Y0, Y0\nVPXOR (SI), Y0, Y0")
	p("VMOVDQU Y0, (DI)\nADDQ $32, DI\nADDQ $32, SI\nSUBQ $8, CX\nJGT loop\nVZEROUPPER\nRET\n")

	fn("sets n bytes, a multiple of 4, to 1 where the last 53 bits of the tempered words 2i, the upper one, and 2i+1 are below limit, otherwise to 0.",
		"drawBelow", "(dst, words unsafe.Pointer, n int, limit uint64)", 0, 32)
	load("dst", "DI", "words", "SI", "n", "CX")
	constant(15, 0x9d2c5680)
	constant(14, 0xefc60000)
	p("VPBROADCASTQ limit+24(FP), Y13\nMOVQ $0x1fffffffffffff, AX\nVMOVQ AX, X12\nVPBROADCASTQ X12, Y12")
	p("loop:\nVMOVDQU (SI), Y0")
	p("VPSRLD $11, Y0, Y1\nVPXOR Y1, Y0, Y0")
	p("VPSLLD $7, Y0, Y1\nVPAND Y15, Y1, Y1\nVPXOR Y1, Y0, Y0")
	p("VPSLLD $15, Y0, Y1\nVPAND Y14, Y1, Y1\nVPXOR Y1, Y0, Y0")
	p("VPSRLD $18, Y0, Y1\nVPXOR Y1, Y0, Y0")
	p("VPSHUFD $0xb1, Y0, Y0\nVPAND Y12, Y0, Y0\nVPCMPGTQ Y0, Y13, Y0\nVMOVMSKPD Y0, AX")
	p("IMULL $0x204081, AX\nANDL $0x01010101, AX\nMOVL AX, (DI)") // a bit to each byte
	p("ADDQ $32, SI\nADDQ $4, DI\nSUBQ $4, CX\nJGT loop\nVZEROUPPER\nRET\n")
}
