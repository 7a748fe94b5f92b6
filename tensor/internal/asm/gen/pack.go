package main

// What packing does with elements.
const (
	plain = iota // float32
	widen        // float16 to float32
	swap         // bfloat16 to float32, of each pair along k the second first
	pairs        // bfloat16, two neighbours along k in a slot
)

var packNames = [...]string{plain: "F32", widen: "F16", swap: "Swap", pairs: "Pairs"}

func packs() {
	for conv := plain; conv <= pairs; conv++ {
		copyPack("copy"+packNames[conv]+"x16", conv, 1)
		copyPack("copy"+packNames[conv]+"x32", conv, 2)
		transpose("transpose"+packNames[conv], conv)
	}
}

// copyPack prints a [Pack] of lines that lie side by side, up to 16 a vector, as
// many as mask has ones.
//
// It prefetches 16 rows ahead: strided rows defeat the hardware's prefetcher.
func copyPack(name string, conv, vectors int) {
	fn("is a [Pack].", name, "(src unsafe.Pointer, stride int, dst unsafe.Pointer, dstride, n, mask int)", 0, 48)
	load("src", "SI", "stride", "R8", "dst", "DI", "dstride", "R9", "n", "CX", "mask", "AX")
	p("MOVQ R8, R10\nSHLQ $4, R10")
	two := conv >= swap // rows a turn
	switch {
	case conv == pairs:
		p("VMOVDQU64 ·interleaveLo(SB), Z30\nVMOVDQU64 ·interleaveHi(SB), Z31\nKMOVD AX, K1")
	default:
		p("KMOVW AX, K1\nSHRQ $16, AX\nKMOVW AX, K2")
	}
	if two {
		p("SUBQ $2, CX\nJLT tail")
	}
	p("loop:\nPREFETCHT0 (SI)(R10*1)")
	if conv == plain && vectors == 2 {
		p("PREFETCHT0 64(SI)(R10*1)")
	}
	row := func(at string, reg int) { // loads a row into reg, reg+1
		for v := range vectors {
			switch conv {
			case plain:
				p("VMOVUPS.Z %d%s, K%d, Z%d", v*64, at, v+1, reg+v)
			case widen:
				p("VCVTPH2PS.Z %d%s, K%d, Z%d", v*32, at, v+1, reg+v)
			case swap:
				p("VPMOVZXWD.Z %d%s, K%d, Z%d\nVPSLLD $16, Z%d, Z%d", v*32, at, v+1, reg+v, reg+v, reg+v)
			}
		}
		if conv == pairs {
			p("VMOVDQU16.Z %s, K1, Z%d", at, reg)
		}
	}
	store := func(at string, reg int) {
		for v := range vectors {
			p("VMOVUPS Z%d, %d%s", reg+v, v*64, at)
		}
	}
	mix := func() { // rows in Z0 and Z1, one after the other
		p("VMOVDQA64 Z0, Z4\nVPERMT2W Z1, Z30, Z4\nVMOVDQU64 Z4, (DI)")
		if vectors == 2 {
			p("VPERMT2W Z1, Z31, Z0\nVMOVDQU64 Z0, 64(DI)")
		}
	}
	if !two {
		row("(SI)", 0)
		store("(DI)", 0)
		p("ADDQ R8, SI\nADDQ R9, DI\nDECQ CX\nJNZ loop\nVZEROUPPER\nRET\n")
		return
	}
	p("LEAQ (R10)(R8*1), R11\nPREFETCHT0 (SI)(R11*1)")
	if conv == swap {
		row("(SI)", 0)
		row("(SI)(R8*1)", 2)
		store("(DI)", 2)
		store("(DI)(R9*1)", 0)
		p("LEAQ (DI)(R9*2), DI")
	} else {
		row("(SI)", 0)
		row("(SI)(R8*1)", 1)
		mix()
		p("ADDQ R9, DI")
	}
	p("LEAQ (SI)(R8*2), SI\nSUBQ $2, CX\nJGE loop\ntail:\nADDQ $2, CX\nJZ done")
	if conv == swap { // a last row without a partner: zeros come first
		p("VPXORD Z2, Z2, Z2\nVPXORD Z3, Z3, Z3")
		row("(SI)", 0)
		store("(DI)", 2)
		store("(DI)(R9*1)", 0)
	} else {
		p("VPXORD Z1, Z1, Z1")
		row("(SI)", 0)
		mix()
	}
	p("done:\nVZEROUPPER\nRET\n")
}

// interleave prints the VPERMT2W indices that pair element i of one row with
// element i of the next, from element first on.
func interleave(name string, first int) {
	for i := 0; i < 32; i += 4 {
		var v uint64
		for q := range 4 {
			e := first + (i+q)/2
			if (i+q)%2 == 1 {
				e += 32
			}
			v |= uint64(e) << (16 * q)
		}
		p("DATA ·%s+%d(SB)/8, $0x%016x", name, i*2, v)
	}
	p("GLOBL ·%s(SB), RODATA|NOPTR, $64\n", name)
}

// lines16 prints how Z0 … Z15 are loaded from lines at SI, R8 apart, those elements that
// K1 has ones for. Lines that R12 has no ones for repeat the last one; R11 holds 0.
func lines16(conv int) {
	p("MOVQ SI, AX\nMOVQ R8, R13")
	for i := range 16 {
		if i > 0 {
			p("BTQ $%d, R12\nCMOVQCC R11, R13\nADDQ R13, AX", i)
		}
		switch conv {
		case plain:
			p("VMOVUPS.Z (AX), K1, Z%d", i)
		case widen:
			p("VCVTPH2PS.Z (AX), K1, Z%d", i)
		case swap:
			p("VPMOVZXWD.Z (AX), K1, Z%d\nVPSLLD $16, Z%d, Z%d", i, i, i)
		case pairs:
			p("VMOVDQU16.Z (AX), K1, Z%d", i)
		}
	}
}

// transpose prints a [Pack] of 16 lines, or fewer, that lie across: blocks of 16
// slots of each are turned in registers.
func transpose(name string, conv int) {
	fn("is a [Pack].", name, "(src unsafe.Pointer, stride int, dst unsafe.Pointer, dstride, n, mask int)", 0, 48)
	load("src", "SI", "stride", "R8", "dst", "DI", "dstride", "R9", "n", "CX", "mask", "R12")
	perTurn := 16 // elements along k
	if conv == pairs {
		perTurn = 32
	}
	p("XORQ R11, R11\nMOVQ $-1, DX\nKMOVQ DX, K1\nSUBQ $%d, CX\nJLT tail\nloop:", perTurn)
	turn := func() {
		lines16(conv)
		shuffle16()
	}
	turn()
	for j := range 16 {
		p("VMOVUPS Z%d, (DI)\nADDQ R9, DI", slotOf(conv, j))
	}
	p("ADDQ $%d, SI\nSUBQ $%d, CX\nJGE loop\ntail:\nADDQ $%d, CX\nJZ done", []int{plain: 64, widen: 32, swap: 32, pairs: 64}[conv], perTurn, perTurn)
	p("SHLQ CX, DX\nNOTQ DX\nKMOVQ DX, K1")
	turn()
	toSlots(conv)
	for j := range 16 {
		p("VMOVUPS Z%d, (DI)\nADDQ R9, DI\nDECQ CX\nJZ done", slotOf(conv, j))
	}
	p("done:\nVZEROUPPER\nRET\n")
}

// shuffle16 turns 16 rows of 16 slots, in Z0 to Z15, in place.
func shuffle16() {
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
}

// slotOf returns which of the registers that [shuffle16] leaves goes to slot j.
func slotOf(conv, j int) int {
	if conv == swap {
		return j ^ 1
	}
	return j
}

// toSlots makes a number of elements in CX one of slots.
func toSlots(conv int) {
	switch conv {
	case swap:
		p("INCQ CX\nANDQ $-2, CX")
	case pairs:
		p("INCQ CX\nSHRQ $1, CX")
	}
}
