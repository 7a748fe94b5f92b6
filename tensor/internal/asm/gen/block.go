package main

// blockTile prints a [Tile] of bfloat16, which takes products in blocks of slots. Even slots and odd
// slots have a sum each, which starts at 0, and the two sums are added to C. Numbers below 2^-126
// count as zero. Because each element has two sums, the tile processes half of its rows at a time and
// keeps C in the End's Room. The first registers hold the sums, even slots before odd ones, the last
// two hold B, and the others are used in turn for broadcasts of A.
func blockTile(name string, s shape, rows int, dot dot, block int) {
	half, full := s.rows/2, rows == s.rows
	b0, b1 := s.registers-2, s.registers-1
	fn("is a [Tile].", name, tileArgs, 8, 48)
	load("k", "CX", "a", "SI", "b", "DI", "end", "AX", "next", "R10", "step", "R11")
	flush("BX")
	room := func(i, h int) int { return (2*i + h) * s.width }
	p("MOVQ End_Room(AX), DX\nMOVQ End_Sums(AX), R9\nMOVQ End_LdSums(AX), R8\nTESTQ R9, R9\nJNZ resume\n%s %s0, %s0, %s0", s.clear, s.reg, s.reg, s.reg)
	for i := range rows {
		p("VMOVUPS %s0, %d(DX)\nVMOVUPS %s0, %d(DX)", s.reg, room(i, 0), s.reg, room(i, 1))
	}
	p("JMP fetch\nresume:")
	eachRow(rows, "R9", "R8", func(i int) {
		for h := range 2 {
			p("VMOVUPS %d(R9), %s%d\nVMOVUPS %s%d, %d(DX)", h*s.width, s.reg, h, s.reg, h, room(i, h))
		}
	})
	p("fetch:")
	s.fetchC(rows)
	if full {
		wholeBlocks(s, dot, block)
	}
	p("block:\nMOVQ $%d, R8\nCMPQ CX, R8\nCMOVQLT CX, R8\nMOVQ SI, R12\nMOVQ DI, R13", block)
	for first := 0; first < rows; first += half {
		n := min(half, rows-first)
		label := func(s string) string { return s + string(rune('0'+first/half)) }
		if first > 0 {
			p("MOVQ R12, SI\nMOVQ R13, DI")
		}
		for i := range 4 * n {
			p("%s %s%d, %s%d, %s%d", s.clear, s.reg, i, s.reg, i, s.reg, i)
		}
		spare := min(4, b0-4*n)
		step := func(u int) {
			p("VMOVUPS %d(DI), %s%d\nVMOVUPS %d(DI), %s%d", u*2*s.width, s.reg, b0, u*2*s.width+s.width, s.reg, b1)
			for i := range n {
				t, to := b0-1-i%spare, u%2*2*n+2*i
				p("VBROADCASTSS %d(SI), %s%d", (u*s.rows+first+i)*4, s.reg, t)
				p("%s\n%s", dot(s, to, b0, t), dot(s, to+1, b1, t))
			}
		}
		p("MOVQ R8, BX\nSHRQ $1, BX\nJZ %s\n%s:", label("tail"), label("loop"))
		step(0)
		step(1)
		p("ADDQ $%d, SI\nADDQ $%d, DI\nDECQ BX\nJNZ %s", 2*s.rows*4, 4*s.width, label("loop"))
		p("CMPQ R8, $%d\nJEQ %s\n%s:\nTESTQ $1, R8\nJZ %s", block, label("whole"), label("tail"), label("part"))
		step(0)
		p("ADDQ $%d, SI\nADDQ $%d, DI", s.rows*4, 2*s.width)
		// pad the block with zeros, which change -0 to 0
		p("%s:\n%s %s%d, %s%d, %s%d", label("part"), s.clear, s.reg, b0, s.reg, b0, s.reg, b0)
		for i := range 2 * n {
			p("VADDPS %s%d, %s%d, %s%d", s.reg, b0, s.reg, 2*n+i, s.reg, 2*n+i)
		}
		p("%s:", label("whole"))
		for i := range 2 * n {
			at := room(first+i/2, i%2)
			p("VADDPS %s%d, %s%d, %s%d\nVADDPS %d(DX), %s%d, %s%d\nVMOVUPS %s%d, %d(DX)", s.reg, 2*n+i, s.reg, i, s.reg, i, at, s.reg, i, s.reg, i, s.reg, i, at)
		}
	}
	p("SUBQ R8, CX\nJNZ block\ndone:")
	unflush()
	for i := range 2 * rows {
		p("VMOVUPS %d(DX), %s%d", i*s.width, s.reg, i)
	}
	s.end(rows)
}

// wholeBlocks prints the loop over whole blocks. The sums of a half are added to C during the next
// half, one or two additions per product, because all at once would delay the products. The first
// half adds -0, which changes nothing.
func wholeBlocks(s shape, dot dot, block int) {
	n, b0, b1 := s.rows/2, s.registers-2, s.registers-1
	p("MOVQ CX, R8\nANDQ $%d, CX\nSUBQ CX, R8\nJZ block", block-1)
	p("MOVL $0x80000000, BX\nVMOVD BX, X0\nVBROADCASTSS X0, %s0", s.reg)
	for i := 1; i < 4*n; i++ {
		p("VMOVAPS %s0, %s%d", s.reg, s.reg, i)
	}
	room := func(first, i, h int) int { return (2*(first+i) + h) * s.width }
	p("PCALIGN $64\nwhole:\nMOVQ SI, R12\nMOVQ DI, R13")
	for _, first := range []int{0, n} {
		if first > 0 {
			p("MOVQ R12, SI\nMOVQ R13, DI")
		}
		step := func(u int, before func(i, h int)) {
			p("VMOVUPS %d(DI), %s%d\nVMOVUPS %d(DI), %s%d", u*2*s.width, s.reg, b0, u*2*s.width+s.width, s.reg, b1)
			if first == 0 {
				p("PREFETCHT0 %d(SI)", u*4*s.rows+896)
			}
			for i := range n {
				t := b0 - 1 - i%2
				p("VBROADCASTSS %d(SI), %s%d", (u*s.rows+first+i)*4, s.reg, t)
				for h := range 2 {
					before(i, h)
					p("%s", dot(s, u%2*2*n+2*i+h, b0+h, t))
				}
			}
			switch {
			case first == 0 && u == 0:
				p("PREFETCHT1 (R10)")
			case first == 0 && u == 2:
				p("PREFETCHT1 64(R10)\nADDQ R11, R10")
			}
		}
		clear := func(r int) { p("%s %s%d, %s%d, %s%d", s.clear, s.reg, r, s.reg, r, s.reg, r) }
		nothing := func(i, h int) {}
		step(0, func(i, h int) {
			even, odd := 2*i+h, 2*n+2*i+h
			p("VADDPS %s%d, %s%d, %s%d", s.reg, even, s.reg, odd, s.reg, odd)
			clear(even)
		})
		step(1, func(i, h int) {
			odd, at := 2*n+2*i+h, room(n-first, i, h)
			p("VADDPS %d(DX), %s%d, %s%d\nVMOVUPS %s%d, %d(DX)", at, s.reg, odd, s.reg, odd, s.reg, odd, at)
			clear(odd)
		})
		step(2, nothing)
		step(3, nothing)
		next := func() { p("ADDQ $%d, SI\nADDQ $%d, DI", 4*s.rows*4, 8*s.width) }
		next()
		p("MOVQ $%d, BX\nturn%d:", block/4-1, first)
		for u := range 4 {
			step(u, nothing)
		}
		next()
		p("DECQ BX\nJNZ turn%d", first)
	}
	p("SUBQ $%d, R8\nJNZ whole", block)
	for i := range 2 * n {
		p("VADDPS %s%d, %s%d, %s%d\nVADDPS %d(DX), %s%d, %s%d\nVMOVUPS %s%d, %d(DX)", s.reg, i, s.reg, 2*n+i, s.reg, i, room(n, i/2, i%2), s.reg, i, s.reg, i, s.reg, i, room(n, i/2, i%2))
	}
	p("TESTQ CX, CX\nJZ done")
}
