package main

import "fmt"

func gathers() {
	var evens []uint64
	for i := range uint64(8) {
		evens = append(evens, (4*i+2)<<32|4*i)
	}
	data("evens", evens...)
	for conv := plain; conv <= neighbours; conv++ {
		gather("gather"+packNames[conv], conv, false)
		gather("gatherEvens"+packNames[conv], conv, true)
		turn("turn"+packNames[conv], conv)
	}
}

const gatherArgs = "(src unsafe.Pointer, stretches *Stretch, lead *int, dst unsafe.Pointer, dstride, n int)"

func loadGather(name string) {
	fn("is a [Gather].", name, gatherArgs, 0, 48)
	load("src", "SI", "stretches", "R9", "lead", "R10", "dst", "DI", "dstride", "R11", "n", "CX")
}

// masked prints a load under K1 into a register of slots. Elements that K1 excludes become zero or
// keep their value.
func masked(conv int, at string, reg int, zero bool) {
	z := ""
	if zero {
		z = ".Z"
	}
	p("%s%s %s, K1, Z%d", floatLoads[conv], z, at, reg)
}

// gather prints a [Gather] of 16 lines for each k. The mask of a single stretch, for example in a wide
// image, stays in K1. If evens is set, a mask has two bits per line, and the second is 0: elements of
// 16 bits are then loaded as slots, and float32 are selected from two registers.
func gather(name string, conv int, evens bool) {
	loadGather(name)
	if evens && conv == plain {
		p("VMOVDQU64 ·evens(SB), Z31")
	}
	load := func(at string, reg int, zero bool) {
		z := ""
		if zero {
			z = ".Z"
		}
		switch {
		case !evens:
			masked(conv, at, reg, zero)
		case conv == plain:
			p("VMOVUPS%s %s, K1, Z%d\nVMOVUPS%s 64%s, K2, Z%d", z, at, reg, z, at, reg+8)
		default:
			p("VMOVDQU16%s %s, K1, Z%d", z, at, reg)
		}
	}
	mask := func(from string) {
		p("KMOVD %s, K1", from)
		if evens && conv == plain {
			p("KSHIFTRD $16, K1, K2")
		}
	}
	labels := 0
	step := 1 // elements of k per iteration
	if conv >= pairs {
		step = 4
	}
	row := func(single bool, i int) { // element i of k into Zi
		p("MOVQ %d(R10), AX", 8*i)
		if single {
			load("(SI)(AX*1)", i, true)
		} else {
			labels++
			p("ADDQ SI, AX\nVPXORD Z%d, Z%d, Z%d\nVPXORD Z%d, Z%d, Z%d\nMOVQ R9, BX\nrow%d:", i, i, i, i+8, i+8, i+8, labels)
			p("MOVQ 8(BX), R12\nMOVQ (BX), R13")
			mask("R12")
			load("(AX)(R13*1)", i, false)
			p("ADDQ $16, BX\nBTQ $32, R12\nJCC row%d", labels)
		}
		switch {
		case evens && conv == plain:
			p("VPERMT2PS Z%d, Z31, Z%d", i+8, i)
		case evens && conv == widen:
			p("VPMOVDW Z%d, Y%d\nVCVTPH2PS Y%d, Z%d", i, i, i, i)
		}
	}
	store := func() {
		switch conv {
		case grow:
			p("VPSLLD $16, Z0, Z0\nVMOVUPS Z0, (DI)\nADDQ R11, DI")
		case pairs, neighbours:
			for i, at := range []string{"(DI)", "(DI)(R11*1)"} {
				first, second := pairOf(conv, i)
				p("VPSLLD $16, Z%d, Z%d\nVPORD Z%d, Z%d, Z%d\nVMOVUPS Z%d, %s", second, second, first, second, second, second, at)
			}
			p("LEAQ (DI)(R11*2), DI")
		default:
			p("VMOVUPS Z0, (DI)\nADDQ R11, DI")
		}
	}
	p("MOVQ 8(R9), AX\nBTQ $32, AX\nJCC several\nADDQ (R9), SI")
	mask("AX")
	for _, single := range []bool{true, false} {
		kind := fmt.Sprintf("Several%v", !single)
		if !single {
			p("several:")
		}
		if step > 1 {
			p("SUBQ $%d, CX\nJLT tail%s", step, kind)
		}
		p("loop%s:", kind)
		for i := range step {
			row(single, i)
		}
		store()
		p("ADDQ $%d, R10", 8*step)
		if step == 1 {
			p("DECQ CX\nJNZ loop%s\nVZEROUPPER\nRET", kind)
			continue
		}
		p("SUBQ $%d, CX\nJGE loop%s\ntail%s:\nADDQ $%d, CX\nJZ done", step, kind, kind, step)
		for i := range step {
			p("VPXORD Z%d, Z%d, Z%d", i, i, i)
		}
		for i := range step - 1 {
			row(single, i)
			p("DECQ CX\nJZ last%s", kind)
		}
		p("last%s:", kind)
		store()
		p("VZEROUPPER\nRET")
	}
	p("done:\nVZEROUPPER\nRET\n")
}

// turn prints a [Gather] of stretches along k. It transposes blocks of 16 slots of 16 lines in
// registers.
func turn(name string, conv int) {
	loadGather(name)
	perTurn := 16
	if conv >= pairs {
		perTurn = 32
	}
	p("turn:")
	for i := range 16 {
		p("VPXORD Z%d, Z%d, Z%d", i, i, i)
	}
	p("stretch:\nMOVQ 8(R9), BX\nKMOVD BX, K1\nMOVQ (R9), AX\nADDQ SI, AX")
	for i := range 16 {
		p("MOVQ %d(R10), R13", 8*i)
		if conv >= pairs {
			p("VMOVDQU16 (AX)(R13*1), K1, Z%d", i)
		} else {
			masked(conv, "(AX)(R13*1)", i, false)
		}
	}
	p("ADDQ $16, R9\nBTQ $32, BX\nJCC stretch")
	for i := range 16 {
		switch conv {
		case grow:
			p("VPSLLD $16, Z%d, Z%d", i, i)
		case pairs:
			p("VPSHUFB ·pairOrder(SB), Z%d, Z%d", i, i)
		}
	}
	shuffle16()
	p("CMPQ CX, $%d\nJLT tail", perTurn)
	for j := range 16 {
		p("VMOVUPS Z%d, (DI)\nADDQ R11, DI", j)
	}
	p("SUBQ $%d, CX\nJNZ turn\nVZEROUPPER\nRET\ntail:", perTurn)
	toSlots(conv)
	for j := range 16 {
		p("VMOVUPS Z%d, (DI)\nADDQ R11, DI\nDECQ CX\nJZ done", j)
	}
	p("done:\nVZEROUPPER\nRET\n")
}
