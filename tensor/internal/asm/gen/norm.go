package main

// lanes prints a loop over CX elements, 16 a turn, the last ones under K1: turn is to
// print what is done with them, with z and k the suffix and the mask of loads from
// memory and to the mask of what is added to lanes, and then to move on.
func lanes(turn func(z, k, to string)) {
	p("MOVQ $-1, DX\nSUBQ $16, CX\nJLT tail\nloop:")
	turn("", "", "")
	p("SUBQ $16, CX\nJGE loop\ntail:\nADDQ $16, CX\nJZ done\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1")
	turn(".Z", "K1, ", "K1, ")
	p("done:")
}

// foldLanes adds the 16 lanes of register r into its first: halves, and halves of them.
// It uses register t.
func foldLanes(r, t int) {
	p("VEXTRACTF64X4 $1, Z%d, Y%d\nVADDPS Y%d, Y%d, Y%d", r, t, t, r, r)
	p("VEXTRACTF32X4 $1, Y%d, X%d\nVADDPS X%d, X%d, X%d", r, t, t, r, r)
	p("VPSHUFD $0x4e, X%d, X%d\nVADDPS X%d, X%d, X%d", r, t, t, r, r)
	p("VPSHUFD $0xb1, X%d, X%d\nVADDPS X%d, X%d, X%d", r, t, t, r, r)
}

// scalars broadcasts n float32 at AX to registers from first on.
func scalars(first, n int) {
	for i := range n {
		p("VBROADCASTSS %d(AX), Z%d", i*4, first+i)
	}
}

func norms() {
	for _, wide := range []bool{false, true} {
		normalize(wide)
		normGrad(wide)
		normSums(wide)
	}
	normColumns()
	centredSquares()
	sumRows()
}

// suffix of kernels whose weights are a row.
func rowName(name string, row bool) string {
	if row {
		return name + "Row"
	}
	return name
}

func normalize(row bool) {
	fn("sets dst to ((x-mean)*scale)*w + b, each operation rounded.", rowName("normalize", row), "(dst, x, w, b unsafe.Pointer, n int, c *[2]float32)", 0, 48)
	load("dst", "DI", "x", "SI", "w", "R8", "b", "R9", "n", "CX", "c", "AX")
	scalars(28, 2)
	if !row {
		p("VBROADCASTSS (R8), Z30\nVBROADCASTSS (R9), Z31")
	}
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVSUBPS Z28, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d", z, u*64, k, u, u, u, u, u)
			if row {
				p("VMOVUPS%s %d(R8), %sZ%d\nVMOVUPS%s %d(R9), %sZ%d", z, u*64, k, u+4, z, u*64, k, u+8)
				p("VMULPS Z%d, Z%d, Z%d\nVADDPS Z%d, Z%d, Z%d", u+4, u, u, u+8, u, u)
			} else {
				p("VMULPS Z30, Z%d, Z%d\nVADDPS Z31, Z%d, Z%d", u, u, u, u)
			}
			p("VMOVUPS Z%d, %s%d(DI)", u, k, u*64)
		}
		for _, r := range []string{"SI", "DI", "R8", "R9"}[:map[bool]int{false: 2, true: 4}[row]] {
			p("ADDQ $%d, %s", n*64, r)
		}
	})
	p("VZEROUPPER\nRET\n")
}

// normGrad has mean, scale, first and second in registers 28 to 31, a single weight in
// 27.
func normGrad(row bool) {
	fn("sets dst to ((dy*w - first) - ((x-mean)*scale)*second)*scale, each operation rounded. c holds mean, scale, first and second.", rowName("normGrad", row), "(dst, dy, x, w unsafe.Pointer, n int, c *[4]float32)", 0, 48)
	load("dst", "DI", "dy", "SI", "x", "R8", "w", "R9", "n", "CX", "c", "AX")
	scalars(28, 4)
	if !row {
		p("VBROADCASTSS (R9), Z27")
	}
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVMOVUPS%s %d(R8), %sZ%d", z, u*64, k, u, z, u*64, k, u+4)
			if row {
				p("VMOVUPS%s %d(R9), %sZ%d\nVMULPS Z%d, Z%d, Z%d", z, u*64, k, u+8, u+8, u, u)
			} else {
				p("VMULPS Z27, Z%d, Z%d", u, u)
			}
			p("VSUBPS Z28, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d\nVMULPS Z31, Z%d, Z%d", u+4, u+4, u+4, u+4, u+4, u+4)
			p("VSUBPS Z30, Z%d, Z%d\nVSUBPS Z%d, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d", u, u, u+4, u, u, u, u)
			p("VMOVUPS Z%d, %s%d(DI)", u, k, u*64)
		}
		for _, r := range []string{"DI", "SI", "R8", "R9"}[:map[bool]int{false: 3, true: 4}[row]] {
			p("ADDQ $%d, %s", n*64, r)
		}
	})
	p("VZEROUPPER\nRET\n")
}

func normSums(row bool) {
	fn("sets sums to those of g = dy*w and of g*((x-mean)*scale), in 16 lanes as [Loops].Sum has them. c holds mean and scale.", rowName("normSums", row), "(sums *[2]float32, dy, x, w unsafe.Pointer, n int, c *[2]float32)", 0, 48)
	load("sums", "DI", "dy", "SI", "x", "R8", "w", "R9", "n", "CX", "c", "AX")
	scalars(28, 2)
	if !row {
		p("VBROADCASTSS (R9), Z27")
	}
	p("VPXORD Z16, Z16, Z16\nVPXORD Z17, Z17, Z17")
	lanes(func(z, k, to string) {
		p("VMOVUPS%s (SI), %sZ0\nVMOVUPS%s (R8), %sZ1\nVSUBPS Z28, Z1, Z1\nVMULPS Z29, Z1, Z1", z, k, z, k)
		if row {
			p("VMOVUPS%s (R9), %sZ2\nVMULPS Z2, Z0, Z0\nADDQ $64, R9", z, k)
		} else {
			p("VMULPS Z27, Z0, Z0")
		}
		p("VMULPS Z0, Z1, Z1\nVADDPS Z0, Z16, %sZ16\nVADDPS Z1, Z17, %sZ17\nADDQ $64, SI\nADDQ $64, R8", to, to)
	})
	foldLanes(16, 0)
	foldLanes(17, 0)
	p("VMOVSS X16, (DI)\nVMOVSS X17, 4(DI)\nVZEROUPPER\nRET\n")
}

// normColumns adds to sums that lie in memory.
func normColumns() {
	fn("adds dy to first and dy*((x-mean)*scale) to second, each operation rounded. c holds mean and scale.", "normColumns", "(first, second, dy, x unsafe.Pointer, n int, c *[2]float32)", 0, 48)
	load("first", "DI", "second", "R9", "dy", "SI", "x", "R8", "n", "CX", "c", "AX")
	scalars(28, 2)
	blocks(func(n int, z, k string) {
		for u := range n {
			p("VMOVUPS%s %d(SI), %sZ%d\nVMOVUPS%s %d(R8), %sZ%d", z, u*64, k, u, z, u*64, k, u+4)
			p("VMOVUPS%s %d(DI), %sZ%d\nVMOVUPS%s %d(R9), %sZ%d", z, u*64, k, u+8, z, u*64, k, u+12)
			p("VSUBPS Z28, Z%d, Z%d\nVMULPS Z29, Z%d, Z%d\nVMULPS Z%d, Z%d, Z%d", u+4, u+4, u+4, u+4, u, u+4, u+4)
			p("VADDPS Z%d, Z%d, Z%d\nVADDPS Z%d, Z%d, Z%d", u, u+8, u+8, u+4, u+12, u+12)
			p("VMOVUPS Z%d, %s%d(DI)\nVMOVUPS Z%d, %s%d(R9)", u+8, k, u*64, u+12, k, u*64)
		}
		for _, r := range []string{"SI", "R8", "DI", "R9"} {
			p("ADDQ $%d, %s", n*64, r)
		}
	})
	p("VZEROUPPER\nRET\n")
}

func centredSquares() {
	fn("returns the sum of (x-mean)*(x-mean), each operation rounded, in 16 lanes as [Loops].Sum has them.", "centredSquares", "(x unsafe.Pointer, n int, mean float32) (sum float32)", 0, 28)
	load("x", "SI", "n", "CX")
	p("VBROADCASTSS mean+16(FP), Z28\nVPXORD Z16, Z16, Z16")
	lanes(func(z, k, to string) {
		p("VMOVUPS%s (SI), %sZ0\nVSUBPS Z28, Z0, Z0\nVMULPS Z0, Z0, Z0\nVADDPS Z0, Z16, %sZ16\nADDQ $64, SI", z, k, to)
	})
	foldLanes(16, 0)
	p("VMOVSS X16, sum+24(FP)\nVZEROUPPER\nRET\n")
}

// sumRows takes four rows at a time, so that their sums do not wait for each other, and
// what is left row by row.
func sumRows() {
	fn("sets each of rows float32 to the sum of n, as [Loops].Sum has it; rows lie stride bytes apart.", "sumRows", "(dst, x unsafe.Pointer, rows, n, stride int)", 0, 40)
	load("dst", "DI", "x", "R10", "rows", "BX", "n", "R11", "stride", "R8")
	p("LEAQ (R8)(R8*2), R9\nMOVQ R11, CX\nANDQ $15, CX\nMOVQ $-1, DX\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1")
	for _, n := range []int{4, 1} {
		at := []string{"(SI)", "(SI)(R8*1)", "(SI)(R8*2)", "(SI)(R9*1)"}[:n]
		label := map[int]string{4: "four", 1: "one"}[n]
		p("%s:\nCMPQ BX, $%d\nJLT %sEnd\nMOVQ R10, SI\nMOVQ R11, CX", label, n, label)
		for i := range at {
			p("VPXORD Z%d, Z%d, Z%d", 16+i, 16+i, 16+i)
		}
		p("SUBQ $16, CX\nJLT %sTail\n%sLoop:", label, label)
		for i, from := range at {
			p("VADDPS %s, Z%d, Z%d", from, 16+i, 16+i)
		}
		p("ADDQ $64, SI\nSUBQ $16, CX\nJGE %sLoop\n%sTail:\nADDQ $16, CX\nJZ %sFold", label, label, label)
		for i, from := range at {
			p("VMOVUPS.Z %s, K1, Z0\nVADDPS Z0, Z%d, K1, Z%d", from, 16+i, 16+i)
		}
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
		p("ADDQ $%d, DI\nSUBQ $%d, BX\nJMP %s\n%sEnd:", n*4, n, label, label)
	}
	p("VZEROUPPER\nRET\n")
}
