package main

import (
	"fmt"
	"strings"
)

// lanes prints a loop over CX elements, 16 per iteration and the last ones under K1. turn prints the
// body, which must advance the pointers. z and k are the suffix and mask of loads, and to is the mask
// of additions to lanes.
func lanes(turn func(z, k, to string)) {
	p("MOVQ $-1, DX\nSUBQ $16, CX\nJLT tail\nloop:")
	turn("", "", "")
	p("SUBQ $16, CX\nJGE loop\ntail:\nADDQ $16, CX\nJZ done\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1")
	turn(".Z", "K1, ", "K1, ")
	p("SUBQ $16, CX\ndone:")
}

// foldBy combines the 16 lanes of register r into the first lane, by halves. It uses register t. combine prints an
// operation on registers of a width, with its result in the second.
func foldBy(r, t int, combine func(width string, from, to int)) {
	p("VEXTRACTF64X4 $1, Z%d, Y%d", r, t)
	combine("Y", t, r)
	for _, half := range []string{"VEXTRACTF32X4 $1, Y", "VPSHUFD $0x4e, X", "VPSHUFD $0xb1, X"} {
		p("%s%d, X%d", half, r, t)
		combine("X", t, r)
	}
}

// foldLanes adds the 16 lanes of register r into the first lane.
func foldLanes(r, t int) { foldBy(r, t, inPlace("VADDPS")) }

// inPlace prints an instruction whose result replaces its last operand.
func inPlace(name string) func(width string, from, to int) {
	return func(width string, from, to int) {
		p("%s %s%d, %s%d, %s%d", name, width, from, width, to, width, to)
	}
}

// factors prints a loop over BX rows with Factors at AX, the first of which are loaded into the
// registers pointers. body prints the code for a row; CX is its length. n is the argument with that
// length.
func factors(n string, pointers []string, body func()) {
	for i, r := range pointers {
		p("MOVQ %d(AX), %s", i*8, r)
	}
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nMOVQ %s, CX", n)
	body()
	for i, r := range pointers {
		p("ADDQ %d(AX), %s", 40+i*8, r)
	}
	p("JMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}

func norms() {
	var table strings.Builder
	for _, e := range elementTypes {
		for _, row := range []bool{false, true} {
			e.normalize(row)
			e.normGrad(row)
			e.normSums(row)
		}
		e.normColumns()
		e.sumColumns()
		e.sumRows(false)
		e.sumRows(true)
		e.softmaxes()
		fmt.Fprintf(&table, "\nvar rowKernels%s = RowKernels{\n", e.name)
		for _, name := range rowKernels {
			fmt.Fprintf(&table, "\t%s: %s%s,\n", strings.ToUpper(name[:1])+name[1:], name, e.name)
		}
		table.WriteString("}\n")
	}
	copyRows()
	spreadRows()
	decl.WriteString(table.String())
}

// rowKernels are the names of the kernels of [RowKernels].
var rowKernels = []string{
	"normalize", "normalizeRow", "normGrad", "normGradRow", "normSums", "normSumsRow", "normColumns", "sumColumns", "sumRows", "centredRows",
	"expRows", "shiftRows", "quotientRows", "lowerRows", "softmaxGradRows", "logSoftmaxGradRows",
}

// rowName returns the name of a kernel, with the suffix Row if its weights are a row.
func rowName(name string, row bool) string {
	if row {
		return name + "Row"
	}
	return name
}

func (e element) normalize(row bool) {
	e.fn("sets adjacent rows of dst to ((x-mean)*scale)*w + b, each operation rounded. f holds w, b, mean and scale.", rowName("normalize", row), "(dst, x unsafe.Pointer, rows, n int, f *Factors)", 40)
	e.prepare()
	load("dst", "DI", "x", "SI", "rows", "BX", "n", "CX", "f", "AX")
	factors("n+24(FP)", []string{"R8", "R9", "R10", "R11"}, func() {
		p("VBROADCASTSS (R10), Z28\nVBROADCASTSS (R11), Z29")
		if row {
			p("MOVQ R8, R12\nMOVQ R9, R13")
		} else {
			p("VBROADCASTSS (R8), Z30\nVBROADCASTSS (R9), Z31")
		}
		blocks(func(n int, z, k string) {
			e.ahead(n/4*4, "SI")
			for u := range n {
				e.load(z, k, "SI", u, u)
				p("VSUBPS Z28, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d", u, u, u, u)
				if row {
					p("VMOVUPS%s %d(R12), %sZ%d\nVMOVUPS%s %d(R13), %sZ%d", z, u*64, k, u+4, z, u*64, k, u+8)
					p("VMULPS Z%d, Z%d, Z%d\nVADDPS Z%d, Z%d, Z%d", u+4, u, u, u+8, u, u)
				} else {
					p("VMULPS Z30, Z%d, Z%d\nVADDPS Z31, Z%d, Z%d", u, u, u, u)
				}
				e.store(k, "DI", u, u)
			}
			e.move(n, "SI", "DI")
			move(n, row, nil, "R12", "R13")
		})
		e.back("SI", "DI")
	})
}

// move advances pointers by 16*n elements, and those of rows if row is set.
func move(n int, row bool, pointers []string, rows ...string) {
	if row {
		pointers = append(pointers, rows...)
	}
	for _, r := range pointers {
		p("ADDQ $%d, %s", n*64, r)
	}
}

// back moves pointers from the end of a row's last iteration to the end of the row, which is 4*-CX
// bytes before; CX <= 0.
func back(pointers ...string) {
	for _, r := range pointers {
		p("LEAQ (%s)(CX*4), %s", r, r)
	}
}

// normGrad keeps mean, scale, first and second in registers 28 to 31, and a single weight in 27.
func (e element) normGrad(row bool) {
	e.fn("sets adjacent rows of dst to ((dy*w - first) - ((x-mean)*scale)*second)*scale, each operation rounded. f holds w, mean, scale, first and second.", rowName("normGrad", row), "(dst, dy, x unsafe.Pointer, rows, n int, f *Factors)", 48)
	e.prepare()
	load("dst", "DI", "dy", "SI", "x", "DX", "rows", "BX", "n", "CX", "f", "AX")
	p("MOVQ DX, R15")
	factors("n+32(FP)", []string{"R8", "R9", "R10", "R11", "R12"}, func() {
		for i, r := range []string{"R9", "R10", "R11", "R12"} {
			p("VBROADCASTSS (%s), Z%d", r, 28+i)
		}
		if row {
			p("MOVQ R8, R13")
		} else {
			p("VBROADCASTSS (R8), Z27")
		}
		blocks(func(n int, z, k string) {
			e.ahead(n/4*4, "SI", "R15")
			for u := range n {
				e.load(z, k, "SI", u, u)
				e.load(z, k, "R15", u, u+4)
				if row {
					p("VMOVUPS%s %d(R13), %sZ%d\nVMULPS Z%d, Z%d, Z%d", z, u*64, k, u+8, u+8, u, u)
				} else {
					p("VMULPS Z27, Z%d, Z%d", u, u)
				}
				p("VSUBPS Z28, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d\nVMULPS Z31, Z%d, Z%d", u+4, u+4, u+4, u+4, u+4, u+4)
				p("VSUBPS Z30, Z%d, Z%d\nVSUBPS Z%d, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d", u, u, u+4, u, u, u, u)
				e.store(k, "DI", u, u)
			}
			e.move(n, "DI", "SI", "R15")
			move(n, row, nil, "R13")
		})
		e.back("DI", "SI", "R15")
	})
}

func (e element) normSums(row bool) {
	e.fn("sets first and second, one number per row, to the sums of g = dy*w and of g*((x-mean)*scale), in 16 lanes like [Loops].Sum. f holds w, an unused entry, mean and scale.", rowName("normSums", row), "(first, second, dy, x unsafe.Pointer, rows, n int, f *Factors)", 56)
	load("first", "R12", "second", "R13", "dy", "SI", "x", "DI", "rows", "BX", "n", "CX", "f", "AX")
	factors("n+40(FP)", []string{"R8", "R9", "R10", "R11"}, func() {
		p("VBROADCASTSS (R10), Z28\nVBROADCASTSS (R11), Z29")
		if row {
			p("MOVQ R8, R15")
		} else {
			p("VBROADCASTSS (R8), Z27")
		}
		p("VPXORD Z16, Z16, Z16\nVPXORD Z17, Z17, Z17")
		lanes(func(z, k, to string) {
			e.load(z, k, "SI", 0, 0)
			e.load(z, k, "DI", 0, 1)
			p("VSUBPS Z28, Z1, Z1\nVMULPS Z29, Z1, Z1")
			if row {
				p("VMOVUPS%s (R15), %sZ2\nVMULPS Z2, Z0, Z0", z, k)
			} else {
				p("VMULPS Z27, Z0, Z0")
			}
			p("VMULPS Z0, Z1, Z1\nVADDPS Z0, Z16, %sZ16\nVADDPS Z1, Z17, %sZ17", to, to)
			e.move(1, "SI", "DI")
			move(1, row, nil, "R15")
		})
		e.back("SI", "DI")
		foldLanes(16, 0)
		foldLanes(17, 1)
		p("VMOVSS X16, (R12)\nVMOVSS X17, (R13)\nADDQ $4, R12\nADDQ $4, R13")
	})
}

// normColumns adds to sums in memory whose 16 lanes are apart bytes apart.
func (e element) normColumns() {
	e.fn("adds rows of dy to first and of dy*((x-mean)*scale) to second, each operation rounded. Rows are stride bytes apart, and row i is added to lane (lane+i)%16; lanes are apart bytes apart. f holds two unused entries, mean and scale.", "normColumns", "(first, second, dy, x unsafe.Pointer, rows, n, stride, lane, apart int, f *Factors)", 80)
	load("first", "DI", "second", "R9", "dy", "SI", "x", "R8", "rows", "BX", "n", "CX", "stride", "R12", "lane", "R13", "apart", "R15", "f", "AX")
	p("MOVQ 16(AX), R10\nMOVQ 24(AX), R11")
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nMOVQ n+40(FP), CX\nVBROADCASTSS (R10), Z28\nVBROADCASTSS (R11), Z29\nANDQ $15, R13\nMOVQ R13, DI\nIMULQ R15, DI\nMOVQ DI, R9\nADDQ first+0(FP), DI\nADDQ second+8(FP), R9")
	blocks(func(n int, z, k string) {
		for u := range n {
			e.load(z, k, "SI", u, u)
			e.load(z, k, "R8", u, u+4)
			p("VMOVUPS%s %d(DI), %sZ%d\nVMOVUPS%s %d(R9), %sZ%d", z, u*64, k, u+8, z, u*64, k, u+12)
			p("VSUBPS Z28, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d\nVMULPS Z%d, Z%d, Z%d", u+4, u+4, u+4, u+4, u, u+4, u+4)
			p("VADDPS Z%d, Z%d, Z%d\nVADDPS Z%d, Z%d, Z%d", u, u+8, u+8, u+4, u+12, u+12)
			p("VMOVUPS Z%d, %s%d(DI)\nVMOVUPS Z%d, %s%d(R9)", u+8, k, u*64, u+12, k, u*64)
		}
		e.move(n, "SI", "R8")
		move(n, false, []string{"DI", "R9"})
	})
	p("MOVQ dy+16(FP), SI\nADDQ R12, SI\nMOVQ SI, dy+16(FP)\nMOVQ x+24(FP), R8\nADDQ R12, R8\nMOVQ R8, x+24(FP)")
	p("ADDQ 56(AX), R10\nADDQ 64(AX), R11\nINCQ R13\nJMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}

// sumColumns is like normColumns, for plain sums.
func (e element) sumColumns() {
	e.fn("adds rows of x to sums. Rows are stride bytes apart, and row i is added to lane (lane+i)%16; lanes are apart bytes apart.", "sumColumns", "(sums, x unsafe.Pointer, rows, n, stride, lane, apart int)", 56)
	load("sums", "DI", "x", "R8", "rows", "BX", "n", "CX", "stride", "R12", "lane", "R13", "apart", "R15")
	// Rows are prefetched 8 ahead, because strided rows defeat the hardware's prefetcher.
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nMOVQ R8, SI\nADDQ R12, R8\nMOVQ n+24(FP), CX\nANDQ $15, R13\nMOVQ R13, DI\nIMULQ R15, DI\nADDQ sums+0(FP), DI")
	blocks(func(n int, z, k string) {
		for at := 0; at < n*16*e.bytes; at += 64 {
			p("PREFETCHT0 %d(SI)(R12*8)", at)
		}
		for u := range n {
			e.load(z, k, "SI", u, u)
			p("VMOVUPS%s %d(DI), %sZ%d\nVADDPS Z%d, Z%d, Z%d\nVMOVUPS Z%d, %s%d(DI)", z, u*64, k, u+4, u, u+4, u, u, k, u*64)
		}
		e.move(n, "SI")
		move(n, false, []string{"DI"})
	})
	p("INCQ R13\nJMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}

// copyRows copies rows of any dtype.
func copyRows() {
	fn("copies rows of n bytes, at least 1. Rows are sstride bytes apart in src and dstride bytes in dst.", "copyRows", "(dst, src unsafe.Pointer, rows, n, dstride, sstride int)", 0, 48)
	load("dst", "DI", "src", "SI", "rows", "BX", "n", "R8", "dstride", "R9", "sstride", "R10")
	p("LEAQ -1(R8), CX\nANDQ $63, CX\nINCQ CX\nMOVQ $-1, DX\nNEGQ CX\nADDQ $64, CX\nSHRQ CX, DX\nKMOVQ DX, K1\nDECQ R8\nANDQ $-64, R8") // R8 is the offset of the last 1 to 64 bytes
	p("CMPQ R8, $0\nJNE rows")
	p("short:\nSUBQ $1, BX\nJLT rowsEnd\nVMOVDQU8.Z (SI), K1, Z0\nVMOVDQU8 Z0, K1, (DI)\nADDQ R9, DI\nADDQ R10, SI\nJMP short")
	p("rows:\nSUBQ $1, BX\nJLT rowsEnd\nXORQ AX, AX\nloop:\nVMOVDQU64 (SI)(AX*1), Z0\nVMOVDQU64 Z0, (DI)(AX*1)\nADDQ $64, AX\nCMPQ AX, R8\nJLT loop")
	p("VMOVDQU8.Z (SI)(AX*1), K1, Z0\nVMOVDQU8 Z0, K1, (DI)(AX*1)\nADDQ R9, DI\nADDQ R10, SI\nJMP rows\nrowsEnd:\nVZEROUPPER\nRET\n")
}

// spreadRows copies rows of elements of two bytes, 16 at a time and then the last 1 to 16.
func spreadRows() {
	fn("copies rows of n elements of two bytes, at least 1, to every second element of rows of dst. Rows are sstride bytes apart in src and dstride bytes in dst.", "spreadRows", "(dst, src unsafe.Pointer, rows, n, dstride, sstride int)", 0, 48)
	load("dst", "DI", "src", "SI", "rows", "BX", "n", "R8", "dstride", "R9", "sstride", "R10")
	p("DECQ R8\nMOVQ R8, CX\nANDQ $15, CX\nINCQ CX\nANDQ $-16, R8") // R8 is the index of the last elements, and CX is their number
	p("MOVL $0x55555555, AX\nKMOVD AX, K2\nMOVQ $1, DX\nSHLQ CX, DX\nDECQ DX\nKMOVW DX, K1\nADDQ CX, CX\nMOVQ $1, DX\nSHLQ CX, DX\nDECQ DX\nANDQ AX, DX\nKMOVD DX, K3")
	p("row:\nSUBQ $1, BX\nJLT rowsEnd\nXORQ AX, AX\nCMPQ R8, $0\nJEQ last\nloop:\nVPMOVZXWD (SI)(AX*2), Z0\nVMOVDQU16 Z0, K2, (DI)(AX*4)\nADDQ $16, AX\nCMPQ AX, R8\nJLT loop")
	p("last:\nVPMOVZXWD.Z (SI)(AX*2), K1, Z0\nVMOVDQU16 Z0, K3, (DI)(AX*4)\nADDQ R9, DI\nADDQ R10, SI\nJMP row\nrowsEnd:\nVZEROUPPER\nRET\n")
}

// sumRows takes four rows at a time, whose sums are independent, and the remaining rows one by one.
// If centred is set, it sums the squares of the distances from means.
func (e element) sumRows(centred bool) {
	if centred {
		e.fn("sets dst to the sum of (x-mean)*(x-mean) of each row of n elements, each operation rounded, like [Loops].Sum. Rows are stride bytes apart, and each has one of means.", "centredRows", "(dst, x, means unsafe.Pointer, rows, n, stride int)", 48)
		load("dst", "DI", "x", "R10", "means", "R12", "rows", "BX", "n", "R11", "stride", "R8")
	} else {
		e.fn("sets dst to the sum of each row of n elements, like [Loops].Sum. Rows are stride bytes apart.", "sumRows", "(dst, x unsafe.Pointer, rows, n, stride int)", 40)
		load("dst", "DI", "x", "R10", "rows", "BX", "n", "R11", "stride", "R8")
	}
	p("LEAQ (R8)(R8*2), R9\nMOVQ R11, CX\nANDQ $15, CX\nMOVQ $-1, DX\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1")
	for _, n := range []int{4, 1} {
		at := []string{"(SI)", "(SI)(R8*1)", "(SI)(R8*2)", "(SI)(R9*1)"}[:n]
		label := map[int]string{4: "four", 1: "one"}[n]
		p("%s:\nCMPQ BX, $%d\nJLT %sEnd\nMOVQ R10, SI\nMOVQ R11, CX", label, n, label)
		for i := range at {
			p("VPXORD Z%d, Z%d, Z%d", 16+i, 16+i, 16+i)
			if centred {
				p("VBROADCASTSS %d(R12), Z%d", i*4, 24+i)
			}
		}
		p("SUBQ $16, CX\nJLT %sTail\n%sLoop:", label, label)
		add := func(z, k string) {
			for i, from := range at {
				switch {
				case e.name == "" && k == "" && !centred:
					p("VADDPS %s, Z%d, Z%d", from, 16+i, 16+i)
					continue
				case e.name == "":
					p("VMOVUPS%s %s, %sZ%d", z, from, k, i)
				case e.name == "F16":
					p("VCVTPH2PS%s %s, %sZ%d", z, from, k, i)
				default:
					p("VPMOVZXWD%s %s, %sZ%d\nVPSLLD $16, Z%d, Z%d", z, from, k, i, i, i)
				}
				if centred {
					p("VSUBPS Z%d, Z%d, Z%d\nVMULPS Z%d, Z%d, Z%d", 24+i, i, i, i, i, i)
				}
				p("VADDPS Z%d, Z%d, %sZ%d", i, 16+i, k, 16+i)
			}
		}
		add("", "")
		e.move(1, "SI")
		p("SUBQ $16, CX\nJGE %sLoop\n%sTail:\nADDQ $16, CX\nJZ %sFold", label, label, label)
		add(".Z", "K1, ")
		p("%sFold:", label)
		for i := range at {
			foldLanes(16+i, i)
			p("VMOVSS X%d, %d(DI)", 16+i, i*4)
		}
		if n == 4 {
			p("LEAQ (R10)(R8*4), R10")
		} else {
			p("ADDQ R8, R10")
		}
		if centred {
			p("ADDQ $%d, R12", n*4)
		}
		p("ADDQ $%d, DI\nSUBQ $%d, BX\nJMP %s\n%sEnd:", n*4, n, label, label)
	}
	p("VZEROUPPER\nRET\n")
}
