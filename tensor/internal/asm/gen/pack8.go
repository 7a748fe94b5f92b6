package main

import "fmt"

// packs8 prints the packs of AVX2, which lacks masks for 16-bit elements, so that whole registers are
// read. See [Packing.Whole].
func packs8() {
	for conv := plain; conv <= grow; conv++ {
		copyPack8("avx2Copy"+packNames[conv], conv)
		transpose8("avx2Transpose"+packNames[conv], conv)
	}
}

// copyPack8 prints a [Pack] of 8 or 16 adjacent lines, depending on mask.
func copyPack8(name string, conv int) {
	startPack("is a [Pack].", name, "CX", "AX")
	p("MOVQ R8, R10\nSHLQ $4, R10\nCMPQ AX, $255")
	loop := func(vectors int, suffix string) {
		p("loop%s:\nPREFETCHT0 (SI)(R10*1)", suffix)
		loadFloats(conv, "Y", "(SI)", 0)
		if vectors == 2 {
			loadFloats(conv, "Y", fmt.Sprintf("%d(SI)", 8*elementBytes(conv)), 1)
		}
		for v := range vectors {
			p("VMOVUPS Y%d, %d(DI)", v, v*32)
		}
		p("ADDQ R8, SI\nADDQ R9, DI\nDECQ CX\nJNZ loop%s\nVZEROUPPER\nRET", suffix)
	}
	p("JGT wide")
	loop(1, "8")
	p("wide:")
	loop(2, "16")
	p("")
}

// transpose8 prints a [Pack] of up to 8 lines with adjacent elements, for n a multiple of 8.
func transpose8(name string, conv int) {
	startPack("is a [Pack].", name, "CX", "R12")
	p("XORQ R11, R11\nloop:\nMOVQ SI, AX\nMOVQ R8, R13")
	for i := range 8 {
		if i > 0 {
			p("BTQ $%d, R12\nCMOVQCC R11, R13\nADDQ R13, AX", i)
		}
		loadFloats(conv, "Y", "(AX)", i)
	}
	for i := range 4 { // Y8 … Y15: of lines 2i and 2i+1, elements 0, 1, 4, 5 and 2, 3, 6, 7
		p("VUNPCKLPS Y%d, Y%d, Y%d\nVUNPCKHPS Y%d, Y%d, Y%d", 2*i+1, 2*i, 8+2*i, 2*i+1, 2*i, 9+2*i)
	}
	for g := range 2 { // Y[4g+c]: elements c and 4+c of lines 4g to 4g+3
		for c := range 4 {
			a := 8 + 4*g + c/2
			p("VSHUFPS $0x%02x, Y%d, Y%d, Y%d", []int{0x44, 0xee}[c%2], a+2, a, 4*g+c)
		}
	}
	for c := range 4 {
		p("VPERM2F128 $0x20, Y%d, Y%d, Y%d\nVPERM2F128 $0x31, Y%d, Y%d, Y%d", 4+c, c, 8+c, 4+c, c, 12+c)
	}
	for j := range 8 {
		p("VMOVUPS Y%d, (DI)\nADDQ R9, DI", 8+j)
	}
	p("ADDQ $%d, SI\nSUBQ $8, CX\nJNZ loop\nVZEROUPPER\nRET\n", 8*elementBytes(conv))
}
