package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// run executes an instruction for the threads of a warp in the mask m.
type run func(w *warp, m uint32)

// Kinds of ops, by their effect on the program counter.
const (
	opRun     = iota
	opBranch  // goes to target
	opTable   // goes to table[run's register]
	opExit    // ends threads
	opSync    // waits for the threads of a mask, then runs
	opBarrier // waits for other warps, then runs
)

// op is a decoded instruction.
type op struct {
	run    run
	kind   uint8
	negate bool
	guard  int32 // predicate's register, -1 for none
	target int32
	member int32 // opSync: register of the mask, -1 for the whole warp; opTable: register of the index
	line   int32
	table  []int32
	text   string

	barrier barrierOp
}

// A constant is a register whose lanes all hold one number. A special register is filled by a
// function of the thread's position.
type (
	constant struct {
		reg     int
		value   uint64
		dynamic bool // value is an offset in dynamic shared memory
	}
	special struct {
		reg  int
		fill func(w *warp, lane uint32) uint64
	}
	register struct {
		i   int
		typ typ
	}
)

// scope holds the names declared between two braces.
type scope struct {
	up     *scope
	regs   map[string]register
	ranges map[string]register // first register of a range such as %r<8>, by prefix
	counts map[string]int
	vars   map[string]*variable
	labels map[string]int32
	tables map[string][]string
}

// fix is a branch to a label whose position is not known yet.
type fix struct {
	op    int
	entry int // index in the op's table, -1 for its target
	label string
	scope *scope
	line  int
}

// builder decodes a kernel. Called functions are inlined.
type builder struct {
	*parser
	k         *Kernel
	scope     *scope
	fixes     []fix
	returns   []int // branches to the end of the function that is being decoded
	calls     []string
	constants map[constant]int
	specials  map[string]int
	align     int // alignment of dynamic shared memory
	placed    map[*variable]bool
	shared    map[string]*variable // shared variables by function and name; all calls of a function use the same one
}

func decode(k *Kernel, f *function) {
	b := &builder{k: k, constants: map[constant]int{}, specials: map[string]int{}, align: 16, placed: map[*variable]bool{}, shared: map[string]*variable{}}
	bind := map[string]*variable{}
	for i := range f.params {
		v := f.params[i]
		v.at = uint64(k.Params[i].Offset)
		bind[v.name] = &v
	}
	b.function(f, bind)
	k.code = append(k.code, op{kind: opExit, guard: -1, line: int32(f.line), text: "end of " + f.name})
	k.dynamicAt = round(k.Shared, b.align)
	for i := range k.constants {
		if k.constants[i].dynamic {
			k.constants[i].value += uint64(k.dynamicAt)
		}
	}
}

// function decodes a body with its parameters bound to memory.
func (b *builder) function(f *function, bind map[string]*variable) {
	if slices.Contains(b.calls, f.name) {
		b.fail("%s calls itself, which is not supported", f.name)
	}
	outer, scopeBefore, returns := b.parser, b.scope, b.returns
	b.calls = append(b.calls, f.name)
	b.parser, b.scope, b.returns = &parser{list: f.body, m: b.k.module}, nil, nil
	b.push()
	b.scope.vars = bind
	for b.more() {
		b.statement()
	}
	end := int32(len(b.k.code))
	for _, i := range b.returns {
		b.k.code[i].target = end
	}
	b.resolve()
	b.parser, b.scope, b.returns = outer, scopeBefore, returns
	b.calls = b.calls[:len(b.calls)-1]
}

// resolve sets the targets of branches, at the end of a function.
func (b *builder) resolve() {
	for _, f := range b.fixes {
		at, ok := int32(0), false
		for s := f.scope; s != nil && !ok; s = s.up {
			at, ok = s.labels[f.label]
		}
		if !ok {
			panic(&syntaxError{f.line, fmt.Sprintf("label %s is not defined", f.label)})
		}
		if f.entry < 0 {
			b.k.code[f.op].target = at
		} else {
			b.k.code[f.op].table[f.entry] = at
		}
	}
	b.fixes = nil
}

func (b *builder) push() {
	b.scope = &scope{up: b.scope, regs: map[string]register{}, ranges: map[string]register{}, counts: map[string]int{},
		vars: map[string]*variable{}, labels: map[string]int32{}, tables: map[string][]string{}}
}

func (b *builder) statement() {
	switch w := b.next(); {
	case w == "{":
		b.push()
	case w == "}":
		if b.scope = b.scope.up; b.scope == nil {
			b.fail("} without {")
		}
	case w == ";":
	case w == ".reg":
		b.registers()
	case w == ".local" || w == ".shared" || w == ".param" || w == ".global" || w == ".const":
		v := b.variable(w[1:], false)
		b.expect(";")
		switch w {
		case ".param":
			v.space = "frame"
		case ".shared":
			v = b.once(b.calls[len(b.calls)-1]+" "+v.name, v)
		}
		b.scope.vars[v.name] = v
	case w == ".pragma":
		for b.next() != ";" {
		}
	case b.peek() == ":":
		b.next()
		b.label(w)
	default:
		b.i--
		b.instruction()
	}
}

func (b *builder) label(name string) {
	switch b.peek() {
	case ".branchtargets":
		b.next()
		var list []string
		for !b.accept(";") {
			list = append(list, b.next())
			b.accept(",")
		}
		b.scope.tables[name] = list
	case ".callprototype", ".calltargets":
		for b.next() != ";" {
		}
	default:
		if _, ok := b.scope.labels[name]; ok {
			b.fail("label %s is defined twice", name)
		}
		b.scope.labels[name] = int32(len(b.k.code))
	}
}

// registers parses a declaration such as ".b32 %r<8>;" or ".pred p, q;".
func (b *builder) registers() {
	w := b.next()
	t, ok := types[strings.TrimPrefix(w, ".")]
	if !ok {
		b.fail("%q, want a type", w)
	}
	for {
		name, n := b.next(), 1
		if b.accept("<") {
			if n = b.number(); n < 1 || n > 1<<16 {
				b.fail("%d registers, want 1 to %d", n, 1<<16)
			}
			b.expect(">")
			b.scope.ranges[name] = register{b.k.size, t}
			b.scope.counts[name] = n
		} else {
			b.scope.regs[name] = register{b.k.size, t}
		}
		b.k.size += n
		if t.kind != 'p' {
			b.k.Registers += n * max(1, t.width()/32)
		}
		if b.accept(";") {
			return
		}
		b.expect(",")
	}
}

// register finds a declared register.
func (b *builder) register(name string) (register, bool) {
	digits := len(name)
	for digits > 0 && name[digits-1] >= '0' && name[digits-1] <= '9' {
		digits--
	}
	n := -1
	if digits < len(name) && len(name)-digits < 8 {
		n = 0
		for _, c := range name[digits:] {
			n = 10*n + int(c-'0')
		}
	}
	for s := b.scope; s != nil; s = s.up {
		if r, ok := s.regs[name]; ok {
			return r, true
		}
		if r, ok := s.ranges[name[:digits]]; ok && n >= 0 && n < s.counts[name[:digits]] {
			return register{r.i + n, r.typ}, true
		}
	}
	return register{}, false
}

// symbol returns a variable, which is given an address at its first use, or nil.
func (b *builder) symbol(name string) *variable {
	for s := b.scope; s != nil; s = s.up {
		if v := s.vars[name]; v != nil {
			b.place(v)
			return v
		}
	}
	if v := b.m.vars[name]; v != nil {
		if v.space == "shared" { // its offset depends on the kernel
			own := *v
			v = b.once(name, &own)
		}
		b.place(v)
		return v
	}
	return nil
}

// once returns the shared variable with this name, which is v if the name is new.
func (b *builder) once(name string, v *variable) *variable {
	if b.shared[name] == nil {
		b.shared[name] = v
	}
	return b.shared[name]
}

func (b *builder) place(v *variable) {
	if b.placed[v] {
		return
	}
	b.placed[v] = true
	switch {
	case v.space == "shared" && v.extern:
		b.align = max(b.align, v.align)
	case v.space == "shared":
		b.k.Shared = round(b.k.Shared, v.align)
		v.at = uint64(b.k.Shared)
		b.k.Shared += v.size
	case v.space == "local" || v.space == "frame":
		b.k.Local = round(b.k.Local, v.align)
		v.at = uint64(b.k.Local)
		b.k.Local += v.size
	}
}

// constant returns the register that holds a constant.
func (b *builder) constant(c constant) int {
	i, ok := b.constants[c]
	if !ok {
		i = b.scratch()
		b.constants[c] = i
		c.reg = i
		b.k.constants = append(b.k.constants, c)
	}
	return i
}

// scratch returns a new register.
func (b *builder) scratch() int {
	b.k.size++
	return b.k.size - 1
}

func (b *builder) emit(o op) int {
	b.k.code = append(b.k.code, o)
	return len(b.k.code) - 1
}
