package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
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

// printLookups prints the tables.
func printLookups() {
	for i, table := range lookups {
		for j, v := range table {
			p("DATA ·lookups<>+%d(SB)/4, $0x%08x", i*128+j*4, math.Float32bits(float32(v)))
		}
	}
	p("GLOBL ·lookups<>(SB), RODATA|NOPTR, $%d\n", len(lookups)*128)
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
	limit   int            // number of registers that values may use, 0 for all
	pinned  map[uint64]int // registers that hold constants throughout a loop
}

func (e *emitter) r(reg int) string {
	if e.wide {
		return fmt.Sprintf("Z%d", reg)
	}
	return fmt.Sprintf("Y%d", reg)
}

// of returns the name of an instruction on numbers, for those of the line.
func (e *emitter) of(name string) string {
	if e.l.single {
		return name + "PS"
	}
	return name + "PD"
}

// ofBits returns the name of an instruction on bits.
func (e *emitter) ofBits(name string) string {
	if e.l.single {
		return name + "D"
	}
	return name + "Q"
}

// word returns the bits of a constant as the table has them: those of a single line twice.
func (e *emitter) word(v value) uint64 {
	bits := e.l.ops[v].bits
	if e.l.single {
		return bits<<32 | bits
	}
	return bits
}

var errRegisters = errors.New("too few registers")

// take returns a free register, now owned by v.
func (e *emitter) take(v value) int {
	for reg, owner := range e.owner {
		if owner < 0 {
			e.owner[reg] = int(v)
			return reg
		}
	}
	panic(errRegisters)
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
		return fmt.Sprintf("%d(AX)", e.table.offset(e.word(v))), suffix
	}
	return e.r(e.home[v]), ""
}

// reg returns a register that holds v. It loads v if it is a constant without a register.
func (e *emitter) reg(v value) int {
	if e.home[v] >= 0 {
		return e.home[v]
	}
	reg := e.take(v)
	p("VBROADCASTSD %d(AX), %s", e.table.offset(e.word(v)), e.r(reg))
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
		p("VBROADCASTSD %d(AX), %s", e.table.offset(e.word(v)), e.r(reg))
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
		p("%s%s %s, %s, %s", e.of(name+"213"), suffix, text, rb, e.r(to))
		return to
	case e.isConst(b) && e.dies(a):
		text, suffix := e.operand(b)
		rc := e.r(e.home[c])
		to := e.into(i, a, true)
		p("%s%s %s, %s, %s", e.of(name+"132"), suffix, text, rc, e.r(to))
		return to
	}
	text, suffix := e.operand(b)
	ra := e.r(e.home[a])
	to := e.into(i, c, true)
	p("%s%s %s, %s, %s", e.of(name+"231"), suffix, text, ra, e.r(to))
	return to
}

// alphaRegister returns the register that holds alpha.
func (e *emitter) alphaRegister() int {
	if e.wide {
		return 31
	}
	return 15
}

func (e *emitter) reads(name string) bool {
	return slices.ContainsFunc(e.l.ops, func(o operation) bool { return o.name == name })
}

// prepare prints the code before the loop: the address of the constants, and alpha if the line
// reads it. offset is the place of alpha among the arguments.
func (e *emitter) prepare(offset int) {
	p("LEAQ ·constants<>(SB), AX")
	alpha := e.alphaRegister()
	if e.reads("shifted") || e.reads("alpha") {
		p("VBROADCASTSS alpha+%d(FP), %s", offset, e.narrowest(alpha))
	}
	if e.reads("lookup") {
		p("LEAQ ·lookups<>(SB), R10")
	}
}

// pin returns an emitter like e that keeps n constants of its line, those that are read most, in
// registers from the top down, and prints their loads.
func (e emitter) pin(n int) *emitter {
	e.pinned = map[uint64]int{}
	if e.limit == 0 {
		e.limit = e.alphaRegister()
	}
	for _, v := range e.l.constants()[:n] {
		e.limit--
		e.pinned[e.word(v)] = e.limit
		p("VBROADCASTSD %d(AX), %s", e.table.offset(e.word(v)), e.r(e.limit))
	}
	return &e
}

// with returns an emitter like e for another line.
func (e emitter) with(l *line) *emitter {
	e.l = l
	return &e
}

// constants returns the constants of a line, those first that are read most.
func (l *line) constants() (list []value) {
	uses := make([]int, len(l.ops))
	for i, o := range l.ops {
		for _, v := range o.in {
			uses[v]++
		}
		if o.name == "const" {
			list = append(list, value(i))
		}
	}
	slices.SortStableFunc(list, func(a, b value) int { return uses[b] - uses[a] })
	return list
}

// fits prints a loop with the largest number of results at a time, and then of constants in registers,
// for which there are registers, and reports whether there are enough. body prints it for a number of
// results.
func (e *emitter) fits(numbers []int, body func(e *emitter, n int)) bool {
	most := 0
	if e.wide {
		most = len(e.l.constants())
	}
	for _, n := range numbers {
		try := func(pins int) bool { return attempt(func() { body(e.pin(pins), n) }) }
		if !tried(func() bool { return try(0) }) {
			continue
		}
		pins := sort.Search(most, func(i int) bool { return !tried(func() bool { return try(i + 1) }) })
		return try(pins)
	}
	return false
}

// tried returns f's result without what it prints.
func tried(f func() bool) bool {
	before := text
	text = new(strings.Builder)
	ok := f()
	text = before
	return ok
}

// narrowest returns the name of the register that holds as many float32 as the line has numbers.
func (e *emitter) narrowest(reg int) string {
	switch {
	case e.l.single:
		return e.r(reg)
	case e.wide:
		return fmt.Sprintf("Y%d", reg)
	}
	return fmt.Sprintf("X%d", reg)
}

// lanes returns the number of values of the line in a register.
func (e *emitter) lanes() int {
	n := 4
	if e.wide {
		n = 8
	}
	if e.l.single {
		n *= 2
	}
	return n
}

// memory prints loads of a loop's numbers into registers, and stores from registers.
type memory interface {
	// load returns the register of number u of the operand at base.
	load(e *emitter, v value, base string, u int) int
	// store puts all results where they belong.
	store(e *emitter, results []value)
}

// floats are float32 in memory; if masked, those that mask K1 selects.
type floats struct{ masked bool }

func (f floats) load(e *emitter, v value, base string, u int) int {
	reg := e.take(v)
	name, text := "VMOVUPS", e.narrowest(reg)
	if !e.l.single {
		name, text = "VCVTPS2PD", e.r(reg)
	}
	at := fmt.Sprintf("%d(%s)", u*e.lanes()*4, base)
	if f.masked {
		p("%s.Z %s, K1, %s", name, at, text)
	} else {
		p("%s %s, %s", name, at, text)
	}
	return reg
}

func (f floats) store(e *emitter, results []value) {
	for u, v := range results {
		r := e.home[v]
		if !e.l.single {
			p("%s %s, %s", e.toSingle(), e.r(r), e.narrowest(r))
		}
		mask := ""
		if f.masked {
			mask = "K1, "
		}
		p("VMOVUPS %s, %s%d(DI)", e.narrowest(r), mask, u*e.lanes()*4)
	}
}

// toSingle returns the name of the conversion from float64.
func (e *emitter) toSingle() string {
	if e.wide {
		return "VCVTPD2PS"
	}
	return "VCVTPD2PSY"
}

// print prints the line for the numbers at SI and R8 and stores the results at DI. It panics with
// errRegisters if there are too few registers.
func (e *emitter) print(results []value, m memory) {
	registers := e.alphaRegister()
	alpha := e.narrowest(registers)
	limit := registers
	if e.limit > 0 {
		limit = e.limit
	}
	e.home, e.owner = make([]int, len(e.l.ops)), make([]int, limit)
	for i := range e.home {
		e.home[i] = -1
	}
	for i := range e.owner {
		e.owner[i] = -1
	}
	e.last = e.l.usesOf(results)
	q := "" // suffix of instructions on bits
	if e.wide {
		q = "Q"
	}
	half := e.narrowest
	for i, o := range e.l.ops {
		switch o.name {
		case "const":
			if reg, ok := e.pinned[e.word(value(i))]; ok {
				e.home[i], e.last[i] = reg, len(e.l.ops)
			}
			continue
		case "alpha":
			e.home[i], e.last[i] = registers, len(e.l.ops)
			continue
		}
		e.present = i
		var to int
		switch o.name {
		case "x":
			to = m.load(e, value(i), "SI", int(o.bits))
		case "y":
			to = m.load(e, value(i), "R8", int(o.bits))
		case "shifted":
			if e.l.single {
				to = m.load(e, value(i), "SI", int(o.bits))
				p("VSUBPS %s, %s, %s", alpha, e.r(to), e.r(to))
				break
			}
			to = e.take(value(i))
			p("VMOVUPS %d(SI), %s\nVSUBPS %s, %s, %s\nVCVTPS2PD %s, %s", int(o.bits)*e.lanes()*4, half(to), alpha, half(to), half(to), half(to), e.r(to))
		case "fma":
			to = e.fused(i, "VFMADD", o.in[0], o.in[1], o.in[2])
		case "fnma":
			to = e.fused(i, "VFNMADD", o.in[0], o.in[1], o.in[2])
		case "add":
			to = e.binary(i, e.of("VADD"), o.in[0], o.in[1], true)
		case "sub":
			to = e.binary(i, e.of("VSUB"), o.in[0], o.in[1], false)
		case "mul":
			to = e.binary(i, e.of("VMUL"), o.in[0], o.in[1], true)
		case "div":
			to = e.binary(i, e.of("VDIV"), o.in[0], o.in[1], false)
		case "max":
			to = e.binary(i, e.of("VMAX"), o.in[0], o.in[1], false)
		case "min":
			to = e.binary(i, e.of("VMIN"), o.in[0], o.in[1], false)
		case "and":
			to = e.binary(i, "VPAND"+q, o.in[0], o.in[1], true)
		case "or":
			to = e.binary(i, "VPOR"+q, o.in[0], o.in[1], true)
		case "xor":
			to = e.binary(i, "VPXOR"+q, o.in[0], o.in[1], true)
		case "plus":
			to = e.binary(i, e.ofBits("VPADD"), o.in[0], o.in[1], true)
		case "minus":
			to = e.binary(i, e.ofBits("VPSUB"), o.in[0], o.in[1], false)
		case "left", "right":
			from := e.reg(o.in[0])
			to = e.fresh(i, o.in[0])
			p("%s $%d, %s, %s", e.ofBits("VPS"+strings.ToUpper(o.name[:1])+"L"), o.bits, e.r(from), e.r(to))
		case "rightSigned":
			from := e.reg(o.in[0])
			to = e.fresh(i, o.in[0])
			p("VPSRAD $%d, %s, %s", o.bits, e.r(from), e.r(to))
		case "toFloat", "sqrt":
			from := e.reg(o.in[0])
			to = e.fresh(i, o.in[0])
			p("%s %s, %s", map[string]string{"toFloat": "VCVTDQ2PS", "sqrt": e.of("VSQRT")}[o.name], e.r(from), e.r(to))
		case "lookup":
			to = e.lookup(i, o.in[0], int(o.bits)*128)
		case "scale":
			to = e.scale(i, o.in[0], o.in[1])
		case "less":
			x, y, a, b := o.in[0], o.in[1], o.in[2], o.in[3]
			rx := e.reg(x)
			text, suffix := e.operand(y)
			if e.wide {
				p("%s%s $0x11, %s, %s, K2", e.of("VCMP"), suffix, text, e.r(rx))
				at, asuffix := e.operand(a)
				rb := e.reg(b)
				to = e.fresh(i, b, x, y, a)
				p("%s%s %s, %s, K2, %s", e.of("VBLENDM"), asuffix, at, e.r(rb), e.r(to))
				break
			}
			mask := e.take(value(len(e.l.ops)))
			p("%s $0x11, %s, %s, %s", e.of("VCMP"), text, e.r(rx), e.r(mask))
			at, _ := e.operand(a)
			rb := e.reg(b)
			to = e.fresh(i, b, x, y, a)
			p("%s %s, %s, %s, %s", e.of("VBLENDV"), e.r(mask), at, e.r(rb), e.r(to))
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
			if e.last[v] <= i || e.l.ops[v].name == "const" && e.last[v] < len(e.l.ops) {
				if reg < len(e.owner) && e.owner[reg] == v {
					e.release(reg)
				}
				e.home[v] = -1
			}
		}
	}
	m.store(e, results)
}

// lookup prints the load of an entry of a table by permutations, of 32 numbers with AVX-512 and of 8 with
// AVX2, where bits 3 and 4 of the index choose between four of them.
func (e *emitter) lookup(i int, index value, table int) int {
	from := e.reg(index)
	none := value(len(e.l.ops))
	to, other := e.take(value(i)), e.take(none)
	if e.wide {
		p("VMOVAPS Z%d, Z%d\nVMOVUPS %d(R10), Z%d\nVPERMI2PS %d(R10), Z%d, Z%d", from, to, table, other, table+64, other, to)
		e.release(other)
		return to
	}
	last, bit := e.take(none), e.take(none)
	pair := func(at, to int) {
		p("VPERMPS %d(R10), Y%d, Y%d\nVPERMPS %d(R10), Y%d, Y%d\nVBLENDVPS Y%d, Y%d, Y%d, Y%d", table+at, from, to, table+at+32, from, last, bit, last, to, to)
	}
	p("VPSLLD $28, Y%d, Y%d", from, bit)
	pair(0, to)
	pair(64, other)
	p("VPSLLD $27, Y%d, Y%d\nVBLENDVPS Y%d, Y%d, Y%d, Y%d", from, bit, bit, other, to, to)
	e.release(other)
	e.release(last)
	e.release(bit)
	return to
}

// scale prints y 2^n. AVX2 multiplies by two powers of 2.
func (e *emitter) scale(i int, y, n value) int {
	ry, rn := e.reg(y), e.reg(n)
	if e.wide {
		to := e.fresh(i, y, n)
		p("VSCALEFPS %s, %s, %s", e.r(rn), e.r(ry), e.r(to))
		return to
	}
	rest, half := e.take(value(len(e.l.ops))), e.take(value(len(e.l.ops)))
	bias := e.table.offset(127<<32 | 127)
	p("VCVTPS2DQ %s, %s\nVPSRAD $1, %s, %s\nVPSUBD %s, %s, %s", e.r(rn), e.r(rest), e.r(rest), e.r(half), e.r(half), e.r(rest), e.r(rest))
	for _, r := range []int{half, rest} {
		p("VPADDD %d(AX), %s, %s\nVPSLLD $23, %s, %s", bias, e.r(r), e.r(r), e.r(r), e.r(r))
	}
	to := e.fresh(i, y, n)
	p("VMULPS %s, %s, %s\nVMULPS %s, %s, %s", e.r(half), e.r(ry), e.r(to), e.r(rest), e.r(to), e.r(to))
	e.release(rest)
	e.release(half)
	return to
}

// usesOf returns for each operation the last one that reads its result.
func (l *line) usesOf(results []value) []int {
	last := make([]int, len(l.ops))
	for i, o := range l.ops {
		for _, v := range o.in {
			last[v] = i
		}
	}
	for _, v := range results {
		last[v] = len(l.ops)
	}
	return last
}
