package ssa

import "fmt"

// instruction prints a line, whose value is i, and returns the register of its result.
func (e *Emitter) instruction(i Value, l line, m Memory) int {
	o := operations[l.name]
	if o.has(wide) && !e.Wide {
		panic(fmt.Sprintf("ssa: %q for AVX2, want an operation that is not of AVX-512 alone", l.name))
	}
	switch l.name {
	case "x":
		return m.Load(e, i, "SI", int(l.bits))
	case "y":
		return m.Load(e, i, "R8", int(l.bits))
	case "shifted":
		return e.shifted(i, int(l.bits), m)
	case "lookup":
		return e.lookup(i, l.in[0], int(l.bits)*128)
	case "scale":
		return e.scale(i, l.in[0], l.in[1])
	case "less":
		return e.less(i, l)
	case "fma", "fnma":
		return e.fused(i, l, o.instruction)
	}
	if o.operands == 1 {
		return e.unary(i, e.of(l, o.instruction), l.in[0])
	}
	return e.binary(i, e.of(l, o.instruction), l.in[0], l.in[1], o.has(commutes))
}

// unary prints an instruction with one operand.
func (e *Emitter) unary(i Value, name string, v Value) int {
	from := e.reg(v)
	to := e.fresh(i, v)
	e.p("%s %s, %s", name, e.Name(from), e.Name(to))
	return to
}

// binary prints an instruction with two operands; b may be in memory.
func (e *Emitter) binary(i Value, name string, a, b Value, commutes bool) int {
	if commutes && e.isConst(a) {
		a, b = b, a
	}
	ra := e.reg(a)
	text, suffix := e.operand(b)
	to := e.fresh(i, a, b)
	e.p("%s%s %s, %s, %s", name, suffix, text, e.Name(ra), e.Name(to))
	return to
}

// fused prints a multiply-add. It selects the form that overwrites an operand that is not read again, and that has
// a constant in memory.
func (e *Emitter) fused(i Value, l line, name string) int {
	a, b, c := l.in[0], l.in[1], l.in[2]
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
	// The form's digits are the places of the operands: 213 is a = b*a + c, 132 is a = a*b + c, and 231 is c = a*b + c;
	// the operand that may be in memory comes first.
	form, memory, register, to := "231", b, a, c
	switch {
	case e.isConst(c) || !e.isConst(b) && e.dies(a):
		form, memory, register, to = "213", c, b, a
	case e.isConst(b) && e.dies(a):
		form, memory, register, to = "132", b, c, a
	}
	text, suffix := e.operand(memory)
	from := e.Name(e.home[register])
	reg := e.into(i, to, true)
	e.p("%s%s %s, %s, %s", e.of(l, name+form+"{P}"), suffix, text, from, e.Name(reg))
	return reg
}

// shifted prints the load of number u of x and the subtraction of alpha.
func (e *Emitter) shifted(i Value, u int, m Memory) int {
	alpha := e.Float32(e.alpha())
	if e.Program.Single {
		to := m.Load(e, i, "SI", u)
		e.p("VSUBPS %s, %s, %s", alpha, e.Name(to), e.Name(to))
		return to
	}
	to := e.Take(i)
	half := e.Float32(to)
	e.p("VMOVUPS %d(SI), %s\nVSUBPS %s, %s, %s\nVCVTPS2PD %s, %s", u*e.Lanes()*4, half, alpha, half, half, half, e.Name(to))
	return to
}

// less prints the choice of a where x is less than y, and of b elsewhere.
func (e *Emitter) less(i Value, l line) int {
	x, y, a, b := l.in[0], l.in[1], l.in[2], l.in[3]
	rx := e.reg(x)
	text, suffix := e.operand(y)
	mask, blend := none, "VBLENDV{P}"
	name := "K2"
	if e.Wide {
		blend = "VBLENDM{P}"
	} else {
		mask = e.Take(temporary)
		name = e.Name(mask)
	}
	e.p("%s%s $0x11, %s, %s, %s", e.of(l, "VCMP{P}"), suffix, text, e.Name(rx), name)
	text, suffix = e.operand(a)
	rb := e.reg(b)
	to := e.fresh(i, b, x, y, a)
	if e.Wide {
		e.p("%s%s %s, %s, %s, %s", e.of(l, blend), suffix, text, e.Name(rb), name, e.Name(to))
	} else {
		e.p("%s %s, %s, %s, %s", e.of(l, blend), name, text, e.Name(rb), e.Name(to))
		e.Release(mask)
	}
	return to
}

// lookup prints the load of an entry of a table by permutations, of 32 numbers with AVX-512 and of 8 with
// AVX2, where bits 3 and 4 of the index choose between four of them.
func (e *Emitter) lookup(i, index Value, table int) int {
	from := e.reg(index)
	to := e.Take(i)
	if e.Wide {
		e.p("VMOVUPS %d(R10), Z%d\nVPERMT2PS %d(R10), Z%d, Z%d", table, to, table+64, from, to)
		return to
	}
	other, last, bit := e.Take(temporary), e.Take(temporary), e.Take(temporary)
	pair := func(at, to int) {
		e.p("VPERMPS %d(R10), Y%d, Y%d\nVPERMPS %d(R10), Y%d, Y%d\nVBLENDVPS Y%d, Y%d, Y%d, Y%d", table+at, from, to, table+at+32, from, last, bit, last, to, to)
	}
	e.p("VPSLLD $28, Y%d, Y%d", from, bit)
	pair(0, to)
	pair(64, other)
	e.p("VPSLLD $27, Y%d, Y%d\nVBLENDVPS Y%d, Y%d, Y%d, Y%d", from, bit, bit, other, to, to)
	e.Release(other, last, bit)
	return to
}

// scale prints y 2^n. AVX2 multiplies by two powers of 2.
func (e *Emitter) scale(i, y, n Value) int {
	ry, rn := e.reg(y), e.reg(n)
	if e.Wide {
		to := e.fresh(i, y, n)
		e.p("VSCALEFPS %s, %s, %s", e.Name(rn), e.Name(ry), e.Name(to))
		return to
	}
	rest, half := e.Take(temporary), e.Take(temporary)
	bias := e.Program.Tables.Offset32(127)
	e.p("VCVTPS2DQ Y%d, Y%d\nVPSRAD $1, Y%d, Y%d\nVPSUBD Y%d, Y%d, Y%d", rn, rest, rest, half, half, rest, rest)
	for _, r := range []int{half, rest} {
		e.p("VPADDD %d(AX), Y%d, Y%d\nVPSLLD $23, Y%d, Y%d", bias, r, r, r, r)
	}
	to := e.fresh(i, y, n)
	e.p("VMULPS Y%d, Y%d, Y%d\nVMULPS Y%d, Y%d, Y%d", half, ry, to, rest, to, to)
	e.Release(rest, half)
	return to
}
