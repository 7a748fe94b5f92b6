package main

import (
	"fmt"

	"halfnote/tensor/internal/asm/gen/ssa"
)

// streams lists the numbers of results that a pass may compute at a time; it uses the largest for
// which there are enough registers.
var streams = []int{4, 3, 2, 1}

// wideStreams are the numbers for AVX-512, which has registers for constants: as measured, those of two results
// and more constants are faster than those of more results.
var wideStreams = []int{2, 1}

// storeAround prints the stores of a loop, around the caches if R9 is not 0.
func storeAround(put func(around bool)) {
	p("TESTQ R9, R9\nJNZ around")
	put(false)
	p("JMP next\naround:")
	put(true)
	p("next:")
}

// floats are float32 in memory; if masked, those that mask K1 selects. Several registers at a time are
// prefetched, and stored around the caches if R9 is not 0.
type floats struct{ masked, several bool }

func (f floats) Load(e *ssa.Emitter, v value, base string, u int) int {
	reg := e.Take(v)
	name, text := "VMOVUPS", e.Float32(reg)
	if !e.Program.Single {
		name, text = "VCVTPS2PD", e.Name(reg)
	}
	if f.several {
		p("PREFETCHT0 %d(%s)", near+u*e.Lanes()*4, base)
	}
	z, k := maskOf(f.masked)
	p("%s%s %d(%s), %s%s", name, z, u*e.Lanes()*4, base, k, text)
	return reg
}

func (f floats) Store(e *ssa.Emitter, results []value) {
	if !e.Program.Single {
		convert := "VCVTPD2PSY"
		if e.Wide {
			convert = "VCVTPD2PS"
		}
		for _, v := range results {
			r := e.Home(v)
			p("%s %s, %s", convert, e.Name(r), e.Float32(r))
		}
	}
	_, k := maskOf(f.masked)
	put := func(around bool) {
		name := map[bool]string{false: "VMOVUPS", true: "VMOVNTPS"}[around]
		for u, v := range results {
			p("%s %s, %s%d(DI)", name, e.Float32(e.Home(v)), k, u*e.Lanes()*4)
		}
	}
	if f.several {
		storeAround(put)
	} else {
		put(false)
	}
}

// printPass prints the loop of a [FunctionPass].
func printPass(l line, result value) {
	one := &ssa.Emitter{Program: l.Program, Wide: l.wide, Text: &text}
	one.Prepare(40)
	lanes := one.Lanes()
	masked := l.wide && l.Single
	numbers := streams
	if l.wide {
		numbers = wideStreams
	}
	one.Fit(numbers, func(e *ssa.Emitter, n int) {
		advance := func(registers int) {
			p("ADDQ $%[1]d, SI\nADDQ $%[1]d, R8\nADDQ $%[1]d, DI\nSUBQ $%d, CX", registers*lanes*4, registers*lanes)
		}
		if n > 1 {
			p("SUBQ $%d, CX\nJLT tail\nloop:", n*lanes)
			e.Print(result, n, floats{several: true})
			advance(n)
			p("JGE loop\ntail:\nADDQ $%d, CX\nJZ done", n*lanes)
		}
		p("few:")
		if masked { // n is a multiple of 8
			p("MOVQ $-1, DX\nCMPQ CX, $16\nJGE all\nSHLQ CX, DX\nNOTQ DX\nall:\nKMOVQ DX, K1")
		}
		e.Print(result, 1, floats{masked: masked})
		advance(1)
		p("JGT few\ndone:\nVZEROUPPER\nRET\n")
	})
}

// halves are float16 or bfloat16 in memory, an even number of registers at a time. K3 has the odd elements.
type halves struct{ halfDType }

func (h halves) Load(e *ssa.Emitter, v value, base string, u int) int {
	reg := e.Take(v)
	switch {
	case h.name == "Float16":
		p("VCVTPH2PS %d(%s), %s", u*32, base, e.Name(reg))
	case u%2 == 0:
		p("PREFETCHT0 %d(%s)\nVPSLLD $16, %d(%s), %s", near+u*32, base, u*32, base, e.Name(reg))
	default:
		p("VMOVDQU16.Z %d(%s), K3, %s", u/2*64, base, e.Name(reg))
	}
	return reg
}

func (h halves) Store(e *ssa.Emitter, results []value) {
	constant := func(c uint32) string { return fmt.Sprintf("%d(AX)", tables.Offset32(c)) }
	inf, nan := e.TakeTemporary(), e.TakeTemporary()
	p("VPBROADCASTD %s, Z%d\nVPBROADCASTD %s, Z%d", constant(h.inf<<17|h.inf<<1), inf, constant(h.nan<<16|h.nan), nan)
	for u := 0; u < len(results); u += 2 {
		a, b := e.Home(results[u]), e.Home(results[u+1])
		if h.name == "Float16" {
			p("VCVTPS2PH $0, Z%d, Y%d\nVCVTPS2PH $0, Z%d, Y%d\nVINSERTI64X4 $1, Y%d, Z%d, Z%d", a, a, b, b, b, a, a)
		} else {
			for _, r := range []int{a, b} {
				p("VPTESTMD.BCST %s, Z%d, K2\nVPADDD.BCST %s, Z%d, Z%d\nVPADDD.BCST %s, Z%d, K2, Z%d", constant(1<<16), r, constant(below), r, r, constant(1), r, r)
			}
			p("VPSRLD $16, Z%d, Z%d\nVMOVDQU16 Z%d, K3, Z%d", a, a, b, a)
		}
		p("VPADDW Z%d, Z%d, Z%d\nVPCMPUW $6, Z%d, Z%d, K2\nVMOVDQU16 Z%d, K2, Z%d", a, a, b, inf, b, nan, a)
	}
	storeAround(func(around bool) {
		name := map[bool]string{false: "VMOVDQU64", true: "VMOVNTDQ"}[around]
		for u := 0; u < len(results); u += 2 {
			p("%s Z%d, %d(DI)", name, e.Home(results[u]), u*32)
		}
	})
}

// printHalfPass prints the loop of a [HalfPass].
func printHalfPass(l line, result value, d halfDType) {
	one := &ssa.Emitter{Program: l.Program, Wide: true, Text: &text}
	one.Prepare(48)
	p("MOVL $0xaaaaaaaa, BX\nKMOVD BX, K3")
	one.Fit([]int{2}, func(e *ssa.Emitter, n int) {
		p("IMULQ $%d, DX\nloop:", n*16)
		e.Print(result, n, halves{d})
		p("ADDQ $%[1]d, SI\nADDQ DX, R8\nADDQ $%[1]d, DI\nSUBQ $%d, CX\nJGT loop\nVZEROUPPER\nRET\n", n*32, n*16)
	})
}
