package main

import "fmt"

// flush prints that numbers below 2^-126 are zero from here on, as VDPBF16PS has it,
// unflush that they are not.
func flush() {
	p("STMXCSR was-4(SP)\nMOVL was-4(SP), BX\nORL $0x8040, BX\nMOVL BX, now-8(SP)\nLDMXCSR now-8(SP)")
}

func unflush() { p("LDMXCSR was-4(SP)") }

func slides() {
	for conv := plain; conv <= swap; conv++ {
		slide("slide"+packNames[conv], conv)
	}
	for conv := plain; conv <= swap; conv++ {
		for n := 1; n <= most; n++ {
			dots(fmt.Sprintf("dot%s%d", packNames[conv], n), conv, n)
		}
	}
	table := ""
	for conv := plain; conv <= swap; conv++ {
		table += fmt.Sprintf("\nvar dots%s = [...]Dot{nil", packNames[conv])
		for n := 1; n <= most; n++ {
			table += fmt.Sprintf(", dot%s%d", packNames[conv], n)
		}
		table += "}\n"
	}
	decl.WriteString(table)
}

// slide prints a [Slide]: two rows of 32 columns at a time. The last of an odd number of
// rows is computed twice.
func slide(name string, conv int) {
	locals, size := 0, 2
	if conv == swap {
		locals = 8
	}
	if conv == plain {
		size = 4
	}
	fn("is a [Slide].", name, "(k int, a unsafe.Pointer, offs *int, b unsafe.Pointer, brow int, c unsafe.Pointer, crow, cols, rows int)", locals, 72)
	load("k", "CX", "a", "DX", "offs", "R8", "b", "SI", "brow", "R13", "c", "DI", "crow", "R15", "cols", "R11", "rows", "R12")
	if conv == swap {
		flush()
		p("VPXORD Z29, Z29, Z29")
	}
	p("rows:\nCMPQ R12, $1\nJGT two\nXORQ R13, R13\nXORQ R15, R15\ntwo:\nMOVQ b+24(FP), SI\nMOVQ c+40(FP), DI\nMOVQ R11, BX\ncolumns:")
	p("MOVQ $32, CX\nCMPQ BX, CX\nCMOVQLT BX, CX\nMOVQ $1, AX\nSHLQ CX, AX\nDECQ AX\nKMOVW AX, K1\nSHRQ $16, AX\nKMOVW AX, K2")
	for i := range 4 {
		p("VPXORD Z%d, Z%d, Z%d", i, i, i)
	}
	p("XORQ R14, R14\nMOVQ k+0(FP), CX")
	step := func() {
		p("MOVQ (R8)(R14*8), AX\nADDQ SI, AX\nVBROADCASTSS (DX)(R14*4), Z30\nINCQ R14")
		for i := range 4 {
			at := fmt.Sprintf("%d(AX)", i%2*16*size)
			if i >= 2 {
				at += "(R13*1)"
			}
			name := []string{plain: "VMOVUPS", widen: "VCVTPH2PS", swap: "VPMOVZXWD"}[conv]
			p("%s.Z %s, K%d, Z%d", name, at, 1+i%2, 4+i)
			if conv == swap {
				p("VPSLLD $16, Z%d, Z%d", 4+i, 4+i)
			}
		}
		for i := range 4 {
			p("VFMADD231PS Z%d, Z30, Z%d", 4+i, i)
		}
	}
	if conv == swap {
		p("ANDQ $-2, CX\nJZ last")
	}
	p("loop:")
	step()
	p("CMPQ R14, CX\nJLT loop")
	if conv == swap { // what the last of an odd number is paired with is zero
		p("last:\nCMPQ CX, k+0(FP)\nJEQ store")
		for i := range 4 {
			p("VADDPS Z29, Z%d, Z%d", i, i)
		}
		step()
		p("store:")
	}
	p("VMOVUPS Z0, K1, (DI)\nVMOVUPS Z1, K2, 64(DI)\nVMOVUPS Z2, K1, (DI)(R15*1)\nVMOVUPS Z3, K2, 64(DI)(R15*1)")
	p("ADDQ $%d, SI\nADDQ $128, DI\nSUBQ $32, BX\nJGT columns", 32*size)
	p("MOVQ b+24(FP), SI\nLEAQ (SI)(R13*2), SI\nMOVQ SI, b+24(FP)\nMOVQ c+40(FP), DI\nLEAQ (DI)(R15*2), DI\nMOVQ DI, c+40(FP)\nSUBQ $2, R12\nJGT rows")
	if conv == swap {
		unflush()
	}
	p("VZEROUPPER\nRET\n")
}

// most is how many stretches of columns a [Dot] may have: as many as masks.
const most = 7

// dots prints a [Dot] of n stretches.
func dots(name string, conv, n int) {
	locals, size := 0, 2
	if conv == swap {
		locals = 8
	}
	if conv == plain {
		size = 4
	}
	fn("is a [Dot].", name, "(k int, a, b unsafe.Pointer, stretches *Stretch, sums unsafe.Pointer)", locals, 40)
	load("k", "CX", "a", "DX", "b", "SI", "stretches", "R8", "sums", "DI")
	if conv == swap {
		flush()
	}
	for i := range n {
		p("KMOVD %d(R8), K%d\nMOVQ %d(R8), R%d\nVMOVUPS %d(DI), Y%d", 16*i+8, i+1, 16*i, 9+i, 32*i, i)
	}
	step := func(at int) {
		switch conv {
		case plain:
			p("VBROADCASTSS (DX), Y30")
		case widen:
			p("VPBROADCASTW (DX), X30\nVCVTPH2PS X30, Y30")
		case swap:
			p("VPBROADCASTW %d(DX), Y30\nVPSLLD $16, Y30, Y30", at)
		}
		for i := range n {
			from := fmt.Sprintf("%d(SI)(R%d*1), K%d, Y%d", at, 9+i, i+1, 8+i)
			switch conv {
			case plain:
				p("VMOVUPS.Z %s", from)
			case widen:
				p("VCVTPH2PS.Z %s", from)
			case swap:
				p("VPMOVZXWD.Z %s\nVPSLLD $16, Y%d, Y%d", from, 8+i, 8+i)
			}
			p("VFMADD231PS Y%d, Y30, Y%d", 8+i, i)
		}
	}
	p("loop:")
	if conv == swap {
		step(2)
		step(0)
		p("ADDQ $4, SI\nADDQ $4, DX\nSUBQ $2, CX\nJNZ loop")
	} else {
		step(0)
		p("ADDQ $%d, SI\nADDQ $%d, DX\nDECQ CX\nJNZ loop", size, size)
	}
	for i := range n {
		p("VMOVUPS Y%d, %d(DI)", i, 32*i)
	}
	if conv == swap {
		unflush()
	}
	p("VZEROUPPER\nRET\n")
}
