package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A function of float32 is computed in float64, so that its rounded value is nearly
// always the nearest float32: a straight line of operations without branches, which
// is printed thrice, with registers of eight and of four numbers and in Go. All three
// do the same operations in the same order and give the same bits.

// A value is the result of an operation, by number.
type value int

type operation struct {
	name string
	in   []value
	bits uint64 // of a constant
}

// line is a function under construction. Equal operations become one.
type line struct{ ops []operation }

func (l *line) do(name string, bits uint64, in ...value) value {
	for i, o := range l.ops {
		if o.name == name && o.bits == bits && slices.Equal(o.in, in) {
			return value(i)
		}
	}
	l.ops = append(l.ops, operation{name, in, bits})
	return value(len(l.ops) - 1)
}

func (l *line) float(c float64) value { return l.do("const", math.Float64bits(c)) }
func (l *line) bits(c uint64) value   { return l.do("const", c) }

func (l *line) x() value       { return l.do("x", 0) }
func (l *line) y() value       { return l.do("y", 0) }
func (l *line) shifted() value { return l.do("shifted", 0) } // x - alpha, rounded to float32

func (l *line) fma(a, b, c value) value  { return l.do("fma", 0, a, b, c) }  // a*b + c
func (l *line) fnma(a, b, c value) value { return l.do("fnma", 0, a, b, c) } // c - a*b
func (l *line) add(a, b value) value     { return l.do("add", 0, a, b) }
func (l *line) sub(a, b value) value     { return l.do("sub", 0, a, b) }
func (l *line) mul(a, b value) value     { return l.do("mul", 0, a, b) }
func (l *line) max(a, b value) value     { return l.do("max", 0, a, b) } // b if one is NaN
func (l *line) min(a, b value) value     { return l.do("min", 0, a, b) } // likewise
func (l *line) and(a, b value) value     { return l.do("and", 0, a, b) }
func (l *line) or(a, b value) value      { return l.do("or", 0, a, b) }
func (l *line) xor(a, b value) value     { return l.do("xor", 0, a, b) }
func (l *line) plus(a, b value) value    { return l.do("plus", 0, a, b) }  // of bits
func (l *line) minus(a, b value) value   { return l.do("minus", 0, a, b) } // of bits
func (l *line) left(a value, n int) value {
	return l.do("left", uint64(n), a)
}
func (l *line) right(a value, n int) value { return l.do("right", uint64(n), a) }

// inverse returns 1/alpha, which is computed once.
func (l *line) inverse() value { return l.do("inverse", 0) }

// less returns a where x < y, else b.
func (l *line) less(x, y, a, b value) value { return l.do("less", 0, x, y, a, b) }

// near returns the float32 that is the reciprocal of a as a float32.
func (l *line) near(a value) value { return l.do("near", 0, a) }

// root returns the float32 that is the square root of a as a float32.
func (l *line) root(a value) value { return l.do("root", 0, a) }

// usesOf returns for each operation the last that reads it.
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

// printGo prints a function as Go.
func (l *line) printGo(name, comment string, result value) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n// %s returns %s.\nfunc %s(x, y, alpha float32) float32 {\n", name, comment, name)
	ref := func(v value) string {
		o := l.ops[v]
		if o.name != "const" {
			return fmt.Sprintf("v%d", v)
		}
		if f := math.Float64frombits(o.bits); !math.IsInf(f, 0) && f == f && math.Abs(f) >= 0x1p-1022 && f != 0 {
			return "float64(" + strconv.FormatFloat(f, 'x', -1, 64) + ")"
		}
		return fmt.Sprintf("math.Float64frombits(0x%x)", o.bits)
	}
	raw := func(v value) string {
		if o := l.ops[v]; o.name == "const" {
			return fmt.Sprintf("0x%x", o.bits)
		}
		return "math.Float64bits(" + ref(v) + ")"
	}
	for i, o := range l.ops {
		if o.name == "const" {
			continue
		}
		r := make([]string, len(o.in))
		w := make([]string, len(o.in))
		for j, v := range o.in {
			r[j], w[j] = ref(v), raw(v)
		}
		integer := func(op string) string {
			return fmt.Sprintf("math.Float64frombits(%s %s %s)", w[0], op, w[1])
		}
		var e string
		switch o.name {
		case "x", "y":
			e = "float64(" + o.name + ")"
		case "shifted":
			e = "float64(x - alpha)"
		case "inverse":
			e = "1 / float64(alpha)"
		case "fma":
			e = fmt.Sprintf("math.FMA(%s, %s, %s)", r[0], r[1], r[2])
		case "fnma":
			e = fmt.Sprintf("math.FMA(-%s, %s, %s)", r[0], r[1], r[2])
		case "add":
			e = r[0] + " + " + r[1]
		case "sub":
			e = r[0] + " - " + r[1]
		case "mul":
			e = fmt.Sprintf("float64(%s * %s)", r[0], r[1])
		case "max", "min", "less":
			op, x, y, a, b2 := "<", r[0], r[1], r[0], r[1]
			if o.name == "max" {
				op = ">"
			}
			if o.name == "less" {
				a, b2 = r[2], r[3]
			}
			fmt.Fprintf(&b, "v%d := %s\nif %s %s %s {\nv%d = %s\n}\n", i, b2, x, op, y, i, a)
			continue
		case "and":
			e = integer("&")
		case "or":
			e = integer("|")
		case "xor":
			e = integer("^")
		case "plus":
			e = integer("+")
		case "minus":
			e = integer("-")
		case "left":
			e = fmt.Sprintf("math.Float64frombits(%s << %d)", w[0], o.bits)
		case "right":
			e = fmt.Sprintf("math.Float64frombits(%s >> %d)", w[0], o.bits)
		case "near":
			e = fmt.Sprintf("float64(1 / float32(%s))", r[0])
		case "root":
			e = fmt.Sprintf("float64(float32(math.Sqrt(float64(float32(%s)))))", r[0])
		default:
			panic(o.name)
		}
		fmt.Fprintf(&b, "v%d := %s\n", i, e)
	}
	fmt.Fprintf(&b, "return float32(%s)\n}\n", ref(result))
	return b.String()
}

// constants are those of all functions, as often as the widest operand of AVX2 has them.
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

// emitter prints a line for one kind of registers.
type emitter struct {
	l       *line
	wide    bool
	table   *constants
	home    []int // the register of each value, -1: none
	owner   []int // the value in each register, -1: none
	last    []int // the operation that reads a value last
	present int
}

func (e *emitter) r(reg int) string {
	if e.wide {
		return fmt.Sprintf("Z%d", reg)
	}
	return fmt.Sprintf("Y%d", reg)
}

// take returns a register that is free.
func (e *emitter) take(v value) int {
	for reg, owner := range e.owner {
		if owner < 0 {
			e.owner[reg] = int(v)
			return reg
		}
	}
	panic("there are too few registers")
}

func (e *emitter) release(reg int) { e.owner[reg] = -1 }

// dies reports whether the present operation is the last that reads v.
func (e *emitter) dies(v value) bool { return e.last[v] <= e.present && e.home[v] >= 0 }

// operand returns v as the one operand of an instruction that may be in memory, and
// the suffix that the instruction needs then.
func (e *emitter) operand(v value) (text, suffix string) {
	if o := e.l.ops[v]; o.name == "const" && e.home[v] < 0 {
		if e.wide {
			suffix = ".BCST"
		}
		return fmt.Sprintf("%d(AX)", e.table.offset(o.bits)), suffix
	}
	return e.r(e.home[v]), ""
}

// reg returns a register that holds v, which is a constant if it has none yet.
func (e *emitter) reg(v value) int {
	if e.home[v] >= 0 {
		return e.home[v]
	}
	reg := e.take(v)
	p("VBROADCASTSD %d(AX), %s", e.table.offset(e.l.ops[v].bits), e.r(reg))
	e.home[v] = reg
	return reg
}

// isConst reports whether v is a constant in no register.
func (e *emitter) isConst(v value) bool { return e.l.ops[v].name == "const" && e.home[v] < 0 }

// into returns a register for the result i: v's own if v is read no more, else a new
// one, with v's value in it if copied.
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

// binary prints an instruction of two operands, of which b may be in memory.
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

// fresh returns a register for result i, one of in if that is read no more.
func (e *emitter) fresh(i int, in ...value) int {
	for _, v := range in {
		if e.dies(v) {
			return e.into(i, v, false)
		}
	}
	return e.take(value(i))
}

// fused prints a multiply-add of the form that overwrites what is read no more and has
// a constant in memory.
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

// prepare prints what is to be done once: constants' address, alpha in register 31 or
// 15, and its inverse in the one before, if the line reads that.
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
	q := "" // of instructions on bits
	if e.wide {
		q = "Q"
	}
	half := func(reg int) string { return fmt.Sprintf("%s%d", narrow, reg) }
	for i, o := range e.l.ops {
		switch o.name {
		case "const":
			continue
		case "inverse": // it has its register already
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
		// What is read no more makes room, constants at once.
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
