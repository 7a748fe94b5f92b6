package main

import (
	"fmt"
	"strings"
)

// Conversions by packing.
const (
	plain      = iota // float32
	widen             // float16 to float32
	grow              // bfloat16 to float32
	pairs             // bfloat16: of each four along k, a slot of the third and the first, and a slot of the fourth and the second
	neighbours        // bfloat16: slots of two adjacent elements along k
)

var packNames = [...]string{plain: "F32", widen: "F16", grow: "BF16", pairs: "Pairs", neighbours: "Neighbours"}

// floatLoads are the instructions that load elements as slots of 32 bits.
var floatLoads = [...]string{plain: "VMOVUPS", widen: "VCVTPH2PS", grow: "VPMOVZXWD", pairs: "VPMOVZXWD", neighbours: "VPMOVZXWD"}

// loadFloats prints the load of float32, float16 or bfloat16 as float32 into a register, Z or Y. An address with a
// mask has other elements set to 0.
func loadFloats(conv int, r, from string, to int) {
	name := floatLoads[conv]
	if strings.Contains(from, ", K") {
		name += ".Z"
	}
	p("%s %s, %s%d", name, from, r, to)
	if conv == grow {
		p("VPSLLD $16, %s%d, %s%d", r, to, r, to)
	}
}

// elementBytes returns the size of an element.
func elementBytes(conv int) int {
	if conv == plain {
		return 4
	}
	return 2
}

func packs() {
	for conv := plain; conv <= neighbours; conv++ {
		copyPack("copy"+packNames[conv]+"x16", conv, 1)
		copyPack("copy"+packNames[conv]+"x32", conv, 2)
		lines(conv)
		transpose("transpose"+packNames[conv], conv)
	}
	transpose2()
	copyLines("copyLinesPairs")
}

// startPack starts a [Pack], with n and mask in registers.
func startPack(comment, name, n, mask string) {
	fn(comment, name, "(src unsafe.Pointer, stride int, dst unsafe.Pointer, dstride, n, mask int)", 0, 48)
	load("src", "SI", "stride", "R8", "dst", "DI", "dstride", "R9", "n", n, "mask", mask)
}

// copyPack prints a [Pack] of adjacent lines, up to 16 per vector, as selected by mask.
//
// It prefetches 16 rows ahead, because strided rows defeat the hardware's prefetcher.
func copyPack(name string, conv, vectors int) {
	startPack("is a [Pack].", name, "CX", "AX")
	p("MOVQ R8, R10\nSHLQ $4, R10")
	if conv >= pairs {
		copyPairs(conv, vectors)
		return
	}
	p("KMOVW AX, K1\nSHRQ $16, AX\nKMOVW AX, K2\nloop:\nPREFETCHT0 (SI)(R10*1)")
	if conv == plain && vectors == 2 {
		p("PREFETCHT0 64(SI)(R10*1)")
	}
	for v := range vectors {
		loadFloats(conv, "Z", fmt.Sprintf("%d(SI), K%d", v*16*elementBytes(conv), v+1), v)
	}
	for v := range vectors {
		p("VMOVUPS Z%d, %d(DI)", v, v*64)
	}
	p("ADDQ R8, SI\nADDQ R9, DI\nDECQ CX\nJNZ loop\nVZEROUPPER\nRET\n")
}

// pairOf returns the indices of the elements in the first and second half of slot i, of two slots with
// four adjacent elements along k.
func pairOf(conv, i int) (first, second int) {
	if conv == pairs {
		return i + 2, i
	}
	return 2 * i, 2*i + 1
}

// copyPairs prints the rest of copyPack for pairs. It combines four rows to two rows of slots.
func copyPairs(conv, vectors int) {
	p("VMOVDQU64 ·interleaveLo(SB), Z30\nVMOVDQU64 ·interleaveHi(SB), Z31\nKMOVD AX, K1\nLEAQ (R8)(R8*2), R12")
	rows := []string{"(SI)", "(SI)(R8*1)", "(SI)(R8*2)", "(SI)(R12*1)"}
	mix := func() {
		for i, at := range []string{"(DI)", "(DI)(R9*1)"} {
			first, second := pairOf(conv, i)
			p("VMOVDQA64 Z%d, Z4\nVPERMT2W Z%d, Z30, Z4\nVMOVDQU64 Z4, %s", first, second, at)
			if vectors == 2 {
				p("VPERMT2W Z%d, Z31, Z%d\nVMOVDQU64 Z%d, 64%s", second, first, first, at)
			}
		}
	}
	p("SUBQ $4, CX\nJLT tail\nloop:\nLEAQ (SI)(R10*1), R11")
	for i, at := range rows {
		p("PREFETCHT0 %s\nVMOVDQU16.Z %s, K1, Z%d", strings.Replace(at, "SI", "R11", 1), at, i)
	}
	mix()
	p("LEAQ (SI)(R8*4), SI\nLEAQ (DI)(R9*2), DI\nSUBQ $4, CX\nJGE loop\ntail:\nADDQ $4, CX\nJZ done")
	for i := range 4 {
		p("VPXORD Z%d, Z%d, Z%d", i, i, i)
	}
	for i, at := range rows[:3] {
		p("VMOVDQU16.Z %s, K1, Z%d\nDECQ CX\nJZ last", at, i)
	}
	p("last:")
	mix()
	p("done:\nVZEROUPPER\nRET\n")
}

// copyLines prints a [Pack] of pairs that keeps lines.
func copyLines(name string) {
	startPack("is a [Pack].", name, "R10", "R12")
	p("VMOVDQU64 ·pairOrder(SB), Z31\nMOVQ R10, CX\nANDQ $31, CX\nMOVQ $-1, DX\nSHLQ CX, DX\nNOTQ DX\nKMOVD DX, K1")
	copyOne := func(mask string) {
		p("VMOVDQU16%s, Z0\nPREFETCHT0 (AX)(R8*1)\nVPSHUFB Z31, Z0, Z0\nVMOVDQU64 Z0, (BX)", mask)
	}
	p("line:\nMOVQ SI, AX\nMOVQ DI, BX\nMOVQ R10, CX\nSUBQ $32, CX\nJLT tail\nloop:")
	copyOne(" (AX)")
	p("ADDQ $64, AX\nADDQ $64, BX\nSUBQ $32, CX\nJGE loop\ntail:\nADDQ $32, CX\nJZ next")
	copyOne(".Z (AX), K1")
	p("next:\nADDQ R8, SI\nADDQ R9, DI\nSHRQ $1, R12\nJNZ line\nVZEROUPPER\nRET\n")
}

// interleave prints the VPERMT2W indices that pair element i of one row with element i of the next row,
// for i from first on.
func interleave(name string, first int) {
	var indices []uint64
	for i := 0; i < 32; i += 4 {
		var v uint64
		for q := range 4 {
			e := first + (i+q)/2
			if (i+q)%2 == 1 {
				e += 32
			}
			v |= uint64(e) << (16 * q)
		}
		indices = append(indices, v)
	}
	data(name, indices...)
}

// lines16 prints the call of a subroutine that loads Z0 … Z15 under K1 from lines at SI, R8 bytes apart. Lines that R12
// excludes repeat the previous one. R11 holds 0.
func lines16(conv int) { p("CALL ·lines%s(SB)", packNames[conv]) }

func lines(conv int) {
	fn("loads Z0 to Z15 from the lines of a [Pack].", "lines"+packNames[conv], "()", 0, 0)
	p("MOVQ SI, AX\nMOVQ R8, R13")
	for i := range 16 {
		if i > 0 {
			p("BTQ $%d, R12\nCMOVQCC R11, R13\nADDQ R13, AX", i)
		}
		if conv < pairs {
			loadFloats(conv, "Z", "(AX), K1", i)
			continue
		}
		p("VMOVDQU16.Z (AX), K1, Z%d", i)
		if conv == pairs {
			p("VPSHUFB ·pairOrder(SB), Z%d, Z%d", i, i)
		}
	}
	p("RET\n")
}

// transpose prints a [Pack] of up to 16 lines with adjacent elements. It transposes blocks of 16 slots
// of each line in registers.
func transpose(name string, conv int) {
	startPack("is a [Pack].", name, "CX", "R12")
	perTurn := 16 // elements along k per iteration
	if conv >= pairs {
		perTurn = 32
	}
	p("XORQ R11, R11\nMOVQ $-1, DX\nKMOVQ DX, K1\nSUBQ $%d, CX\nJLT tail\nloop:", perTurn)
	turn := func() {
		lines16(conv)
		shuffle16()
	}
	turn()
	for j := range 16 {
		p("VMOVUPS Z%d, (DI)\nADDQ R9, DI", j)
	}
	p("ADDQ $%d, SI\nSUBQ $%d, CX\nJGE loop\ntail:\nADDQ $%d, CX\nJZ done", []int{plain: 64, widen: 32, grow: 32, pairs: 64, neighbours: 64}[conv], perTurn, perTurn)
	p("SHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1")
	turn()
	toSlots(conv)
	for j := range 16 {
		p("VMOVUPS Z%d, (DI)\nADDQ R9, DI\nDECQ CX\nJZ done", j)
	}
	p("done:\nVZEROUPPER\nRET\n")
}

// transpose2 prints [Selects.Transpose2]. It transposes pairs of elements, and then takes them apart.
func transpose2() {
	startPack("is a [Pack] of elements of 16 bits, which it does not convert.", "transpose2", "CX", "R12")
	turn := func(next string) {
		lines16(neighbours)
		shuffle16()
		for j := range 16 {
			p("VPMOVDW Z%d, (DI)\nADDQ R9, DI%s", j, next)
			p("VPSRLD $16, Z%d, Z%d\nVPMOVDW Z%d, (DI)\nADDQ R9, DI%s", j, j, j, next)
		}
	}
	p("XORQ R11, R11\nMOVQ $-1, DX\nKMOVQ DX, K1\nSUBQ $32, CX\nJLT tail\nloop:")
	turn("")
	p("ADDQ $64, SI\nSUBQ $32, CX\nJGE loop\ntail:\nADDQ $32, CX\nJZ done\nSHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1")
	turn("\nDECQ CX\nJZ done")
	p("done:\nVZEROUPPER\nRET\n")
}

// shuffle16 prints the call of a subroutine that transposes 16 rows of 16 slots in Z0 to Z15, in place.
func shuffle16() { p("CALL ·shuffle(SB)") }

func shuffle() {
	fn("transposes 16 rows of 16 slots in Z0 to Z15 in place, with Z16 to Z31.", "shuffle", "()", 0, 0)
	for i := range 8 {
		p("VUNPCKLPS Z%d, Z%d, Z%d", 2*i+1, 2*i, 16+2*i)
		p("VUNPCKHPS Z%d, Z%d, Z%d", 2*i+1, 2*i, 17+2*i)
	}
	for g := range 4 { // Z[4g+c]: column c of each 128-bit lane, rows 4g to 4g+3
		b := 16 + 4*g
		p("VUNPCKLPD Z%d, Z%d, Z%d", b+2, b, 4*g)
		p("VUNPCKHPD Z%d, Z%d, Z%d", b+2, b, 4*g+1)
		p("VUNPCKLPD Z%d, Z%d, Z%d", b+3, b+1, 4*g+2)
		p("VUNPCKHPD Z%d, Z%d, Z%d", b+3, b+1, 4*g+3)
	}
	for c := range 4 { // gather the four row groups of columns c, 4+c, 8+c, 12+c
		p("VSHUFF32X4 $0x88, Z%d, Z%d, Z16\nVSHUFF32X4 $0xdd, Z%d, Z%d, Z17", 4+c, c, 4+c, c)
		p("VSHUFF32X4 $0x88, Z%d, Z%d, Z18\nVSHUFF32X4 $0xdd, Z%d, Z%d, Z19", 12+c, 8+c, 12+c, 8+c)
		p("VSHUFF32X4 $0x88, Z18, Z16, Z%d\nVSHUFF32X4 $0x88, Z19, Z17, Z%d", c, 4+c)
		p("VSHUFF32X4 $0xdd, Z18, Z16, Z%d\nVSHUFF32X4 $0xdd, Z19, Z17, Z%d", 8+c, 12+c)
	}
	p("RET\n")
}

// toSlots converts the number of elements in CX to a number of slots.
func toSlots(conv int) {
	if conv >= pairs {
		p("ADDQ $3, CX\nSHRQ $2, CX\nADDQ CX, CX")
	}
}

// pairOrder prints the VPSHUFB indices that put four adjacent elements of 16 bits into the order of two
// slots of [pairs]: the third, the first, the fourth, the second.
func pairOrder() {
	var indices []uint64
	for i := 0; i < 64; i += 8 {
		first := uint64(i % 16)
		var v uint64
		for q, e := range []uint64{4, 5, 0, 1, 6, 7, 2, 3} {
			v |= (first + e) << (8 * q)
		}
		indices = append(indices, v)
	}
	data("pairOrder", indices...)
}
