package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// constants holds the constants of all functions. Each is stored four times, for the operands of AVX2.
type constants struct {
	list []uint64
	at   map[uint64]int
}

func (c *constants) offset(bits uint64) int {
	if c.at == nil {
		c.at = map[uint64]int{}
	}
	i, ok := c.at[bits]
	if !ok {
		i = len(c.list)
		c.at[bits] = i
		c.list = append(c.list, bits)
	}
	return i * 32
}

func (c *constants) print() {
	for i, bits := range c.list {
		for j := range 4 {
			p("DATA ·constants<>+%d(SB)/8, $0x%016x", i*32+j*8, bits)
		}
	}
	p("GLOBL ·constants<>(SB), RODATA|NOPTR, $%d\n", len(c.list)*32)
}

// emitter prints a line for one width of registers.
type emitter struct {
	l       *line
	wide    bool
	table   *constants
	home    []int // register of each value, -1 for none
	owner   []int // value in each register, -1 for none
	last    []int // last operation that reads each value
	present int
}

func (e *emitter) r(reg int) string {
	if e.wide {
		return fmt.Sprintf("Z%d", reg)
	}
	return fmt.Sprintf("Y%d", reg)
}

// take returns a free register, now owned by v.
func (e *emitter) take(v value) int {
	for reg, owner := range e.owner {
		if owner < 0 {
			e.owner[reg] = int(v)
			return reg
		}
	}
	panic("too few registers")
}

func (e *emitter) release(reg int) { e.owner[reg] = -1 }

// dies reports whether the current operation is the last that reads v.
func (e *emitter) dies(v value) bool { return e.last[v] <= e.present && e.home[v] >= 0 }

// operand returns v as the operand of an instruction that may be in memory, and the suffix that the
// instruction then needs.
func (e *emitter) operand(v value) (text, suffix string) {
	if o := e.l.ops[v]; o.name == "const" && e.home[v] < 0 {
		if e.wide {
			suffix = ".BCST"
		}
		return fmt.Sprintf("%d(AX)", e.table.offset(o.bits)), suffix
	}
	return e.r(e.home[v]), ""
}

// reg returns a register that holds v. It loads v if it is a constant without a register.
func (e *emitter) reg(v value) int {
	if e.home[v] >= 0 {
		return e.home[v]
	}
	reg := e.take(v)
	p("VBROADCASTSD %d(AX), %s", e.table.offset(e.l.ops[v].bits), e.r(reg))
	e.home[v] = reg
	return reg
}

// isConst reports whether v is a constant without a register.
func (e *emitter) isConst(v value) bool { return e.l.ops[v].name == "const" && e.home[v] < 0 }

// into returns a register for result i: that of v if v is not read again, otherwise a new one, which
// holds a copy of v if copied is set.
func (e *emitter) into(i int, v value, copied bool) int {
	if e.dies(v) {
		reg := e.home[v]
		e.home[v] = -2
		e.owner[reg] = i
		return reg
	}
	if copied && e.isConst(v) {
		reg := e.take(value(i))
		p("VBROADCASTSD %d(AX), %s", e.table.offset(e.l.ops[v].bits), e.r(reg))
		return reg
	}
	reg := e.take(value(i))
	if copied {
		p("VMOVAPD %s, %s", e.r(e.home[v]), e.r(reg))
	}
	return reg
}

// binary prints an instruction with two operands; b may be in memory.
func (e *emitter) binary(i int, name string, a, b value, commutes bool) int {
	if commutes && e.isConst(a) {
		a, b = b, a
	}
	ra := e.reg(a)
	text, suffix := e.operand(b)
	to := e.fresh(i, a, b)
	p("%s%s %s, %s, %s", name, suffix, text, e.r(ra), e.r(to))
	return to
}

// fresh returns a register for result i: that of one of in if it is not read again, otherwise a new
// one.
func (e *emitter) fresh(i int, in ...value) int {
	for _, v := range in {
		if e.dies(v) {
			return e.into(i, v, false)
		}
	}
	return e.take(value(i))
}

// fused prints a multiply-add. It selects the form that overwrites an operand that is not read again,
// and that has a constant in memory.
func (e *emitter) fused(i int, name string, a, b, c value) int {
	if e.isConst(a) {
		a, b = b, a
	}
	if e.isConst(a) || e.isConst(b) && e.isConst(c) {
		e.reg(a)
		if e.isConst(b) {
			e.reg(b)
		}
	}
	if e.dies(b) && !e.dies(a) {
		a, b = b, a
	}
	switch {
	case e.isConst(c) || !e.isConst(b) && e.dies(a):
		text, suffix := e.operand(c)
		rb := e.r(e.home[b])
		to := e.into(i, a, true)
		p("%s213PD%s %s, %s, %s", name, suffix, text, rb, e.r(to))
		return to
	case e.isConst(b) && e.dies(a):
		text, suffix := e.operand(b)
		rc := e.r(e.home[c])
		to := e.into(i, a, true)
		p("%s132PD%s %s, %s, %s", name, suffix, text, rc, e.r(to))
		return to
	}
	text, suffix := e.operand(b)
	ra := e.r(e.home[a])
	to := e.into(i, c, true)
	p("%s231PD%s %s, %s, %s", name, suffix, text, ra, e.r(to))
	return to
}

// prepare prints the code before the loop: the address of constants, alpha in register 31 or 15, and
// its inverse in the register before if the line reads it.
func (e *emitter) prepare() {
	p("LEAQ ·constants<>(SB), AX")
	alpha, narrow, last := 15, "X", 14
	if e.wide {
		alpha, narrow, last = 31, "Y", 30
	}
	p("VBROADCASTSS alpha+32(FP), %s%d", narrow, alpha)
	if slices.ContainsFunc(e.l.ops, func(o operation) bool { return o.name == "inverse" }) {
		p("VCVTPS2PD %s%d, %s\nVBROADCASTSD %d(AX), %s", narrow, alpha, e.r(last), e.table.offset(math.Float64bits(1)), e.r(0))
		p("VDIVPD %s, %s, %s", e.r(last), e.r(0), e.r(last))
	}
}

// print prints the line for the numbers at SI and R8 and stores the result at DI.
func (e *emitter) print(result value) {
	registers, narrow, alpha := 15, "X", "X15"
	if e.wide {
		registers, narrow, alpha = 31, "Y", "Y31"
	}
	e.home, e.owner = make([]int, len(e.l.ops)), make([]int, registers)
	for i := range e.home {
		e.home[i] = -1
	}
	for i := range e.owner {
		e.owner[i] = -1
	}
	e.last = e.l.usesOf(result)
	q := "" // suffix of instructions on bits
	if e.wide {
		q = "Q"
	}
	half := func(reg int) string { return fmt.Sprintf("%s%d", narrow, reg) }
	for i, o := range e.l.ops {
		switch o.name {
		case "const":
			continue
		case "inverse": // already in its register
			e.home[i], e.last[i] = registers-1, len(e.l.ops)
			e.owner[registers-1] = i
			continue
		}
		e.present = i
		var to int
		switch o.name {
		case "x":
			to = e.take(value(i))
			p("VCVTPS2PD (SI), %s", e.r(to))
		case "y":
			to = e.take(value(i))
			p("VCVTPS2PD (R8), %s", e.r(to))
		case "shifted":
			to = e.take(value(i))
			p("VMOVUPS (SI), %s\nVSUBPS %s, %s, %s\nVCVTPS2PD %s, %s", half(to), alpha, half(to), half(to), half(to), e.r(to))
		case "fma":
			to = e.fused(i, "VFMADD", o.in[0], o.in[1], o.in[2])
		case "fnma":
			to = e.fused(i, "VFNMADD", o.in[0], o.in[1], o.in[2])
		case "add":
			to = e.binary(i, "VADDPD", o.in[0], o.in[1], true)
		case "sub":
			to = e.binary(i, "VSUBPD", o.in[0], o.in[1], false)
		case "mul":
			to = e.binary(i, "VMULPD", o.in[0], o.in[1], true)
		case "max":
			to = e.binary(i, "VMAXPD", o.in[0], o.in[1], false)
		case "min":
			to = e.binary(i, "VMINPD", o.in[0], o.in[1], false)
		case "and":
			to = e.binary(i, "VPAND"+q, o.in[0], o.in[1], true)
		case "or":
			to = e.binary(i, "VPOR"+q, o.in[0], o.in[1], true)
		case "xor":
			to = e.binary(i, "VPXOR"+q, o.in[0], o.in[1], true)
		case "plus":
			to = e.binary(i, "VPADDQ", o.in[0], o.in[1], true)
		case "minus":
			to = e.binary(i, "VPSUBQ", o.in[0], o.in[1], false)
		case "left", "right":
			from := e.reg(o.in[0])
			to = e.fresh(i, o.in[0])
			p("VPS%sLQ $%d, %s, %s", strings.ToUpper(o.name[:1]), o.bits, e.r(from), e.r(to))
		case "root":
			from := e.reg(o.in[0])
			to = e.fresh(i, o.in[0])
			length := ""
			if !e.wide {
				length = "Y"
			}
			p("VCVTPD2PS%s %s, %s\nVSQRTPS %s, %s\nVCVTPS2PD %s, %s", length, e.r(from), half(to), half(to), half(to), half(to), e.r(to))
		case "near":
			from := e.reg(o.in[0])
			to = e.fresh(i, o.in[0])
			one := e.take(value(len(e.l.ops)))
			length := ""
			if !e.wide {
				length = "Y"
			}
			p("VCVTPD2PS%s %s, %s", length, e.r(from), half(to))
			p("VBROADCASTSS %d(AX), %s", e.table.offset(0x3f8000003f800000), half(one))
			p("VDIVPS %s, %s, %s\nVCVTPS2PD %s, %s", half(to), half(one), half(to), half(to), e.r(to))
			e.release(one)
		case "less":
			x, y, a, b := o.in[0], o.in[1], o.in[2], o.in[3]
			rx := e.reg(x)
			text, suffix := e.operand(y)
			if e.wide {
				p("VCMPPD%s $0x11, %s, %s, K2", suffix, text, e.r(rx))
				at, asuffix := e.operand(a)
				rb := e.reg(b)
				to = e.fresh(i, b, x, y, a)
				p("VBLENDMPD%s %s, %s, K2, %s", asuffix, at, e.r(rb), e.r(to))
				break
			}
			mask := e.take(value(len(e.l.ops)))
			p("VCMPPD $0x11, %s, %s, %s", text, e.r(rx), e.r(mask))
			at, _ := e.operand(a)
			rb := e.reg(b)
			to = e.fresh(i, b, x, y, a)
			p("VBLENDVPD %s, %s, %s, %s", e.r(mask), at, e.r(rb), e.r(to))
			e.release(mask)
		default:
			panic(o.name)
		}
		e.home[i] = to
		// Release the registers of values that are not read again, and of constants.
		for v := range e.home {
			reg := e.home[v]
			if reg < 0 || v == i {
				continue
			}
			if e.last[v] <= i || e.l.ops[v].name == "const" {
				if e.owner[reg] == v {
					e.release(reg)
				}
				e.home[v] = -1
			}
		}
	}
	r := e.home[result]
	length := ""
	if !e.wide {
		length = "Y"
	}
	p("VCVTPD2PS%s %s, %s\nVMOVUPS %s, (DI)", length, e.r(r), half(r), half(r))
}

// usesOf returns for each operation the last one that reads its result.
func (l *line) usesOf(result value) []int {
	last := make([]int, len(l.ops))
	for i, o := range l.ops {
		for _, v := range o.in {
			last[v] = i
		}
	}
	last[result] = len(l.ops)
	return last
}
