package main

import (
	"fmt"
	"strings"
)

// streams lists the numbers of results that a pass may compute at a time; it uses the largest for
// which there are enough registers.
var streams = []int{4, 3, 2, 1}

// wideStreams are the numbers for AVX-512, which has registers for constants: as measured, those of two results
// and more constants are faster than those of more results.
var wideStreams = []int{2, 1}

// attempt prints what f prints, or nothing if there are too few registers, and reports whether it printed.
func attempt(f func()) (ok bool) {
	before := text
	text = new(strings.Builder)
	defer func() {
		if r := recover(); r != nil && r != errRegisters {
			panic(r)
		} else if r == nil {
			before.WriteString(text.String())
			ok = true
		}
		text = before
	}()
	f()
	return true
}

// printPass prints the loop of a [FunctionPass].
func printPass(l *line, result value, wide bool, table *constants) {
	one := &emitter{l: l, wide: wide, table: table}
	one.prepare(40)
	lanes := one.lanes()
	masked := wide && l.single
	numbers := streams
	if wide {
		numbers = wideStreams
	}
	if !one.fits(numbers, func(e *emitter, n int) {
		advance := func(registers int) {
			p("ADDQ $%[1]d, SI\nADDQ $%[1]d, R8\nADDQ $%[1]d, DI\nSUBQ $%d, CX", registers*lanes*4, registers*lanes)
		}
		if n > 1 {
			several, results := l.interleaved(result, n)
			p("SUBQ $%d, CX\nJLT tail\nloop:", n*lanes)
			e.with(several).print(results, floats{several: true})
			advance(n)
			p("JGE loop\ntail:\nADDQ $%d, CX\nJZ done", n*lanes)
		}
		p("few:")
		if masked { // n is a multiple of 8
			p("MOVQ $-1, DX\nCMPQ CX, $16\nJGE all\nSHLQ CX, DX\nNOTQ DX\nall:\nKMOVQ DX, K1")
		}
		e.print([]value{result}, floats{masked: masked})
		advance(1)
		p("JGT few\ndone:\nVZEROUPPER\nRET\n")
	}) {
		panic(errRegisters)
	}
}

// halves are float16 or bfloat16 in memory, an even number of registers at a time. K3 has the odd elements.
type halves struct{ halfDType }

func (h halves) load(e *emitter, v value, base string, u int) int {
	reg := e.take(v)
	switch {
	case h.name == "Float16":
		p("VCVTPH2PS %d(%s), %s", u*32, base, e.r(reg))
	case u%2 == 0:
		p("PREFETCHT0 %d(%s)\nVPSLLD $16, %d(%s), %s", near+u*32, base, u*32, base, e.r(reg))
	default:
		p("VMOVDQU16.Z %d(%s), K3, %s", u/2*64, base, e.r(reg))
	}
	return reg
}

func (h halves) store(e *emitter, results []value) {
	none := value(len(e.l.ops))
	constant := func(c uint32) string { return fmt.Sprintf("%d(AX)", e.table.offset(uint64(c)<<32|uint64(c))) }
	inf, nan := e.take(none), e.take(none)
	p("VPBROADCASTD %s, Z%d\nVPBROADCASTD %s, Z%d", constant(h.inf<<17|h.inf<<1), inf, constant(h.nan<<16|h.nan), nan)
	for u := 0; u < len(results); u += 2 {
		a, b := e.home[results[u]], e.home[results[u+1]]
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
	for i, name := range []string{"VMOVDQU64", "VMOVNTDQ"} {
		p([]string{"TESTQ R9, R9\nJNZ around", "JMP next\naround:"}[i])
		for u := 0; u < len(results); u += 2 {
			p("%s Z%d, %d(DI)", name, e.home[results[u]], u*32)
		}
	}
	p("next:")
}

// printHalfPass prints the loop of a [HalfPass].
func printHalfPass(l *line, result value, d halfDType, table *constants) {
	one := &emitter{l: l, wide: true, table: table}
	one.prepare(48)
	p("MOVL $0xaaaaaaaa, BX\nKMOVD BX, K3")
	if !one.fits([]int{2}, func(e *emitter, n int) {
		several, results := l.interleaved(result, n)
		p("IMULQ $%d, DX\nloop:", n*16)
		e.with(several).print(results, halves{d})
		p("ADDQ $%[1]d, SI\nADDQ DX, R8\nADDQ $%[1]d, DI\nSUBQ $%d, CX\nJGT loop\nVZEROUPPER\nRET\n", n*32, n*16)
	}) {
		panic(errRegisters)
	}
}
