package main

import (
	"fmt"
	"slices"
	"strings"
)

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

// memory prints loads of a loop's numbers into registers, and stores from registers.
type memory interface {
	// load returns the register of number u of the operand at base.
	load(e *emitter, v value, base string, u int) int
	// store puts all results where they belong.
	store(e *emitter, results []value)
}

// floats are float32 in memory; if masked, those that mask K1 selects. Several registers at a time are
// prefetched, and stored around the caches if R9 is not 0.
type floats struct{ masked, several bool }

func (f floats) load(e *emitter, v value, base string, u int) int {
	reg := e.take(v)
	name, text := "VMOVUPS", e.narrowest(reg)
	if !e.l.single {
		name, text = "VCVTPS2PD", e.r(reg)
	}
	at := fmt.Sprintf("%d(%s)", u*e.lanes()*4, base)
	if f.several {
		p("PREFETCHT0 %d(%s)", near+u*e.lanes()*4, base)
	}
	if f.masked {
		p("%s.Z %s, K1, %s", name, at, text)
	} else {
		p("%s %s, %s", name, at, text)
	}
	return reg
}

func (f floats) store(e *emitter, results []value) {
	for _, v := range results {
		if r := e.home[v]; !e.l.single {
			p("%s %s, %s", e.toSingle(), e.r(r), e.narrowest(r))
		}
	}
	mask := ""
	if f.masked {
		mask = "K1, "
	}
	put := func(name string) {
		for u, v := range results {
			p("%s %s, %s%d(DI)", name, e.narrowest(e.home[v]), mask, u*e.lanes()*4)
		}
	}
	if !f.several {
		put("VMOVUPS")
		return
	}
	p("TESTQ R9, R9\nJNZ around")
	put("VMOVUPS")
	p("JMP next\naround:")
	put("VMOVNTPS")
	p("next:")
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
	limit := registers
	if e.limit > 0 {
		limit = e.limit
	}
	e.home, e.owner = slices.Repeat([]int{-1}, len(e.l.ops)), slices.Repeat([]int{-1}, limit)
	e.last = e.l.usesOf(results)
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
		e.home[i] = e.instruction(i, o, m)
		e.releaseDead()
	}
	m.store(e, results)
}

// binaries holds the instructions of operations with two operands.
var binaries = map[string]struct {
	name     string
	kind     byte // 'n' for numbers, 'b' for integers as wide as numbers, 'r' for whole registers
	commutes bool
}{
	"add":   {"VADD", 'n', true},
	"and":   {"VPAND", 'r', true},
	"div":   {"VDIV", 'n', false},
	"max":   {"VMAX", 'n', false},
	"min":   {"VMIN", 'n', false},
	"minus": {"VPSUB", 'b', false},
	"mul":   {"VMUL", 'n', true},
	"or":    {"VPOR", 'r', true},
	"plus":  {"VPADD", 'b', true},
	"sub":   {"VSUB", 'n', false},
	"xor":   {"VPXOR", 'r', true},
}

// instruction prints operation i, which is o, and returns the register of its result.
func (e *emitter) instruction(i int, o operation, m memory) (to int) {
	if b, ok := binaries[o.name]; ok {
		name := b.name
		switch {
		case b.kind == 'n':
			name = e.of(name)
		case b.kind == 'b':
			name = e.ofBits(name)
		case e.wide:
			name += "Q"
		}
		return e.binary(i, name, o.in[0], o.in[1], b.commutes)
	}
	switch o.name {
	case "x":
		return m.load(e, value(i), "SI", int(o.bits))
	case "y":
		return m.load(e, value(i), "R8", int(o.bits))
	case "shifted":
		return e.shifted(i, int(o.bits), m)
	case "fma":
		return e.fused(i, "VFMADD", o.in[0], o.in[1], o.in[2])
	case "fnma":
		return e.fused(i, "VFNMADD", o.in[0], o.in[1], o.in[2])
	case "left", "right":
		return e.unary(i, fmt.Sprintf("%s $%d,", e.ofBits("VPS"+strings.ToUpper(o.name[:1])+"L"), o.bits), o.in[0])
	case "rightSigned":
		return e.unary(i, fmt.Sprintf("VPSRAD $%d,", o.bits), o.in[0])
	case "toFloat":
		return e.unary(i, "VCVTDQ2PS", o.in[0])
	case "exponent":
		return e.unary(i, "VGETEXPPS", o.in[0])
	case "fraction":
		return e.unary(i, "VGETMANTPS $11,", o.in[0])
	case "rsqrtEstimate":
		return e.unary(i, "VRSQRT14PS", o.in[0])
	case "sqrt":
		return e.unary(i, e.of("VSQRT"), o.in[0])
	case "lookup":
		return e.lookup(i, o.in[0], int(o.bits)*128)
	case "scale":
		return e.scale(i, o.in[0], o.in[1])
	case "less":
		return e.less(i, o.in[0], o.in[1], o.in[2], o.in[3])
	}
	panic(o.name)
}

// unary prints an instruction with one operand.
func (e *emitter) unary(i int, name string, v value) int {
	from := e.reg(v)
	to := e.fresh(i, v)
	p("%s %s, %s", name, e.r(from), e.r(to))
	return to
}

// shifted prints the load of number u of x and the subtraction of alpha.
func (e *emitter) shifted(i, u int, m memory) int {
	alpha := e.narrowest(e.alphaRegister())
	if e.l.single {
		to := m.load(e, value(i), "SI", u)
		p("VSUBPS %s, %s, %s", alpha, e.r(to), e.r(to))
		return to
	}
	to := e.take(value(i))
	half := e.narrowest(to)
	p("VMOVUPS %d(SI), %s\nVSUBPS %s, %s, %s\nVCVTPS2PD %s, %s", u*e.lanes()*4, half, alpha, half, half, half, e.r(to))
	return to
}

// less prints the choice of a where x is less than y, and of b elsewhere.
func (e *emitter) less(i int, x, y, a, b value) int {
	rx := e.reg(x)
	text, suffix := e.operand(y)
	if e.wide {
		p("%s%s $0x11, %s, %s, K2", e.of("VCMP"), suffix, text, e.r(rx))
		at, asuffix := e.operand(a)
		rb := e.reg(b)
		to := e.fresh(i, b, x, y, a)
		p("%s%s %s, %s, K2, %s", e.of("VBLENDM"), asuffix, at, e.r(rb), e.r(to))
		return to
	}
	mask := e.take(value(len(e.l.ops)))
	p("%s $0x11, %s, %s, %s", e.of("VCMP"), text, e.r(rx), e.r(mask))
	at, _ := e.operand(a)
	rb := e.reg(b)
	to := e.fresh(i, b, x, y, a)
	p("%s %s, %s, %s, %s", e.of("VBLENDV"), e.r(mask), at, e.r(rb), e.r(to))
	e.release(mask)
	return to
}

// lookup prints the load of an entry of a table by permutations, of 32 numbers with AVX-512 and of 8 with
// AVX2, where bits 3 and 4 of the index choose between four of them.
func (e *emitter) lookup(i int, index value, table int) int {
	from := e.reg(index)
	none := value(len(e.l.ops))
	to := e.take(value(i))
	if e.wide {
		p("VMOVUPS %d(R10), Z%d\nVPERMT2PS %d(R10), Z%d, Z%d", table, to, table+64, from, to)
		return to
	}
	other, last, bit := e.take(none), e.take(none), e.take(none)
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
