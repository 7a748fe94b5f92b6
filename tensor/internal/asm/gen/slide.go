package main

import "fmt"

// flush prints code that makes the processor flush numbers below 2^-126 to zero, as products of
// bfloat16 require. unflush prints code that restores the previous mode, and
// reflush code that flushes again.
func flush(spare string) {
	p("STMXCSR was-4(SP)\nMOVL was-4(SP), %s\nORL $0x8040, %s\nMOVL %s, now-8(SP)\nLDMXCSR now-8(SP)", spare, spare, spare)
}

func unflush() { p("LDMXCSR was-4(SP)") }
func reflush() { p("LDMXCSR now-8(SP)") }

func slides() {
	for conv := plain; conv <= grow; conv++ {
		slide("slide"+packNames[conv], conv)
	}
	tables := ""
	for conv := plain; conv <= grow; conv++ {
		var list []string
		for n := 1; n <= most; n++ {
			list = append(list, fmt.Sprintf("dot%s%d", packNames[conv], n))
			dots(list[n-1], conv, n)
		}
		tables += kernels("dots"+packNames[conv], "Dot", list)
	}
	decl.WriteString(tables)
}

// slide prints a [Slide], two rows of 32 columns at a time. The last of an odd number of rows is
// computed twice. For bfloat16, the sums of the current block are separate from C: those of even
// elements are in Z8 to Z11, those of odd elements in Z12 to Z15.
func slide(name string, conv int) {
	locals, size := 0, elementBytes(conv)
	if conv == grow {
		locals = 8
	}
	fn("is a [Slide].", name, "(k int, a unsafe.Pointer, offs *int, b unsafe.Pointer, brow int, c unsafe.Pointer, crow, cols, rows int)", locals, 72)
	load("k", "R10", "a", "DX", "offs", "R8", "b", "SI", "brow", "R13", "c", "DI", "crow", "R15", "cols", "R11", "rows", "R12")
	if conv == grow {
		flush("BX")
		p("VPXORD Z29, Z29, Z29")
	}
	p("rows:\nCMPQ R12, $1\nJGT two\nXORQ R13, R13\nXORQ R15, R15\ntwo:\nMOVQ b+24(FP), SI\nMOVQ c+40(FP), DI\nMOVQ R11, BX\ncolumns:")
	p("MOVQ $32, CX\nCMPQ BX, CX\nCMOVQLT BX, CX\nMOVQ $1, AX\nSHLQ CX, AX\nDECQ AX\nKMOVW AX, K1\nSHRQ $16, AX\nKMOVW AX, K2")
	zero := func(first, n int) {
		for i := first; i < first+n; i++ {
			p("VPXORD Z%d, Z%d, Z%d", i, i, i)
		}
	}
	zero(0, 4)
	p("XORQ R14, R14")
	step := func(sums int) {
		p("MOVQ (R8)(R14*8), AX\nADDQ SI, AX\nVBROADCASTSS (DX)(R14*4), Z30\nINCQ R14")
		for i := range 4 {
			at := fmt.Sprintf("%d(AX)", i%2*16*size)
			if i >= 2 {
				at += "(R13*1)"
			}
			loadFloats(conv, "Z", fmt.Sprintf("%s, K%d", at, 1+i%2), 4+i)
		}
		for i := range 4 {
			p("VFMADD231PS Z%d, Z30, Z%d", 4+i, sums+i)
		}
	}
	if conv == grow {
		p("block:")
		zero(8, 8)
		p("LEAQ 32(R14), R9\nCMPQ R9, R10\nCMOVQGT R10, R9\nloop:")
		step(8)
		p("CMPQ R14, R9\nJEQ part")
		step(12)
		p("CMPQ R14, R9\nJLT loop\nTESTQ $31, R14\nJZ whole\npart:")
		for i := range 4 {
			p("VADDPS Z29, Z%d, Z%d", 12+i, 12+i)
		}
		p("whole:")
		for i := range 4 {
			p("VADDPS Z%d, Z%d, Z%d\nVADDPS Z%d, Z%d, Z%d", 12+i, 8+i, 8+i, 8+i, i, i)
		}
		p("CMPQ R14, R10\nJLT block")
	} else {
		p("loop:")
		step(0)
		p("CMPQ R14, R10\nJLT loop")
	}
	p("VMOVUPS Z0, K1, (DI)\nVMOVUPS Z1, K2, 64(DI)\nVMOVUPS Z2, K1, (DI)(R15*1)\nVMOVUPS Z3, K2, 64(DI)(R15*1)")
	p("ADDQ $%d, SI\nADDQ $128, DI\nSUBQ $32, BX\nJGT columns", 32*size)
	p("MOVQ b+24(FP), SI\nLEAQ (SI)(R13*2), SI\nMOVQ SI, b+24(FP)\nMOVQ c+40(FP), DI\nLEAQ (DI)(R15*2), DI\nMOVQ DI, c+40(FP)\nSUBQ $2, R12\nJGT rows")
	if conv == grow {
		unflush()
	}
	p("VZEROUPPER\nRET\n")
}

// most is the maximum number of stretches of a [Dot], which is the number of masks.
const most = 7

// dots prints a [Dot] of n stretches. The sums are in Y0 and the following registers, and loads use the
// registers after them. For bfloat16 the sums of even and of odd elements of the current block are in
// between.
func dots(name string, conv, n int) {
	locals, size, sums := 0, elementBytes(conv), n
	if conv == grow {
		locals, sums = 8, 3*n
	}
	fn("is a [Dot].", name, "(k, at int, a, b unsafe.Pointer, stretches *Stretch, sums unsafe.Pointer)", locals, 48)
	load("k", "CX", "at", "BX", "a", "DX", "b", "SI", "stretches", "R8", "sums", "DI")
	for i := range n {
		p("KMOVD %d(R8), K%d\nMOVQ %d(R8), R%d", 16*i+8, i+1, 16*i, 9+i)
	}
	for i := range sums {
		p("VMOVUPS %d(DI), Y%d", 32*i, i)
	}
	step := func(to int) {
		switch conv {
		case plain:
			p("VBROADCASTSS (DX), Y30")
		case widen:
			p("VPBROADCASTW (DX), X30\nVCVTPH2PS X30, Y30")
		case grow:
			p("VPBROADCASTW (DX), Y30\nVPSLLD $16, Y30, Y30")
		}
		for i := range n {
			loadFloats(conv, "Y", fmt.Sprintf("(SI)(R%d*1), K%d", 9+i, i+1), sums+i)
			p("VFMADD231PS Y%d, Y30, Y%d", sums+i, to+i)
		}
		p("ADDQ $%d, SI\nADDQ $%d, DX", size, size)
	}
	if conv == grow { // BX counts the remaining elements of a block
		p("MOVQ BX, R8\nANDQ $31, R8\nMOVQ $32, BX\nSUBQ R8, BX")
		flush("R8")
		p("TESTQ $1, BX\nJNZ second\nloop:")
		step(n)
		p("DECQ BX\nDECQ CX\nJZ done\nsecond:")
		step(2 * n)
		p("DECQ BX\nJNZ next")
		for i := range n {
			p("VADDPS Y%d, Y%d, Y%d\nVADDPS Y%d, Y%d, Y%d", 2*n+i, n+i, n+i, n+i, i, i)
			p("VPXORD Y%d, Y%d, Y%d\nVPXORD Y%d, Y%d, Y%d", n+i, n+i, n+i, 2*n+i, 2*n+i, 2*n+i)
		}
		p("MOVQ $32, BX\nnext:\nDECQ CX\nJNZ loop\ndone:")
	} else {
		p("loop:")
		step(0)
		p("DECQ CX\nJNZ loop")
	}
	for i := range sums {
		p("VMOVUPS Y%d, %d(DI)", i, 32*i)
	}
	if conv == grow {
		unflush()
	}
	p("VZEROUPPER\nRET\n")
}
