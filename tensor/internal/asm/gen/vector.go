package main

import "fmt"

// vector describes the registers of a pass. With AVX-512 they have 16 lanes and masks. With AVX2 they
// have 8 lanes, and register 15 is the mask, so that passes use those below.
type vector struct {
	r        string // name of registers
	prefix   string // prefix of kernel names
	lanes    int
	constant int // first register of constants
}

var vectors = []vector{{"Z", "", 16, 16}, {"Y", "avx2", 8, 8}}

// name returns the name of a pass in the tier.
func (v vector) name(s string) string {
	if v.prefix == "" {
		return s
	}
	return v.prefix + string(s[0]-'a'+'A') + s[1:]
}

// op prints an instruction on registers.
func (v vector) op(name string, regs ...int) {
	s := name
	for i, r := range regs {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %s%d", v.r, r)
	}
	p("%s", s)
}

// zero prints code that sets a register to zeros.
func (v vector) zero(r int) {
	if v.lanes == 16 {
		v.op("VPXORD", r, r, r)
	} else {
		v.op("VPXOR", r, r, r)
	}
}

// load and store move the register at base + u registers. If part is set, they move only the lanes of
// the mask.
func (v vector) load(base string, u int, part bool, to int) {
	at := fmt.Sprintf("%d(%s)", u*v.lanes*4, base)
	switch {
	case !part:
		p("VMOVUPS %s, %s%d", at, v.r, to)
	case v.lanes == 16:
		p("VMOVUPS.Z %s, K1, Z%d", at, to)
	default:
		p("VMASKMOVPS %s, Y15, Y%d", at, to)
	}
}

func (v vector) store(from int, base string, u int, part bool) {
	at := fmt.Sprintf("%d(%s)", u*v.lanes*4, base)
	switch {
	case !part:
		p("VMOVUPS %s%d, %s", v.r, from, at)
	case v.lanes == 16:
		p("VMOVUPS Z%d, K1, %s", from, at)
	default:
		p("VMASKMOVPS Y%d, Y15, %s", from, at)
	}
}

// step advances the pointers by n registers.
func (v vector) step(n int, pointers ...string) {
	for _, r := range pointers {
		p("ADDQ $%d, %s", n*v.lanes*4, r)
	}
}

// blocks prints a loop over CX elements: four registers per iteration, then one, then the remainder.
// turn prints the body for n registers.
func (v vector) blocks(turn func(n int, part bool)) {
	if v.lanes == 16 {
		blocks(func(n int, _, k string) { turn(n, k != "") })
		return
	}
	p("SUBQ $32, CX\nJLT tail\nloop:")
	turn(4, false)
	p("SUBQ $32, CX\nJGE loop\ntail:\nADDQ $32, CX\nfew:\nSUBQ $8, CX\nJLT part")
	turn(1, false)
	p("JMP few\npart:\nADDQ $8, CX\nJZ done")
	maskOfCX()
	turn(1, true)
	p("done:")
}

// maskOfCX prints code that sets register 15 to the mask of the first CX of 8 lanes.
func maskOfCX() { p("VMOVQ CX, X15\nVPBROADCASTD X15, Y15\nVPCMPGTD ·counting<>(SB), Y15, Y15") }

// counting prints the constants 0 to 7.
func counting() {
	for i := range 8 {
		p("DATA ·counting<>+%d(SB)/4, $%d", i*4, i)
	}
	p("GLOBL ·counting<>(SB), RODATA|NOPTR, $32\n")
}
