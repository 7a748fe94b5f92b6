package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// variable is a named piece of memory.
type variable struct {
	name   string
	space  string // global, const, shared, local, param
	typ    typ
	align  int
	size   int
	extern bool // dynamic shared memory, whose size the launch sets
	init   []initial
	at     uint64 // address within its space, once placed
}

// initial is the initial value of an element: a number, or the address of a variable.
type initial struct {
	number uint64
	name   string
}

// function is an entry or device function before decoding.
type function struct {
	name       string
	entry      bool
	params     []variable
	results    []variable
	body       []token
	line       int
	maxThreads int // product of .maxntid or .reqntid, 0 without either
}

// parser parses a module, except for function bodies.
type parser struct {
	list []token
	i    int
	m    *Module
}

type syntaxError struct {
	line int
	text string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("ptx: line %d: %s", e.line, e.text) }

func (p *parser) fail(format string, args ...any) {
	line := 0
	if len(p.list) > 0 {
		line = p.list[max(0, min(p.i, len(p.list)-1))].line
	}
	panic(&syntaxError{line, fmt.Sprintf(format, args...)})
}

func (p *parser) more() bool { return p.i < len(p.list) }

func (p *parser) peek() string {
	if !p.more() {
		return ""
	}
	return p.list[p.i].text
}

func (p *parser) next() string {
	if !p.more() {
		p.fail("unexpected end of the text")
	}
	p.i++
	return p.list[p.i-1].text
}

func (p *parser) accept(s string) bool {
	if p.peek() == s {
		p.i++
		return true
	}
	return false
}

func (p *parser) expect(s string) {
	if !p.accept(s) {
		p.fail("%q, want %q", p.peek(), s)
	}
}

func (p *parser) number() int {
	s := p.next()
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "U"), 0, 64)
	if err != nil {
		p.fail("%q, want a number", s)
	}
	return int(n)
}

// module parses directives, variables and functions.
func (p *parser) module() {
	extern := false
	for p.more() {
		switch w := p.next(); w {
		case ".version":
			p.m.Version = p.next()
		case ".target":
			p.m.Target = p.next()
			for p.accept(",") {
				p.next()
			}
		case ".address_size":
			if n := p.number(); n != 64 {
				p.fail(".address_size %d, want 64", n)
			}
		case ".visible", ".weak", ".common":
		case ".extern":
			extern = true
			continue
		case ".entry", ".func":
			p.function(w == ".entry")
		case ".global", ".const", ".shared":
			v := p.variable(w[1:], extern)
			if _, ok := p.m.vars[v.name]; ok && !extern {
				p.fail("%s is declared twice", v.name)
			}
			p.m.vars[v.name] = v
			p.m.order = append(p.m.order, v)
			p.expect(";")
		case ".pragma", ".alias":
			for p.next() != ";" {
			}
		case ";":
		default:
			p.i--
			p.fail("unexpected %q outside a function", w)
		}
		extern = false
	}
}

// variable parses a declaration such as ".align 4 .b8 name[16] = {…}", after the name of the space.
func (p *parser) variable(space string, extern bool) *variable {
	v := &variable{space: space, extern: extern}
	vector := 1
	for strings.HasPrefix(p.peek(), ".") {
		switch w := p.next(); w {
		case ".align":
			if v.align = p.number(); v.align < 1 || v.align > 4096 || v.align&(v.align-1) != 0 {
				p.fail(".align %d, want a power of 2", v.align)
			}
		case ".v2":
			vector = 2
		case ".v4":
			vector = 4
		case ".ptr", ".global", ".const", ".shared", ".local", ".attribute":
		default:
			t, ok := types[w[1:]]
			if !ok {
				p.fail("%q, want a type", w)
			}
			v.typ = t
		}
	}
	v.name = p.next()
	if v.typ.bits == 0 {
		p.fail("%s has no type", v.name)
	}
	elem := max(1, v.typ.bytes()) * vector
	v.size = elem
	v.align = max(v.align, elem)
	for p.accept("[") {
		if p.accept("]") {
			v.size = 0
			continue
		}
		n := p.number()
		if n < 0 || n > 1<<30 || v.size*n > 1<<30 {
			p.fail("%s is larger than %d bytes", v.name, 1<<30)
		}
		v.size *= n
		p.expect("]")
	}
	if p.accept("=") {
		p.initials(v)
		if v.size == 0 {
			v.size = elem * len(v.init)
		}
	}
	return v
}

func (p *parser) initials(v *variable) {
	if p.accept("{") {
		for !p.accept("}") {
			p.initials(v)
			p.accept(",")
		}
		return
	}
	if s := p.peek(); s == "" {
		p.fail("unexpected end of the text in the initial values of %s", v.name)
	} else if s == "-" || s[0] >= '0' && s[0] <= '9' {
		v.init = append(v.init, initial{number: p.literal()})
		return
	}
	name := p.next()
	if name == "generic" {
		p.expect("(")
		name = p.next()
		p.expect(")")
	}
	in := initial{name: name}
	if p.accept("+") {
		in.number = p.literal()
	}
	v.init = append(v.init, in)
}

// literal parses a number in any notation. It returns the bits of floats.
func (p *parser) literal() uint64 {
	negative := p.accept("-")
	s := p.next()
	x, ok := literal(s)
	if !ok {
		p.fail("%q, want a number", s)
	}
	if negative {
		x = -x
	}
	return x
}

func literal(s string) (x uint64, ok bool) {
	var err error
	switch {
	case len(s) == 10 && (strings.HasPrefix(s, "0f") || strings.HasPrefix(s, "0F")):
		x, err = strconv.ParseUint(s[2:], 16, 32)
	case len(s) == 18 && (strings.HasPrefix(s, "0d") || strings.HasPrefix(s, "0D")):
		x, err = strconv.ParseUint(s[2:], 16, 64)
	default:
		x, err = strconv.ParseUint(strings.TrimSuffix(s, "U"), 0, 64)
	}
	return x, err == nil
}

// function parses the text after .entry or .func.
func (p *parser) function(entry bool) {
	f := &function{entry: entry, line: p.list[p.i-1].line}
	if p.peek() == "(" {
		f.results = p.params()
	}
	f.name = p.next()
	if p.peek() == "(" {
		f.params = p.params()
	}
	for {
		switch w := p.next(); w {
		case ";": // a declaration
			if p.m.functions[f.name] == nil {
				p.m.functions[f.name] = f
			}
			return
		case ".maxntid", ".reqntid":
			f.maxThreads = p.number()
			for p.accept(",") {
				f.maxThreads *= p.number()
			}
		case ".minnctapersm", ".maxnreg":
			p.number()
		case ".noreturn":
		case "{":
			start := p.i
			for depth := 1; depth > 0; {
				switch p.next() {
				case "{":
					depth++
				case "}":
					depth--
				}
			}
			f.body = p.list[start : p.i-1]
			if g := p.m.functions[f.name]; g != nil && g.body != nil {
				p.fail("%s is defined twice", f.name)
			}
			p.m.functions[f.name] = f
			return
		default:
			p.i--
			p.fail("unexpected %q before the body of %s", w, f.name)
		}
	}
}

// params parses a list such as "(.param .u64 a, .param .align 8 .b8 b[64])".
func (p *parser) params() (list []variable) {
	p.expect("(")
	for !p.accept(")") {
		p.expect(".param")
		list = append(list, *p.variable("param", false))
		p.accept(",")
	}
	return list
}
