package main

// This file prints what all kernels of a shape share: subroutines that take the number of rows in BX, so that a kernel has
// instructions of its own only for its products. They are called by kernels, not by Go.

// callFor prints the call of a subroutine for a number of rows.
func callFor(rows int, name string) { p("MOVQ $%d, BX\nCALL ·%s(SB)", rows, name) }

// loop prints a loop over rows, which BX counts.
func loop(label string, rows int, body func()) {
	p("MOVQ $%d, BX\n%s:", rows, label)
	body()
	p("DECQ BX\nJNZ %s", label)
}

// eachRow prints body for each row up to most, and advances base by the register by. After BX rows it jumps to leave.
func eachRow(most int, base, by, leave string, body func(i int)) {
	for i := range most {
		body(i)
		if i < most-1 {
			p("ADDQ %s, %s\nDECQ BX\nJZ %s", by, base, leave)
		}
	}
}

// ends prints the subroutines.
func ends() {
	for _, s := range []shape{avx512, avx2} {
		s.printAdd()
		s.printLoad()
		s.printEnd()
	}
	flushedEnd()
	shuffle()
	directRows()
	windowNothing()
	windowGap()
	for vectors := 1; vectors <= 2; vectors++ {
		windowZero(vectors)
		windowEnd(vectors)
	}
}

func (s shape) printAdd() {
	fn("adds BX rows at R12, R13 bytes apart, to a tile's sums.", s.name+"AddRows", "()", 0, 0)
	eachRow(s.rows, "R12", "R13", "done", func(i int) {
		for h := range 2 {
			p("VADDPS %d(R12), %s%d, %s%d", h*s.width, s.reg, 2*i+h, s.reg, 2*i+h)
		}
	})
	p("done:\nRET\n")
}

func (s shape) printLoad() {
	fn("loads BX rows of a tile's sums from the Room at DX.", s.name+"LoadRoom", "()", 0, 0)
	for i := range s.rows {
		for r := 2 * i; r < 2*i+2; r++ {
			p("VMOVUPS %d(DX), %s%d", r*s.width, s.reg, r)
		}
		if i < s.rows-1 {
			p("DECQ BX\nJZ done")
		}
	}
	p("done:\nRET\n")
}

func (s shape) printEnd() {
	fn("stores BX rows of a tile's sums as the [End] at AX says.", s.name+"StoreRows", "()", 0, 0)
	p("MOVQ End_C(AX), DX\nMOVQ End_Ldc(AX), R8\nMOVQ End_As(AX), AX\nCMPQ AX, $const_Stream\nJLT store\nJEQ stream\nCMPQ AX, $const_Float16\nJEQ float16")
	narrow := func(f narrowing, label string) {
		f.prepare()
		eachRow(s.rows, "DX", "R8", label, f.row)
		p("%s:\nRET", label)
	}
	narrow(s.toBFloat16(), "doneBF16")
	p("float16:")
	narrow(s.toFloat16(), "doneF16")
	for _, end := range [][2]string{{"store", "VMOVUPS"}, {"stream", "VMOVNTPS"}} {
		p("%s:", end[0])
		eachRow(s.rows, "DX", "R8", end[0]+"Done", func(i int) {
			for h := range 2 {
				p("%s %s%d, %d(DX)", end[1], s.reg, 2*i+h, h*s.width)
			}
		})
		p("%sDone:\nRET", end[0])
	}
	p("")
}

// flushedEnd prints the end of a tile for bfloat16 without a Bias. Its sums are not subnormal, so that
// AVX512-BF16's conversion, which flushes, rounds them correctly.
func flushedEnd() {
	fn("stores BX rows of a tile's sums, which are not subnormal, as bfloat16. AX is the [End].", "avx512FlushRows", "()", 0, 0)
	p("MOVQ End_C(AX), DX\nMOVQ End_Ldc(AX), R8")
	prepareFlushed()
	eachRow(avx512.rows, "DX", "R8", "done", func(i int) {
		p("%s", evex(3, 0x72, 28, 2*i+1, 2*i)) // VCVTNE2PS2BF16
		quietFlushed("Z")
		p("VMOVDQU64 Z28, (DX)")
	})
	p("done:\nRET\n")
}

// prepareFlushed prints the constants of quietFlushed.
func prepareFlushed() {
	constant("R12", 31, quietBF<<16|quietBF)
	constant("R12", 30, 0xff00ff00)
}

// quietFlushed prints code that sets the NaNs of bfloat16 in register 28, Z or Y, to the quiet one.
func quietFlushed(r string) {
	p("VPADDW %[1]s28, %[1]s28, %[1]s29\nVPCMPUW $6, %[1]s30, %[1]s29, K1\nVMOVDQU16 %[1]s31, K1, %[1]s28", r)
}
