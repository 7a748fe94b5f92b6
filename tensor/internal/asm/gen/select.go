package main

import "strings"

// selects prints kernels that choose between numbers, for AVX-512 only.
func selects() {
	for _, m := range []struct {
		name, comment, imm string
		first              uint32
	}{{"maximumOf", "the larger one of x and y, or NaN if either is NaN; 0 is above -0", "$5", 0xff800000}, {"minimumOf", "the smaller one of x and y, or NaN if either is NaN; -0 is below 0", "$4", 0x7f800000}} {
		// choose uses registers of width r. Register 31 holds NaN.
		choose := func(r string, x, to int) {
			p("VCMPPS $3, %s%d, %s%d, K2\nVRANGEPS %s, %s%d, %s%d, %s%d\nVMOVAPS %s31, K2, %s%d", r, x, r, to, m.imm, r, x, r, to, r, to, r, r, to)
		}
		binary(m.name, m.comment, func() { constant("AX", 31, quiet16) }, func(u int) { choose("Z", u+4, u) })
		chooseRows(m.name+"Rows", m.first, choose)
	}
	for _, c := range []struct{ name, comment, imm string }{{"equalOnes", "1 where x == y, otherwise 0", "$0"}, {"lessOnes", "1 where x < y, otherwise 0", "$17"}, {"lessEqualOnes", "1 where x <= y, otherwise 0", "$18"}} {
		binary(c.name, c.comment, func() { constant("AX", 31, oneBits) }, func(u int) {
			p("VCMPPS %s, Z%d, Z%d, K2\nVMOVAPS.Z Z31, K2, Z%d", c.imm, u+4, u, u)
		})
	}
	whereNot0()
	for _, m := range []struct{ name, imm string }{{"firstMost", "$30"}, {"firstLeast", "$17"}} {
		betterOf(m.name, m.imm)
		betterInRow(m.name+"Row", m.imm)
	}
	gatherRows()
	for _, op := range []string{"Add", "Sub", "Mul", "Div"} {
		rowPass(op, false)
		rowPass(op, true)
	}
	bools()
	repeats("4", 4)
	repeats("2", 2)
}

// binary prints a [Pass] with two operands.
func binary(name, comment string, prepare func(), body func(u int)) {
	fn("is a [Pass]: "+comment+".", name, "(dst, x, y unsafe.Pointer, n int, alpha, beta float32)", 0, 40)
	load("dst", "DI", "x", "SI", "y", "R8", "n", "CX")
	prepare()
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVMOVUPS%s %d(R8), %sZ%d", z, u*64, k, u, z, u*64, k, u+4)
			body(u)
			p("VMOVUPS Z%d, %s%d(DI)", u, k, u*64)
		}
		move(n, false, []string{"SI", "R8", "DI"})
	})
	p("VZEROUPPER\nRET\n")
}

// chooseRows prints a reduction of rows with four registers of lanes, which start at first.
func chooseRows(name string, first uint32, choose func(r string, x, to int)) {
	fn("sets dst to the maximum or minimum of each row of n float32. Elements and rows are adjacent.", name, "(dst, x unsafe.Pointer, rows, n int)", 0, 32)
	load("dst", "DI", "x", "SI", "rows", "BX", "n", "CX")
	constant("AX", 31, quiet16)
	constant("AX", 30, first)
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nMOVQ n+24(FP), CX")
	for u := range 4 {
		p("VMOVAPS Z30, Z%d", 16+u)
	}
	blocks(func(n int, z, k string) {
		for u := range n {
			if k == "" {
				p("VMOVUPS %d(SI), Z%d", u*64, u)
			} else {
				p("VMOVAPS Z30, Z%d\nVMOVUPS %d(SI), %sZ%d", u, u*64, k, u)
			}
			choose("Z", u, 16+u)
		}
		move(n, false, []string{"SI"})
	})
	back("SI")
	choose("Z", 17, 16)
	choose("Z", 19, 18)
	choose("Z", 18, 16)
	foldBy(16, 17, choose)
	p("VMOVSS X16, (DI)\nADDQ $4, DI\nJMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}

func whereNot0() {
	fn("sets dst to y where x is not 0, including NaN, otherwise to z.", "whereNot0", "(dst, x, y, z unsafe.Pointer, n int)", 0, 40)
	load("dst", "DI", "x", "SI", "y", "R8", "z", "R9", "n", "CX")
	p("VPXORD Z31, Z31, Z31")
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVMOVUPS%s %d(R8), %sZ%d\nVMOVUPS%s %d(R9), %sZ%d", z, u*64, k, u, z, u*64, k, u+4, z, u*64, k, u+8)
			p("VCMPPS $4, Z31, Z%d, K2\nVMOVAPS Z%d, K2, Z%d\nVMOVUPS Z%d, %s%d(DI)", u, u+4, u+8, u+8, k, u*64)
		}
		move(n, false, []string{"SI", "R8", "R9", "DI"})
	})
	p("VZEROUPPER\nRET\n")
}

// bools prints conversions between float32 and bool.
func bools() {
	fn("converts n bools to float32, 1 or 0.", "widenBool", "(dst, src unsafe.Pointer, n int)", 0, 24)
	load("dst", "DI", "src", "SI", "n", "CX")
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VPMOVZXBD%s %d(SI), %sZ%d\nVCVTDQ2PS Z%d, Z%d\nVMOVUPS Z%d, %s%d(DI)", z, u*16, k, u, u, u, u, k, u*64)
		}
		p("ADDQ $%d, SI\nADDQ $%d, DI", n*16, n*64)
	})
	p("VZEROUPPER\nRET\n")
	fn("sets n bools to whether each float32 is not 0; NaN is not 0.", "narrowBool", "(dst, src unsafe.Pointer, n int)", 0, 24)
	load("dst", "DI", "src", "SI", "n", "CX")
	p("VPXORD Z31, Z31, Z31\nMOVL $0x01010101, AX\nVPBROADCASTD AX, X30")
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVCMPPS $4, Z31, Z%d, K2\nVMOVDQU8.Z X30, K2, X%d\nVMOVDQU8 X%d, %s%d(DI)", z, u*64, k, u, u, u, u, k, u*16)
		}
		p("ADDQ $%d, SI\nADDQ $%d, DI", n*64, n*16)
	})
	p("VZEROUPPER\nRET\n")
}

// repeats prints a kernel that fills rows with one number each, of size bytes, in units of 4 bytes.
func repeats(name string, size int) {
	fn("sets adjacent rows of n numbers to one number each. The numbers are step bytes apart.", "repeatRows"+name, "(dst, src unsafe.Pointer, rows, n, step int)", 0, 40)
	load("dst", "DI", "src", "SI", "rows", "BX", "n", "R8", "step", "R9")
	broadcast, store, lanes := "VBROADCASTSS", "VMOVDQU32", 16
	if size == 2 {
		broadcast, store, lanes = "VPBROADCASTW", "VMOVDQU16", 32
	}
	p("MOVQ R8, CX\nANDQ $%d, CX\nMOVQ $-1, DX\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1", lanes-1)
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\n%s (SI), Z0\nADDQ R9, SI\nMOVQ R8, CX\nSUBQ $%d, CX\nJLT tail\nloop:\n%s Z0, (DI)\nADDQ $64, DI\nSUBQ $%d, CX\nJGE loop\ntail:\nADDQ $%d, CX\nJZ row", broadcast, lanes, store, lanes, lanes)
	p("%s Z0, K1, (DI)\nLEAQ (DI)(CX*%d), DI\nJMP row\nrowsEnd:\nVZEROUPPER\nRET\n", store, size)
}

// better prints code that sets the mask K2 where x is beyond best, or where x is NaN and best is not.
// It uses K3.
func better(imm string, x, best int) {
	p("VCMPPS %s, Z%d, Z%d, K2\nVCMPPS $3, Z%d, Z%d, K3\nVCMPPS $7, Z%d, Z%d, K3, K3\nKORW K2, K3, K2", imm, best, x, x, x, best, best)
}

func betterOf(name, imm string) {
	fn("sets best to x, and at to place, where x is beyond best, or where x is NaN and best is not.", name, "(best, at, x unsafe.Pointer, n int, place float32)", 0, 36)
	load("best", "DI", "at", "R8", "x", "SI", "n", "CX")
	p("VBROADCASTSS place+32(FP), Z31")
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVMOVUPS%s %d(DI), %sZ%d\nVMOVUPS%s %d(R8), %sZ%d", z, u*64, k, u, z, u*64, k, u+4, z, u*64, k, u+8)
			better(imm, u, u+4)
			p("VMOVAPS Z%d, K2, Z%d\nVMOVAPS Z31, K2, Z%d", u, u+4, u+8)
			p("VMOVUPS Z%d, %s%d(DI)\nVMOVUPS Z%d, %s%d(R8)", u+4, k, u*64, u+8, k, u*64)
		}
		move(n, false, []string{"SI", "DI", "R8"})
	})
	p("VZEROUPPER\nRET\n")
}

func betterInRow(name, imm string) {
	fn("sets best to the first extreme element of each of 16 lanes of every 16th of n float32, and at to the number of elements before it in its lane. n is a positive multiple of 16. NaN is beyond all numbers.", name, "(best, at *[16]float32, x unsafe.Pointer, n int)", 0, 32)
	load("best", "DI", "at", "R8", "x", "SI", "n", "CX")
	constant("AX", 31, oneBits)
	p("VPXORD Z30, Z30, Z30\nVPXORD Z2, Z2, Z2\nVMOVUPS (SI), Z1\nJMP next\nloop:\nVADDPS Z31, Z30, Z30\nVMOVUPS (SI), Z0")
	better(imm, 0, 1)
	p("VMOVAPS Z0, K2, Z1\nVMOVAPS Z30, K2, Z2\nnext:\nADDQ $64, SI\nSUBQ $16, CX\nJGT loop\nVMOVUPS Z1, (DI)\nVMOVUPS Z2, (R8)\nVZEROUPPER\nRET\n")
}

func gatherRows() {
	fn("copies rows of n bytes, at least 1, to adjacent rows of dst. Row i is at src + step * index i, of int64 indices istep bytes apart.", "gatherRows", "(dst, src, index unsafe.Pointer, rows, n, step, istep int)", 0, 56)
	load("dst", "DI", "src", "SI", "index", "R11", "rows", "BX", "n", "R8", "step", "R9", "istep", "R10")
	p("LEAQ -1(R8), CX\nANDQ $63, CX\nINCQ CX\nMOVQ $-1, DX\nMOVQ CX, R13\nNEGQ CX\nADDQ $64, CX\nSHRQ CX, DX\nKMOVQ DX, K1\nDECQ R8\nANDQ $-64, R8")
	// The row that follows 8 later is prefetched, and the memory 2 KiB behind the written one for writing.
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nMOVQ (R11), R12\nMOVQ R12, AX\nCMPQ BX, $8\nJLT near\nMOVQ (R11)(R10*8), AX\nnear:\nADDQ R10, R11\nIMULQ R9, R12\nADDQ SI, R12\nIMULQ R9, AX\nADDQ SI, AX\nMOVQ R8, CX\nCMPQ CX, $0\nJE last")
	p("loop:\nVMOVDQU64 (R12), Z0\nPREFETCHT0 (AX)\nBYTE $0x0f; BYTE $0x0d; BYTE $0x8f; LONG $%d // PREFETCHW %d(DI)\nVMOVDQU64 Z0, (DI)\nADDQ $64, R12\nADDQ $64, AX\nADDQ $64, DI\nSUBQ $64, CX\nJGT loop", near, near)
	p("last:\nPREFETCHT0 (AX)\nVMOVDQU8.Z (R12), K1, Z0\nVMOVDQU8 Z0, K1, (DI)\nADDQ R13, DI\nJMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}

// rowPass prints an operation on adjacent rows of x and one number or one row of y each.
func rowPass(op string, row bool) {
	what := "one number of y each"
	if row {
		what = "one row of y each"
	}
	fn("is a [RowPass] of "+op+": rows of x and "+what+".", rowName("rows"+op, row), "(dst, x, y unsafe.Pointer, rows, n, step int)", 0, 48)
	load("dst", "DI", "x", "SI", "y", "R8", "rows", "BX", "n", "CX", "step", "R9")
	op = "V" + strings.ToUpper(op) + "PS"
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nMOVQ n+32(FP), CX\nMOVQ R8, R10\nADDQ R9, R8")
	if !row {
		p("VBROADCASTSS (R10), Z31")
	}
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d", z, u*64, k, u)
			if row {
				p("VMOVUPS%s %d(R10), %sZ%d\n%s Z%d, Z%d, Z%d", z, u*64, k, u+4, op, u+4, u, u)
			} else {
				p("%s Z31, Z%d, Z%d", op, u, u)
			}
			p("VMOVUPS Z%d, %s%d(DI)", u, k, u*64)
		}
		move(n, row, []string{"SI", "DI"}, "R10")
	})
	back("SI", "DI")
	p("JMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}
