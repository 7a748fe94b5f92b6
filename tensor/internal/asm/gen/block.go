package main

import "fmt"

// blockTile is a kernel that multiplies bfloat16 in blocks of slots. Even slots and odd slots have a sum
// each, which starts at 0, and the two sums are added to C. Numbers below 2^-126 count as zero. Because
// each element has two sums, the kernel processes half of its rows at a time and keeps C in the End's
// Room. The first registers hold the sums, even slots before odd ones, the last two hold B, and the
// others are used in turn for broadcasts of A.
//
// SI, R12 and R13 are the first row of a half of A, and the third and sixth after it; rows are R9 apart
// and slots R15. DI is B, DX the Room, R14 what is added to in place of the Room, CX counts slots, and
// R10 is the address of the next prefetch, R11 the step.
type blockTile struct {
	shape
	rows  int // of the tile
	dot   dot
	block int // slots
	half  int // rows that are processed at a time
	b     int // first register of B
}

// Variables of a [blockTile] on the stack, with [flush]'s above them.
const (
	endHere   = "end-88(SP)"    // a copy of the End, for the current panel
	rowsLeft  = "left-96(SP)"   // rows of C from the current panel on
	panelHere = "panel-104(SP)" // the current panel of A
	toSecond  = "move-112(SP)"  // from the end of a block to its start in the second half of the rows
	halfApart = "half-120(SP)"  // between the first and the second half of the rows
	blockHere = "block-128(SP)" // the current block of A
)

// print prints the kernel.
func (k blockTile) print(name string) {
	fn("is a [Blocks].", name, "(t *Panels)", 128, 8)
	p("MOVQ t+0(FP), AX")
	flush("BX")
	for at := 0; at < 64; at += 32 {
		p("VMOVDQU (Panels_End+%d)(AX), Y0\nVMOVDQU Y0, end-%d(SP)", at, 88-at)
	}
	p("MOVQ (Panels_End+64)(AX), BX\nMOVQ BX, end-24(SP)\nMOVQ Panels_Rows(AX), BX\nMOVQ BX, %s", rowsLeft)
	p("MOVQ Panels_A(AX), SI\nMOVQ Panels_RowA(AX), R9\nMOVQ Panels_SlotA(AX), R15\nMOVQ Panels_Next(AX), R10\nMOVQ Panels_NextStep(AX), R11")
	p("IMUL3Q $%d, R9, BX\nMOVQ BX, %s\nIMUL3Q $%d, R15, R8\nSUBQ R8, BX\nMOVQ BX, %s", k.half, halfApart, k.block, toSecond)
	p("panel:\nMOVQ SI, %s\nMOVQ t+0(FP), BX\nMOVQ Panels_K(BX), CX\nMOVQ Panels_B(BX), DI\nLEAQ %s, AX", panelHere, endHere)
	k.begin()
	if k.full() {
		k.whole()
	}
	k.rest()
	callFor(k.rows, k.name+"LoadRoom")
	p("done:")
	p("CMPQ End_Bias(AX), $0\nJEQ end")
	unflush()
	k.add(k.rows, "Bias")
	reflush()
	if k.dot(k.shape, 0, 0, 0) == bf16(k.shape, 0, 0, 0) {
		p("JMP rounding\nend:\nCMPQ End_As(AX), $const_BFloat16\nJNE rounding")
		callFor(k.rows, "avx512FlushRows")
		p("JMP next\nrounding:")
	} else {
		p("end:")
	}
	callFor(k.rows, k.name+"StoreRows")
	p("next:\nLEAQ %s, AX\nMOVQ End_Ldc(AX), R8\nIMUL3Q $%d, R8, R8\nADDQ R8, End_C(AX)", endHere, k.rows)
	for _, of := range []string{"Sums", "Bias"} {
		p("CMPQ End_%s(AX), $0\nJEQ same%s\nMOVQ End_Ld%s(AX), R8\nIMUL3Q $%d, R8, R8\nADDQ R8, End_%s(AX)\nsame%s:", of, of, of, k.rows, of, of)
	}
	p("MOVQ t+0(FP), BX\nMOVQ %s, SI\nADDQ Panels_StepA(BX), SI\nSUBQ $%d, %s\nJGT panel", panelHere, k.rows, rowsLeft)
	unflush()
	p("VZEROUPPER\nRET\n")
}

func newBlockTile(s shape, rows int, dot dot, block int) blockTile {
	return blockTile{s, rows, dot, block, s.rows / 2, s.registers - 2}
}

// full reports whether the tile has all rows.
func (k blockTile) full() bool { return k.rows == k.shape.rows }

func (k blockTile) r(i int) string { return fmt.Sprintf("%s%d", k.reg, i) }

// room returns the address of register i of the sums of the rows from first on.
func (k blockTile) room(first, i int) string { return fmt.Sprintf("%d(DX)", (2*first+i)*k.width) }

// source is room, or zeros in the first block.
func (k blockTile) source(first, i int) string { return fmt.Sprintf("%d(R14)", (2*first+i)*k.width) }

func (k blockTile) zero(i int) { p("%s %s, %s, %s", k.clear, k.r(i), k.r(i), k.r(i)) }

// begin prints the code that prepares the Room and prefetches C.
func (k blockTile) begin() {
	p("MOVQ End_Room(AX), DX\nMOVQ End_Sums(AX), R12\nMOVQ End_LdSums(AX), R13\nMOVQ DX, R14\nTESTQ R12, R12\nJNZ resume")
	if k.full() { // the first block reads zeros in place of the Room
		p("LEAQ ·zeros(SB), R14\nCMPQ CX, $%d\nJGE fetch", k.block)
	}
	k.zero(0)
	p("MOVQ DX, R8")
	loop("zero", k.rows, func() {
		p("VMOVUPS %s, (R8)\nVMOVUPS %s, %d(R8)\nADDQ $%d, R8", k.r(0), k.r(0), k.width, 2*k.width)
	})
	p("JMP fetch\nresume:\nMOVQ DX, R8")
	loop("sums", k.rows, func() {
		for h := range 2 {
			p("VMOVUPS %d(R12), %s\nVMOVUPS %s, %d(R8)", h*k.width, k.r(h), k.r(h), h*k.width)
		}
		p("ADDQ R13, R12\nADDQ $%d, R8", 2*k.width)
	})
	p("fetch:")
	k.fetchC(k.rows)
}

// bases prints the addresses of a half of n rows, of which SI is the first.
func (k blockTile) bases(n int) {
	for i, base := range aBases[1:] {
		if n > 3*(i+1) {
			p("LEAQ (%s)(R9*2), %s\nADDQ R9, %s", aBases[i], base, base)
		}
	}
}

var aBases = []string{"SI", "R12", "R13"}

// step prints the products of slot u with n rows: even slots are added to the first registers.
// before is called before each product, which is numbered.
func (k blockTile) step(u, n, spare int, before func(i int)) {
	p("VMOVUPS %d(DI), %s\nVMOVUPS %d(DI), %s", u*2*k.width, k.r(k.b), u*2*k.width+k.width, k.r(k.b+1))
	for i := range n {
		t, to := k.b-1-i%spare, u%2*2*n+2*i
		p("VBROADCASTSS (%s)%s, %s", aBases[i/3], []string{"", "(R9*1)", "(R9*2)"}[i%3], k.r(t))
		for h := range 2 {
			before(2*i + h)
			p("%s", k.dot(k.shape, to+h, k.b+h, t))
		}
	}
	for i := 0; i < n; i += 3 {
		p("ADDQ R15, %s", aBases[i/3])
	}
}

// whole prints the loop over whole blocks. The sums of a half are added to C during the next half, one
// or two additions per product, because all at once would delay the products. The first half adds -0,
// which changes nothing.
func (k blockTile) whole() {
	n := k.half
	p("MOVQ CX, R8\nANDQ $%d, CX\nSUBQ CX, R8\nJZ block", k.block-1)
	p("MOVL $0x80000000, BX\nVMOVD BX, X0\nVBROADCASTSS X0, %s", k.r(0))
	for i := 1; i < 4*n; i++ {
		p("VMOVAPS %s, %s", k.r(0), k.r(i))
	}
	p("PCALIGN $64\nwhole:")
	for _, first := range []int{0, n} {
		if first > 0 {
			p("ADDQ %s, SI\nSUBQ $%d, DI", toSecond, k.block*2*k.width)
		}
		k.bases(n)
		step := func(u int, before func(i int)) {
			if first == 0 {
				p("PREFETCHT0 (SI)(R15*%d)", 8)
			}
			k.step(u, n, 2, before)
			switch {
			case first == 0 && u == 0:
				p("PREFETCHT1 (R10)")
			case first == 0 && u == 2:
				p("PREFETCHT1 64(R10)\nADDQ R11, R10")
			}
		}
		step(0, func(i int) {
			p("VADDPS %s, %s, %s", k.r(i), k.r(2*n+i), k.r(2*n+i))
			k.zero(i)
		})
		step(1, func(i int) {
			odd := 2*n + i
			p("VADDPS %s, %s, %s\nVMOVUPS %s, %s", k.source(n-first, i), k.r(odd), k.r(odd), k.r(odd), k.room(n-first, i))
			k.zero(odd)
		})
		nothing := func(int) {}
		step(2, nothing)
		step(3, nothing)
		p("ADDQ $%d, DI\nMOVQ $%d, BX\nturn%d:", 8*k.width, k.block/4-1, first)
		for u := range 4 {
			step(u, nothing)
		}
		p("ADDQ $%d, DI\nDECQ BX\nJNZ turn%d", 8*k.width, first)
	}
	p("MOVQ DX, R14\nSUBQ %s, SI\nSUBQ $%d, R8\nJNZ whole", halfApart, k.block)
	for i := range 2 * n { // to the registers of the end, which loads the first half
		sum := k.r(2*n + i)
		p("VADDPS %s, %s, %s\nVADDPS %s, %s, %s", k.r(i), sum, sum, k.room(n, i), sum, sum)
	}
	p("TESTQ CX, CX\nJNZ more")
	for i := range 2 * n {
		p("VMOVUPS %s, %s", k.room(0, i), k.r(i))
	}
	p("JMP done\nmore:")
	for i := range 2 * n {
		p("VMOVUPS %s, %s", k.r(2*n+i), k.room(n, i))
	}
}

// rest prints the loop over blocks that takes any number of rows and slots.
func (k blockTile) rest() {
	p("block:\nMOVQ $%d, R8\nCMPQ CX, R8\nCMOVQLT CX, R8\nMOVQ SI, %s\nMOVQ DI, R14", k.block, blockHere)
	for first := 0; first < k.rows; first += k.half {
		n := min(k.half, k.rows-first)
		label := func(s string) string { return s + string(rune('0'+first/k.half)) }
		if first > 0 {
			p("MOVQ %s, SI\nADDQ %s, SI\nMOVQ R14, DI", blockHere, halfApart)
		}
		k.bases(n)
		for i := range 4 * n {
			k.zero(i)
		}
		spare := min(4, k.b-4*n)
		nothing := func(int) {}
		// BX counts slots. The loop ends after an even slot if their number is odd.
		p("MOVQ R8, BX\n%s:", label("loop"))
		k.step(0, n, spare, nothing)
		p("DECQ BX\nJZ %s", label("odd"))
		k.step(1, n, spare, nothing)
		p("ADDQ $%d, DI\nDECQ BX\nJNZ %s", 4*k.width, label("loop"))
		p("CMPQ R8, $%d\nJEQ %s\nJMP %s\n%s:\nADDQ $%d, DI", k.block, label("whole"), label("part"), label("odd"), 2*k.width)
		// pad the block with zeros, which change -0 to 0
		p("%s:", label("part"))
		k.zero(k.b)
		for i := range 2 * n {
			p("VADDPS %s, %s, %s", k.r(k.b), k.r(2*n+i), k.r(2*n+i))
		}
		p("%s:", label("whole"))
		for i := range 2 * n {
			p("VADDPS %s, %s, %s\nVADDPS %s, %s, %s\nVMOVUPS %s, %s", k.r(2*n+i), k.r(i), k.r(i), k.room(first, i), k.r(i), k.r(i), k.r(i), k.room(first, i))
		}
	}
	p("MOVQ R8, SI\nIMULQ R15, SI\nADDQ %s, SI\nSUBQ R8, CX\nJNZ block", blockHere)
}

// zeros prints a tile of zeros.
func zeros() {
	size := 2 * avx512.rows * avx512.width
	for i := 0; i < size; i += 8 {
		p("DATA ·zeros+%d(SB)/8, $0", i)
	}
	p("GLOBL ·zeros(SB), RODATA|NOPTR, $%d\n", size)
}
