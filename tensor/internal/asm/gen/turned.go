package main

// turnedRows is the maximum number of rows of A for the kernels of turned.
const turnedRows = 4

// turned prints a [Direct] of [Tier.Turned]. It transposes blocks of 16 elements of 16 columns of B in
// registers, and C holds the sums between blocks.
func turned(name string, rows int) {
	fn("is a [Direct] of [Tier.Turned].", name, "(k int, a unsafe.Pointer, lda, ka int, b unsafe.Pointer, ldb int, c unsafe.Pointer, ldc, mask, mode int)", 0, 80)
	load("k", "CX", "a", "DI", "lda", "R9", "ka", "AX", "b", "SI", "ldb", "R8", "c", "DX", "ldc", "R10", "mask", "R12")
	a := []string{"(DI)", "(DI)(R9*1)", "(DI)(R9*2)", "(DI)(BX*1)"}[:rows]
	c := []string{"(DX)", "(DX)(R10*1)", "(DX)(R10*2)", "(DX)(R14*1)"}[:rows]
	p("LEAQ (R9)(R9*2), BX\nLEAQ (R10)(R10*2), R14\nXORQ R11, R11\nKMOVW R12, K2\nMOVQ $-1, AX\nKMOVQ AX, K1")
	p("MOVQ mode+72(FP), AX\nCMPQ AX, $const_Continue\nJEQ begin\nVPXORD Z0, Z0, Z0")
	for _, at := range c {
		p("VMOVUPS Z0, K2, %s", at)
	}
	sums := func(next func()) {
		lines16(plain)
		shuffle16()
		for i, at := range c {
			p("VMOVUPS.Z %s, K2, Z%d", at, 16+i)
		}
		for j := range 16 {
			for i, at := range a {
				p("VFMADD231PS.BCST %d%s, Z%d, Z%d", 4*j, at, j, 16+i)
			}
			next()
		}
	}
	store := func() {
		for i, at := range c {
			p("VMOVUPS Z%d, K2, %s", 16+i, at)
		}
	}
	p("begin:\nSUBQ $16, CX\nJLT tail\nloop:")
	sums(func() {})
	store()
	p("ADDQ $64, SI\nADDQ $64, DI\nSUBQ $16, CX\nJGE loop\ntail:\nADDQ $16, CX\nJZ done\nMOVQ $-1, AX\nSHLQ CX, AX\nNOTQ AX\nKMOVQ AX, K1")
	sums(func() { p("DECQ CX\nJZ store") })
	p("store:")
	store()
	p("done:\nVZEROUPPER\nRET\n")
}
