package ptx

import "strings"

// arg is a parsed operand.
type arg struct {
	kind     byte // 'r' register, 'i' number, 'v' variable's address, 's' special register, '[' memory, '{' vector, '_' nothing, 'n' other name
	reg      register
	number   uint64
	variable *variable
	name     string
	negate   bool  // !p
	pair     *arg  // q of p|q
	base     *arg  // base of a memory operand
	list     []arg // elements of a vector
}

// instr is an instruction during decoding.
type instr struct {
	*builder
	line   int
	text   string // the opcode
	base   string
	mods   []string
	used   []bool
	types  []typ
	args   []arg
	out    op
	vector int
}

func (b *builder) instruction() {
	in := &instr{builder: b, line: b.list[b.i].line, vector: 1}
	in.out.guard, in.out.member = -1, -1
	if b.accept("@") {
		in.out.negate = b.accept("!")
		name := b.next()
		r, ok := b.register(name)
		if !ok || r.typ.kind != 'p' {
			b.fail("guard %s is not a predicate", name)
		}
		in.out.guard = int32(r.i)
	}
	in.text = b.next()
	in.opcode()
	if in.base == "call" {
		b.call(in)
		return
	}
	for b.peek() != ";" {
		in.args = append(in.args, in.operand())
		if !b.accept(",") {
			break
		}
	}
	if !b.accept(";") {
		in.refuse("got %q after its operands, want ;", b.peek())
	}
	build := builders[in.base]
	if build == nil {
		in.refuse("unknown instruction")
	}
	in.out.line, in.out.text = int32(in.line), in.text
	in.out.run = build(in)
	for i, used := range in.used {
		if !used {
			in.refuse("modifier .%s is not supported", in.mods[i])
		}
	}
	b.emit(in.out)
}

// opcode splits an opcode such as "ld.global.v2.f32".
func (in *instr) opcode() {
	parts := strings.Split(in.text, ".")
	in.base = parts[0]
	for _, p := range parts[1:] {
		switch t, ok := types[p]; {
		case ok:
			in.types = append(in.types, t)
		case p == "v2":
			in.vector = 2
		case p == "v4":
			in.vector = 4
		default:
			in.mods = append(in.mods, p)
			in.used = append(in.used, false)
		}
	}
}

func (in *instr) refuse(format string, args ...any) {
	in.i = max(0, in.i-1)
	in.fail(in.text+": "+format, args...)
}

// need refuses the instruction if the module's version or target is too old for it.
func (in *instr) need(version, sm int) {
	if in.m.version() < version || in.m.Capability() < sm {
		in.refuse("needs .version %d.%d and .target sm_%d; the module has %s and %s", version/10, version%10, sm, in.m.Version, in.m.Target)
	}
}

// has reports whether the opcode has a modifier.
func (in *instr) has(name string) bool {
	found := false
	for i, m := range in.mods {
		if m == name {
			in.used[i], found = true, true
		}
	}
	return found
}

// one returns the first of the modifiers that the opcode has, or "".
func (in *instr) one(names ...string) string {
	for _, name := range names {
		if in.has(name) {
			return name
		}
	}
	return ""
}

// typ returns the i-th type of the opcode, counted from the end if negative.
func (in *instr) typ(i int) typ {
	if i < 0 {
		i += len(in.types)
	}
	if i < 0 || i >= len(in.types) {
		in.refuse("lacks a type")
	}
	return in.types[i]
}

// count refuses the instruction unless it has n operands.
func (in *instr) count(n int) {
	if len(in.args) != n {
		in.refuse("%d operands, want %d", len(in.args), n)
	}
}

func (in *instr) operand() (a arg) {
	switch w := in.next(); {
	case w == "{":
		a.kind = '{'
		for !in.accept("}") {
			a.list = append(a.list, in.operand())
			in.accept(",")
		}
		return a
	case w == "[":
		base := in.operand()
		a.kind, a.base = '[', &base
		in.expect("]")
		return a
	case w == "!":
		a = in.operand()
		a.negate = true
		return a
	case w == "_":
		a.kind = '_'
	default:
		in.i--
		a = in.plain()
	}
	if in.accept("|") {
		q := in.operand()
		a.pair = &q
	}
	return a
}

// plain parses a register, a number or a name, with an optional offset.
func (in *instr) plain() (a arg) {
	w := in.peek()
	if w == "-" || w[0] >= '0' && w[0] <= '9' {
		return arg{kind: 'i', number: in.literal()}
	}
	in.next()
	a.name = w
	if r, ok := in.register(w); ok {
		a.kind, a.reg = 'r', r
	} else if w[0] == '%' {
		a.kind = 's'
	} else if v := in.symbol(w); v != nil {
		a.kind, a.variable = 'v', v
	} else {
		a.kind = 'n'
	}
	switch {
	case in.accept("+"):
		a.number = in.literal()
	case in.peek() == "-":
		a.number = in.literal()
	}
	return a
}

// source returns the register of an operand of type t.
func (in *instr) source(a arg, t typ) int {
	if a.kind == 'r' && !a.reg.typ.holds(t) {
		in.refuse("%s is %s, want %s", a.name, a.reg.typ.name(), t.name())
	}
	return in.wide(a, t)
}

// wide is source for instructions that accept registers wider than t.
func (in *instr) wide(a arg, t typ) int {
	switch a.kind {
	case 'r':
		if a.reg.typ.width() < t.width() {
			in.refuse("%s is %s, want %s or wider", a.name, a.reg.typ.name(), t.name())
		}
		return a.reg.i
	case 'i':
		return in.constant(constant{value: cut(a.number, t.width())})
	case 'v':
		return in.address(a)
	case 's':
		return in.special(a.name)
	}
	in.refuse("operand is %q, want a register or a number", a.name)
	return 0
}

// address returns the register that holds a variable's address.
func (in *instr) address(a arg) int {
	at := a.variable.at
	if a.variable.space == "frame" {
		at += frameBase
	}
	return in.constant(constant{value: at + a.number, dynamic: a.variable.space == "shared" && a.variable.extern})
}

// target returns the register of a result of type t.
func (in *instr) target(a arg, t typ) int {
	if a.kind == '_' {
		return in.scratch()
	}
	if a.kind != 'r' {
		in.refuse("result is %q, want a register", a.name)
	}
	if !a.reg.typ.holds(t) {
		in.refuse("result %s is %s, want %s", a.name, a.reg.typ.name(), t.name())
	}
	return a.reg.i
}

// wideTarget is target for instructions that extend their result to the register's width, which it
// returns too.
func (in *instr) wideTarget(a arg, t typ) (reg, width int) {
	if a.kind == '_' {
		return in.scratch(), t.width()
	}
	if a.kind != 'r' || a.reg.typ.width() < t.width() || a.reg.typ.kind == 'p' {
		in.refuse("result is %q, want a register of %s or wider", a.name, t.name())
	}
	return a.reg.i, a.reg.typ.width()
}
