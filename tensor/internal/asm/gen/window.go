package main

import (
	"fmt"
	"strings"
)

// windowTile is a [Windows] kernel: the products of rows of A with one or two registers of columns. B holds
// the slots one after the other. As in a [blockTile], even and odd slots have separate sums, which limits a pass
// over a block to half of the rows if there are two registers of columns.
//
// SI and the other bases are every third row of A, R9 bytes apart. DI is B, and the second register of
// columns is AX bytes behind the first. DX is the Room, which holds C. R8 is the Tap, R11 counts taps, CX
// blocks and R10 slots, and R15 is the address of the next prefetch. The first registers hold the sums of a
// pass, even slots before odd ones, as many of each as the tile has rows. The last ones hold B, and the others
// are used in turn for broadcasts of A.
type windowTile struct {
	vectors int // registers of columns
	rows    int // of the tile, a multiple of vectors
}

// n returns the number of rows of a pass.
func (k windowTile) n() int { return k.rows / k.vectors }

// Variables of a [windowTile] on the stack, below [flush]'s.
const (
	secondHalf = "second-16(SP)" // from the end of a pass to the rows of the next pass
	passRows   = "rows-24(SP)"   // between the rows of the passes
)

const (
	windowRows = 14
	blockSlots = 16
)

// windows prints the kernels, and returns tables of them by number of rows.
func windows() string {
	var tables strings.Builder
	for vectors := 1; vectors <= 2; vectors++ {
		fmt.Fprintf(&tables, "\nvar windows%d = [...]Windows{", vectors)
		for rows := 2; rows <= windowRows; rows += 2 {
			k := windowTile{vectors, rows}
			name := fmt.Sprintf("window%dx%d", rows, vectors)
			k.print(name)
			fmt.Fprintf(&tables, "%d: %s, ", rows, name)
		}
		tables.WriteString("}\n")
	}
	return tables.String()
}

func (k windowTile) print(name string) {
	fn("is a [Windows].", name, "(w *Window)", 48, 8)
	flush("BX")
	p("MOVQ w+0(FP), BX\nMOVQ Window_Room(BX), DX\nMOVQ Window_RowA(BX), R9\nMOVQ Window_Apart(BX), AX\nMOVQ Window_Tap(BX), R8\nMOVQ Window_Taps(BX), R11\nMOVQ Window_Next(BX), R15")
	p("IMUL3Q $%d, R9, R10\nMOVQ R10, %s\nSUBQ $64, R10\nMOVQ R10, %s", k.n(), passRows, secondHalf)
	k.zero(0)
	for i := range k.rows * k.vectors {
		p("VMOVUPS Z0, %s", k.room(0, i))
	}
	k.nothing()
	p("tap:\nCMPQ Tap_Gap(R8), $0\nJNE gap\nstart:\nMOVQ w+0(FP), BX\nMOVQ Window_A(BX), SI\nADDQ Tap_A(R8), SI\nMOVQ Window_B(BX), DI\nADDQ Tap_B(R8), DI")
	p("MOVQ Window_Blocks(BX), CX\nPCALIGN $64\nblock:")
	for pass := range k.vectors {
		k.pass(pass)
	}
	p("DECQ CX\nJNZ block\nADDQ $Tap__size, R8\nDECQ R11\nJNZ tap")
	k.end()
	p("gap:")
	k.last(k.rows)
	for i := range k.rows {
		p("VMOVUPS Z%d, %s", k.rows+i, k.room(k.rows-k.n(), i))
	}
	callFor(k.rows*k.vectors, "windowGap")
	k.nothing()
	p("JMP start\n")
}

// nothing sets the sums to -0, which changes nothing where the next block adds them to C.
func (k windowTile) nothing() { callFor(2*k.rows, "windowNothing") }

func windowNothing() {
	fn("sets the first BX registers to -0.", "windowNothing", "()", 0, 0)
	p("MOVL $0x%x, R10\nVPBROADCASTD R10, Z0", uint32(1<<31))
	for i := 1; i < 2*windowRows; i++ {
		p("DECQ BX\nJZ done\nVMOVAPS Z0, Z%d", i)
	}
	p("done:\nRET\n")
}

// last adds the sums of the last pass to its rows of C, in the registers from to on.
func (k windowTile) last(to int) {
	for i := range k.rows {
		sum := k.rows + i
		p("VADDPS Z%d, Z%d, Z%d\nVADDPS %s, Z%d, Z%d", i, sum, sum, k.room(k.rows-k.n(), i), sum, to+i)
	}
}

func (k windowTile) zero(i int) { p("VPXORD Z%d, Z%d, Z%d", i, i, i) }

// room returns the address of register i of C's rows from first on.
func (k windowTile) room(first, i int) string { return fmt.Sprintf("%d(DX)", (first*k.vectors+i)*64) }

var windowBases = []string{"SI", "R12", "R13", "R14", "BX"}

// pass prints the products of a block with the rows of a pass. It adds the sums of the pass before to C.
func (k windowTile) pass(pass int) {
	before := (pass + k.vectors - 1) % k.vectors // the pass whose sums are added to C
	if pass > 0 {
		p("ADDQ %s, SI\nSUBQ $%d, DI", secondHalf, blockSlots*64)
	}
	bases := windowBases[:(k.n()+2)/3]
	for i, base := range bases[1:] {
		p("LEAQ (%s)(R9*2), %s\nADDQ R9, %s", bases[i], base, base)
	}
	nothing := func(int) {}
	if pass == 0 {
		p("PREFETCHT1 (R15)\nPREFETCHT1 64(R15)\nADDQ $const_WindowNext, R15")
	}
	k.slot(0, true, func(i int) {
		p("VADDPS Z%d, Z%d, Z%d", i, k.rows+i, k.rows+i)
		k.zero(i)
	})
	k.slot(1, false, func(i int) {
		odd := k.rows + i
		p("VADDPS %s, Z%d, Z%d\nVMOVUPS Z%d, %s", k.room(before*k.n(), i), odd, odd, odd, k.room(before*k.n(), i))
		k.zero(odd)
	})
	k.slot(2, false, nothing)
	k.slot(3, false, nothing)
	advance := func() {
		for _, base := range bases {
			p("ADDQ $16, %s", base)
		}
		p("ADDQ $256, DI")
	}
	advance()
	p("MOVQ $%d, R10\nslots%d:", blockSlots/4-1, pass)
	for u := range 4 {
		k.slot(u, false, nothing)
	}
	advance()
	p("DECQ R10\nJNZ slots%d", pass)
	if pass > 0 {
		p("SUBQ %s, SI", passRows)
	}
}

// slot prints the products of slot u. before is called before each product, which is numbered.
func (k windowTile) slot(u int, prefetch bool, before func(i int)) {
	b := 32 - k.vectors
	for v := range k.vectors {
		p("VMOVUPS %d(DI)%s, Z%d", u*64, []string{"", "(AX*1)"}[v], b+v)
	}
	spare := min(4, b-2*k.rows)
	for i := range k.n() {
		t, to := b-1-i%spare, u%2*k.rows+i*k.vectors
		row := windowBases[i/3] + ")" + []string{"", "(R9*1)", "(R9*2)"}[i%3]
		p("VBROADCASTSS %d(%s, Z%d", u*4, row, t)
		if prefetch {
			p("PREFETCHT0 64(%s", row)
		}
		for v := range k.vectors {
			before(i*k.vectors + v)
			p("%s", bf16(avx512, to+v, b+v, t))
		}
	}
}

// end prints the end: the last additions to C, the bias, and the rounding to bfloat16.
func (k windowTile) end() {
	to := 0 // register of the last pass's first sum
	if k.vectors == 2 {
		to = k.rows
	}
	k.last(to)
	if k.vectors == 2 {
		for i := range k.rows {
			p("VMOVUPS %s, Z%d", k.room(0, i), i)
		}
	}
	p("MOVQ w+0(FP), AX")
	callFor(k.rows, fmt.Sprintf("windowZero%d", k.vectors))
	unflush()
	callFor(k.rows, fmt.Sprintf("windowEnd%d", k.vectors))
	p("VZEROUPPER\nRET\n")
}

// windowGap prints the addition of zeros, which change -0 to 0.
func windowGap() {
	fn("adds 0 to BX registers of the Room at DX.", "windowGap", "()", 0, 0)
	p("VPXORD Z31, Z31, Z31\nMOVQ DX, R10\nloop:\nVADDPS (R10), Z31, Z30\nVMOVUPS Z30, (R10)\nADDQ $64, R10\nDECQ BX\nJNZ loop\nRET\n")
}

// windowZero prints the addition of Zero to the sums.
func windowZero(vectors int) {
	fn("adds Zero of the [Window] at AX to BX rows of sums.", fmt.Sprintf("windowZero%d", vectors), "()", 0, 0)
	p("VBROADCASTSS Window_Zero(AX), Z31")
	for i := range windowRows {
		for r := i * vectors; r < (i+1)*vectors; r++ {
			p("VADDPS Z31, Z%d, Z%d", r, r)
		}
		p("DECQ BX\nJZ done")
	}
	p("done:\nRET\n")
}

// windowEnd prints the addition of the bias and the stores.
func windowEnd(vectors int) {
	fn("adds the Bias of the [Window] at AX to BX rows of sums, and stores them as bfloat16.", fmt.Sprintf("windowEnd%d", vectors), "()", 0, 0)
	p("MOVQ Window_C(AX), DX\nMOVQ Window_Ldc(AX), R8\nMOVQ Window_Bias(AX), R14\nMOVQ Window_ApartC(AX), R13")
	p("TESTQ R14, R14\nJZ flushed")
	avx512.toBFloat16().prepare()
	eachRow(windowRows, "DX", "R8", "rounded", func(i int) {
		for v := range vectors {
			r := i*vectors + v
			p("VADDPS.BCST %d(R14), Z%d, Z%d", i*4, r, r)
			roundBFloat16(r, "(DX)"+[]string{"", "(R13*1)"}[v])
		}
	})
	p("rounded:\nRET\nflushed:") // the sums are not subnormal, so that AVX512-BF16's conversion, which flushes, rounds them correctly
	prepareFlushed()
	eachRow(windowRows, "DX", "R8", "done", func(i int) {
		if vectors == 2 {
			p("%s", evex(3, 0x72, 28, 2*i+1, 2*i)) // VCVTNE2PS2BF16
			quietFlushed("Z")
			p("VMOVDQU64 Y28, (DX)\nVEXTRACTI64X4 $1, Z28, (DX)(R13*1)")
		} else {
			p("%s", evex(2, 0x72, 28, 0, i)) // VCVTNEPS2BF16
			quietFlushed("Y")
			p("VMOVDQU64 Y28, (DX)")
		}
	})
	p("done:\nRET\n")
}

// weave prints [Weave]'s kernel. It loads 32 words of each line and keeps the pairs of the last 16 in the Room, or it loads
// 16 words.
func weave() {
	fn("transposes pairs of words, as a [Weave] describes.", "weave", "(w *Weave)", 0, 8)
	p("MOVQ w+0(FP), AX\nMOVQ Weave_Src(AX), SI\nMOVQ Weave_Dst(AX), DI\nMOVQ Weave_Stride(AX), R8\nMOVQ Weave_Second(AX), R9\nMOVQ Weave_Skip(AX), R15\nMOVQ Weave_Room(AX), R11")
	for i, of := range []string{"N", "Words"} {
		p("MOVQ $-1, BX\nMOVQ Weave_%s(AX), CX\nSHLQ CX, BX\nNOTQ BX\nKMOVD BX, K%d", of, i+1)
	}
	p("MOVQ Weave_DstStride(AX), R10\nMOVQ Weave_Lines(AX), R13\nMOVQ Weave_N(AX), R12\nMOVQ Weave_Times(AX), DX\nCMPQ R12, $16\nJLE few")
	lines := func(kind string, missing func(i int), load func(i int)) {
		p("again%s:\nMOVQ SI, BX\nLEAQ (SI)(R9*1), R14\nMOVQ R13, CX", kind)
		for i := range 16 {
			missing(i)
			p("DECQ CX\nJLT line%s%d", kind, i)
			load(i)
			p("ADDQ R8, BX\nADDQ R8, R14")
			if i%2 == 1 {
				p("ADDQ R15, BX\nADDQ R15, R14")
			}
			p("line%s%d:", kind, i)
			if kind == "Many" {
				p("VMOVDQU64 Z17, %d(R11)", i*64)
			}
		}
		p("MOVQ DI, BX\nMOVQ R12, CX")
	}
	rows := func(label string, each string) {
		for j := range 16 {
			if each != "" {
				p(each, j)
			}
			p("VMOVDQU16 Z%d, K2, (BX)\nADDQ R10, BX\nDECQ CX\nJZ %s", j, label)
		}
		p("%s:", label)
	}
	next := func(kind string) {
		p("ADDQ Weave_SrcStep(AX), SI\nADDQ Weave_DstStep(AX), DI\nDECQ DX\nJNZ again%s\nVZEROUPPER\nRET", kind)
	}
	lines("Many", func(i int) { p("VPXORD Z%d, Z%d, Z%d\nVPXORD Z17, Z17, Z17", i, i, i) }, func(i int) {
		p("VMOVDQU16.Z (BX), K1, Z%d\nVMOVDQU16.Z (R14), K1, Z16\nVMOVDQA64 Z%d, Z17", i, i)
		p("VMOVDQU64 ·interleaveLo(SB), Z30\nVMOVDQU64 ·interleaveHi(SB), Z31\nVPERMT2W Z16, Z31, Z17\nVPERMT2W Z16, Z30, Z%d", i)
	})
	shuffle16()
	rows("half", "")
	for i := range 16 {
		p("VMOVDQU64 %d(R11), Z%d", i*64, i)
	}
	shuffle16()
	rows("whole", "")
	next("Many")
	p("few:")
	lines("Few", func(i int) { p("VPXORD Z%d, Z%d, Z%d", i, i, i) }, func(i int) {
		p("VPMOVZXWD.Z (BX), K1, Z%d\nVPMOVZXWD.Z (R14), K1, Z16\nVPSLLD $16, Z16, Z16\nVPORD Z16, Z%d, Z%d", i, i, i)
	})
	shuffle16()
	p("MOVL $0x7fff7fff, R14\nVPBROADCASTD R14, Z30\nVMOVDQU64 (R11), Z31")
	rows("stored", "VPANDD Z%d, Z30, Z29\nVPMAXUW Z29, Z31, Z31")
	p("VMOVDQU64 Z31, (R11)")
	next("Few")
	p("")
}
