package interp

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomPrelude declares what all random programs use.
var randomPrelude = `func id[T any](x T) T { return x }
func cut(s string) string { if len(s) > 24 { return s[len(s)-24:] }; return s }
func larger[T int | float64 | string | uint8 | int32](a, b T) T { if a > b { return a }; return b }
type couple[A, B any] struct { First A; Second B }
func (c couple[A, B]) Swap() couple[B, A] { return couple[B, A]{c.Second, c.First} }
func upTo(n int) func(func(int) bool) { return func(yield func(int) bool) { for i := 0; i < n && yield(i); i++ {} } }
func each[T, U any](xs []T, f func(T) U) []U { var list []U; for _, x := range xs { list = append(list, f(x)) }; return list }
type measured interface { Size() int }
type holder struct { measured; n int }
type number int
func (n number) Size() int { return int(n) }
func sum(xs ...int) (s int) { for _, x := range xs { s += x }; return }` + newerPrelude()

// newerPrelude declares what programs in the language of Go 1.27 use too.
func newerPrelude() string {
	if !newest() {
		return ""
	}
	return `
func (c couple[A, B]) Map[C any](f func(A, B) C) C { return f(c.First, c.Second) }
func (c *couple[A, B]) With[C any](x C, more ...C) couple[B, C] { for _, y := range more { x = y }; return couple[B, C]{c.Second, x} }
func (n number) Add[I ~int | ~uint8 | ~int32](x I) number { return n + number(x) }
type outer struct { Name string; couple[int, string]; number }
func two(s string) (int, string) { return len(s), s }
func (o outer) Joined[X any](n int, s string, xs ...X) string { return fmt.Sprint(n, s, xs, o.First) }`
}

// newerForms lists more forms of expressions of a type, in the language of Go 1.27.
func newerForms(typ string) []string {
	if !newest() {
		return nil
	}
	switch typ {
	case "int":
		return []string{"couple[int, string]{$int$, $string$}.Map(func(a int, b string) int { return a + len(b) })", "number($int$).Add(id($uint8$)).Size()",
			"(&couple[bool, int]{$bool$, $int$}).With[string]($string$).First", "func(f func(int32) number) int { return f($int32$).Size() }(number($int$).Add)",
			"couple[string, int].Map[int](couple[string, int]{$string$, $int$}, func(a string, b int) int { return b ^ len(a) })",
			"outer{Name: $string$, First: $int$, number: 3}.Add($int$).Size()", "[]func(int) int{id}[0]($int$)", "outer{Second: $string$}.Map(func(a int, b string) int { return len(b) - a })"}
	case "string":
		return []string{"(&couple[int, string]{$int$, $string$}).With($bool$, $bool$).First", "cut(outer{First: $int$}.Joined[bool](two($string$)))", "cut(outer{Second: $string$, Name: \"n\", First: $int$}.Joined($int$, $string$, $uint8$))", "outer{First: $int$, number: number($int$), Second: $string$}.Second"}
	case "func(int) int":
		return []string{"(func(int) int)(id)", "func() func(int) int { f := number($int$).Add[int]; return func(x int) int { return int(f(x)) } }()"}
	case "T":
		return []string{"T{A: $int$, Second: $string$, First: $int$}", "T{First: id($int$), B: id($string$), Second: id($string$), C: id($[]int$)}"}
	}
	return nil
}

// randomProgram is a program in two forms: cells, and the same text in a Go program.
type randomProgram struct {
	*rand.Rand
	name  string
	cells []string
	decls []string // the declarations of each cell in a Go program; "" for a cell that is a function there

	global map[string][]string // variables by their types
	local  []map[string][]string
	calls  []string // functions
	loops  []string // labels of the loops around
	n      int      // names so far
}

var randomTypes = []string{"int", "int", "int", "uint8", "int32", "float64", "string", "bool", "[]int", "map[string]int", "func(int) int", "T", "*T", "measured", "any", "[3]int"}

// newRandomProgram makes a program from a seed. Its names start with name.
func newRandomProgram(seed uint64, name string) *randomProgram {
	p := &randomProgram{Rand: rand.New(rand.NewPCG(seed, 24)), name: name, global: map[string][]string{}}
	const typ, methods = "type T struct { A int; B string; C []int; D float64; E [3]int; couple[int, string] }", "func (t T) Size() int { return t.A*3 + len(t.B) + len(t.C) + t.First }\nfunc (t *T) Grow(n int) *T { t.A += n; t.C = append(t.C, n); t.E[1]++; return t }"
	p.cell(typ, typ)
	p.cell(methods, methods)
	for range 2 + p.IntN(3) {
		p.variable()
	}
	for range 5 + p.IntN(6) {
		switch p.IntN(4) {
		case 0:
			p.variable()
		case 1:
			p.function()
		default:
			text := p.block(3+p.IntN(5), 3) + p.showAll()
			if p.IntN(4) == 0 {
				text += p.failing() + "\n"
			}
			p.cell(text, "")
		}
	}
	return p
}

// fill replaces the program's type T.
func (p *randomProgram) fill(text string) string {
	var b strings.Builder
	for i, r := range text {
		isName := func(c byte) bool {
			return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '"'
		}
		if r == 'T' && (i == 0 || !isName(text[i-1])) && (i+1 == len(text) || !isName(text[i+1])) {
			b.WriteString(p.name)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cell adds a cell, and what it declares.
func (p *randomProgram) cell(text, decl string) {
	p.cells, p.decls = append(p.cells, p.fill(text)), append(p.decls, p.fill(decl))
}

func (p *randomProgram) fresh() string { p.n++; return fmt.Sprintf("%sv%d", p.name, p.n) }

func (p *randomProgram) pick(list ...string) string { return list[p.IntN(len(list))] }

// variable declares a variable of the session.
func (p *randomProgram) variable() {
	typ, name := p.pick(randomTypes...), p.fresh()
	decl := "var " + name + " " + typ
	p.cell(decl+" = "+p.expr(typ, 1), decl)
	p.global[typ] = append(p.global[typ], name)
}

// function declares a function whose recursion ends.
func (p *randomProgram) function() {
	name, a, b := p.fresh(), p.fresh(), p.fresh()
	calls, global := p.calls, p.global
	p.calls, p.global = nil, nil // the number of calls stays small, and calls have no effect on the operands next to them
	p.local = append(p.local, map[string][]string{"int": {a}, "string": {b}})
	body := p.block(2+p.IntN(3), 2)
	recursion := ""
	if p.IntN(2) == 0 {
		recursion = fmt.Sprintf("if given > 0 && given < 9 { return %s(given-1, cut(%s+\"x\")) + %s }\n", name, b, p.expr("int", 1))
	}
	decl := fmt.Sprintf("func %s(%s int, %s string) (result int) {\ngiven := %s\n_ = given\n%s%s%sresult += %s\nreturn\n}", name, a, b, a, p.pick("", "defer func() { result++ }()\n"), body, recursion, p.expr("int", 2))
	p.cell(decl, decl)
	p.local = p.local[:len(p.local)-1]
	p.calls, p.global = append(calls, name), global
}

// vars lists the variables of a type that are in scope.
func (p *randomProgram) vars(typ string) (list []string) {
	list = append(list, p.global[typ]...)
	for _, scope := range p.local {
		list = append(list, scope[typ]...)
	}
	return list
}

// showAll prints the variables of the session.
func (p *randomProgram) showAll() string {
	var b strings.Builder
	for _, typ := range []string{"int", "uint8", "int32", "float64", "string", "bool", "[]int", "map[string]int", "[3]int", "T"} {
		for _, v := range p.global[typ] {
			fmt.Fprintf(&b, "fmt.Println(%s)\n", v)
		}
	}
	return b.String()
}

// block returns statements in a separate scope.
func (p *randomProgram) block(n, depth int) string {
	p.local = append(p.local, map[string][]string{})
	var b strings.Builder
	for range n {
		b.WriteString(p.stmt(depth) + "\n")
	}
	p.local = p.local[:len(p.local)-1]
	return b.String()
}

// define returns a definition of a local variable.
func (p *randomProgram) define(typ, value string) string {
	name := p.fresh()
	scope := p.local[len(p.local)-1]
	scope[typ] = append(scope[typ], name)
	return fmt.Sprintf("var %s %s = %s\n_ = %s", name, typ, value, name)
}

// expr returns an expression without effects that cannot panic.
func (p *randomProgram) expr(typ string, depth int) string {
	if vars := p.vars(typ); len(vars) > 0 && p.IntN(5) < 2 {
		return vars[p.IntN(len(vars))]
	}
	list := append(p.forms(typ), newerForms(typ)...)
	if depth <= 0 {
		list = list[:1]
	}
	form := list[p.IntN(len(list))]
	for {
		i := strings.IndexByte(form, '$')
		if i < 0 {
			return strings.ReplaceAll(form, "@", p.fresh())
		}
		end := strings.IndexByte(form[i+1:], '$') + i + 1
		form = form[:i] + p.expr(form[i+1:end], depth-1) + form[end+1:]
	}
}

// forms lists forms of expressions; $type$ stands for an expression of a type. The first form of
// each type is a literal.
func (p *randomProgram) forms(typ string) []string {
	n := fmt.Sprintf("(%d)", p.IntN(60)-20)
	switch typ {
	case "int":
		list := []string{n, "($int$ + $int$)", "($int$ - $int$)", "($int$ ^ $int$)", "($int$ & $int$)", "($int$ &^ $int$)", "(id($int$) << 3)", "(id($int$) >> 2)", "id($int$ % 1000 * 7)", "(-$int$)", "len($string$)", "len($[]int$)",
			"$map[string]int$[$string$]", "$T$.A", "($T$).Size()", "$[3]int$[2]", "int($uint8$)", "int($int32$)", "larger($int$, $int$)", "min($int$, $int$, 9)", "sum($[]int$...)", "sum($int$, $int$)", "(&couple[string, int]{$string$, $int$}).Swap().First",
			"func() int { if $bool$ { return $int$ }; return $int$ }()", "func(@ int) (r int) { defer func() { r += 2 }(); return $int$ }($int$)", "couple[int, T]{$int$, $T$}.Second.First",
			"struct{ A int; B string }{$int$, $string$}.A", "map[string]func(int) int{\"f\": $func(int) int$}[\"f\"]($int$)", "holder{$measured$, $int$}.Size()",
			"func(@ int) int { switch @ { case id($int$), id($int$) + 1: return 1; case id(7): return $int$ }; return @ }($int$)",
			"func() (s int) { for i := range upTo(9) { if i > 3 { break }; s += i }; return s }()",
			"func() (t T) { defer func() { t.A++ }(); t = T{A: $int$}; f := func() { t = T{A: t.A + 1, B: $string$} }; f(); return t }().A",
			"func() int { n := $int$; f := func() int { n++; return n }; xs := []int{n + f(), f() - n*2}; xs[f()&1] += f(); return xs[0] ^ xs[1] }()",
			"func() (s int) { for i, x := range []int{$int$, 4} { i = x &^ i; s += i }; return s }()"}
		for _, f := range p.calls {
			list = append(list, f+"(id($int$)&15, $string$)")
		}
		for _, f := range p.vars("measured") {
			list = append(list, f+".Size()")
		}
		return list
	case "uint8":
		return []string{fmt.Sprintf("uint8(%d)", p.IntN(255)), "id($uint8$ ^ id($uint8$))", "id(id($uint8$) * 3)", "id(id($uint8$) + 200)", "uint8(id($int$))", "larger($uint8$, $uint8$)", "(\"abc\" + $string$)[1]", "(id($uint8$) >> (id($uint8$) & 3))"}
	case "int32":
		return []string{fmt.Sprintf("int32(%s)", n), "int32(id($int$))", "(id($int32$) * 65599)", "(id($int32$) - id($int32$))", "(-id($int32$))", "[]rune(\"é\" + $string$)[0]", "int32($uint8$)"}
	case "float64":
		return []string{fmt.Sprintf("%d.25", p.IntN(60)), "float64(id($int$) % 1000)", "float64(id($float64$) * 0.5)", "($float64$ + $float64$)", "larger($float64$, $float64$)", "(id($float64$) / 3)", "$T$.D", "max($float64$, 1.5)"}
	case "string":
		return []string{p.pick(`"a"`, `"bc"`, `"déf"`, `""`, "`q\"`"), "cut($string$ + $string$)", "cut(fmt.Sprint($int$, $bool$))", "cut(fmt.Sprintf(\"%v|%T\", $any$, $uint8$))", "string($int32$ & 127 | 32)", "$T$.B", "couple[string, bool]{$string$, $bool$}.First", "strings.ToUpper($string$)"}
	case "bool":
		return []string{p.pick("true", "false"), "($int$ < $int$)", "($string$ == $string$)", "(!$bool$)", "($bool$ && $bool$)", "($bool$ || $bool$)", "($float64$ >= $float64$)", "($[3]int$ == $[3]int$)", "(id($any$) == any($int$))", "($uint8$ != id($uint8$))"}
	case "[]int":
		return []string{fmt.Sprintf("[]int{%s, 2, 5}", n), "append([]int(nil), $int$, $int$)", "append($[]int$[:0:0], $[]int$...)", "[]int{2: $int$, 0: $int$}", "each([]string{$string$, $string$}, func(s string) int { return len(s) })", "each($[]int$, $func(int) int$)", "append([]int{}, id($[3]int$)[0])", "$T$.C"}
	case "map[string]int":
		return []string{fmt.Sprintf("map[string]int{\"a\": %s}", n), "map[string]int{$string$: $int$}", "map[string]int{id($string$): $int$, id(\"zz\"): $int$}"}
	case "func(int) int":
		return []string{fmt.Sprintf("func(x int) int { return x + %s }", n), "func(x int) int { return x ^ $int$ }", "func(x int) int { if x > 3 { return $int$ }; return x }"}
	case "T":
		return []string{fmt.Sprintf("T{A: %s}", n), "T{$int$, $string$, $[]int$, $float64$, $[3]int$, couple[int, string]{$int$, $string$}}", "(*(&T{A: $int$}).Grow($int$))", "(*id($*T$))", "T{B: $string$, couple: couple[string, int]{$string$, $int$}.Swap()}"}
	case "*T":
		return []string{fmt.Sprintf("&T{D: %s}", n), "(&T{C: $[]int$})", "(&T{A: $int$}).Grow(3)"}
	case "measured":
		return []string{fmt.Sprintf("number(%s)", n), "measured($T$)", "measured(number($int$))", "measured(&T{A: $int$})"}
	case "any":
		return []string{fmt.Sprintf("any(%s)", n), "any($string$)", "any($float64$)", "any($[3]int$)", "any($bool$)", "any(couple[int, bool]{$int$, $bool$})", "any(number($int$))"}
	case "[3]int":
		return []string{fmt.Sprintf("[3]int{1, %s}", n), "[3]int{$int$, $int$, $int$}", "[...]int{2: $int$}", "[3]int($[3]int$)", "$T$.E"}
	}
	panic(typ)
}

// stmt returns a statement.
func (p *randomProgram) stmt(depth int) string {
	typ := p.pick(randomTypes...)
	forms := []func() string{
		func() string { return p.define(typ, p.expr(typ, depth)) },
		func() string { return p.define(typ, p.expr(typ, depth)) },
		func() string {
			if vars := p.vars(typ); len(vars) > 0 && typ != "func(int) int" {
				return vars[p.IntN(len(vars))] + " = " + p.expr(typ, depth)
			}
			return fmt.Sprintf("fmt.Println(%s, %s)", p.expr("int", depth), p.expr("string", depth))
		},
		func() string { return fmt.Sprintf("fmt.Println(%s, %s)", p.expr("any", depth), p.expr("T", depth)) },
		func() string { return p.change() },
		func() string { return p.change() },
	}
	if depth > 0 {
		inner := func() string { return p.block(1+p.IntN(3), depth-1) }
		forms = append(forms,
			func() string {
				return fmt.Sprintf("if %s {\n%s} else if %s {\n%s}", p.expr("bool", 2), inner(), p.expr("bool", 1), inner())
			},
			func() string { return p.loop(depth) }, func() string { return p.loop(depth) },
			func() string {
				return fmt.Sprintf("switch x := (%s); {\ncase x > 7:\n%scase x > %d:\n%sfallthrough\ndefault:\n%s}", p.expr("int", 2), inner(), p.IntN(9)-5, inner(), inner())
			},
			func() string {
				return fmt.Sprintf("switch x := id(%s).(type) {\ncase int:\nfmt.Println(\"int\", x+1)\ncase string, bool:\nfmt.Println(x)\ncase interface{ Size() int }:\nfmt.Println(x.Size())\ndefault:\n%s}", p.expr("any", 2), inner())
			},
			func() string { // a panic that is recovered
				return fmt.Sprintf("func() {\ndefer func() { fmt.Println(\"recovered\", recover()) }()\n%s%s\n}()", inner(), p.failing())
			},
			func() string { // goroutines
				c, i, calls := p.fresh(), p.fresh(), p.calls
				p.calls = nil // they print
				defer func() { p.calls = calls }()
				return fmt.Sprintf("%s := make(chan int, %d)\nfor %s := range 4 {\ngo func() { %s <- %s*%s + len(make([]byte, 100*(%s&3))) }()\n}\nfmt.Println(<-%s + <-%s + <-%s + <-%s)", c, p.IntN(5), i, c, i, p.expr("int", 1), i, c, c, c, c)
			},
			func() string { // a closure that changes what it captures
				f, x := p.fresh(), p.fresh()
				return fmt.Sprintf("%s := %s\n%s := func(by int) { %s += by\n%s}\n%s(%s)\n%s(2)\nfmt.Println(%s)", x, p.expr("int", 1), f, x, inner(), f, p.expr("int", 1), f, x)
			},
		)
	}
	return forms[p.IntN(len(forms))]()
}

// change returns a statement that changes a part of a variable.
func (p *randomProgram) change() string {
	var list []string
	for _, v := range p.vars("int") {
		list = append(list, v+" += $int$", v+" ^= $int$", v+"++", v+" <<= id($uint8$) & 7")
	}
	for _, v := range p.vars("[]int") {
		list = append(list, v+" = append("+v+"[:min(len("+v+"), 6)], $int$)", "if len("+v+") > 1 { "+v+"[0], "+v+"[1] = "+v+"[1], "+v+"[0] }", "for i := range "+v+" { "+v+"[i] += $int$ & 15 }")
	}
	for _, v := range p.vars("map[string]int") {
		list = append(list, "if "+v+" != nil { "+v+"[$string$] = $int$ }", "delete("+v+", $string$)", "if "+v+" != nil { "+v+"[$string$] += 3 }")
	}
	for _, v := range p.vars("T") {
		list = append(list, v+".A -= $int$", v+".Grow($int$)", v+".E[id($int$)&1] = $int$", v+".First, "+v+".B = $int$, $string$", "func() { f := "+v+".Grow; f(1); f(2) }()")
	}
	for _, v := range p.vars("*T") {
		list = append(list, v+".Grow(1).Grow($int$)", v+".C = $[]int$")
	}
	for _, v := range p.vars("uint8") {
		list = append(list, v+" *= 7", v+"--")
	}
	for _, v := range p.vars("string") {
		list = append(list, v+" = cut("+v+" + $string$)", "for i, r := range "+v+" { if i > 3 { break }; fmt.Print(i, r, \" \") }")
	}
	if len(list) == 0 {
		list = []string{"fmt.Println($int$)"}
	}
	form := p.pick(list...)
	for strings.Contains(form, "$") {
		before, rest, _ := strings.Cut(form, "$")
		typ, after, _ := strings.Cut(rest, "$")
		form = before + p.expr(typ, 2) + after
	}
	return form
}

// loop returns a loop of at most five passes.
func (p *randomProgram) loop(depth int) string {
	i, label := p.fresh(), p.fresh()
	p.local = append(p.local, map[string][]string{})
	head := p.pick("for "+i+" := 0; "+i+" < 4; "+i+"++", "for "+i+" := range 5", "for "+i+" := range upTo(4)", "for _, "+i+" := range []string{\"x\", \"y\", \"z\"}", "for _, "+i+" := range [3]int{4, 5, 6}")
	if !strings.Contains(head, "; ") { // the body does not change the variable of a loop with three parts
		typ := "int"
		if strings.Contains(head, "string") {
			typ = "string"
		}
		p.local[len(p.local)-1][typ] = []string{i}
	}
	p.loops = append(p.loops, label)
	body := p.block(1+p.IntN(3), depth-1)
	out := fmt.Sprintf("if %s { %s %s }\n", p.expr("bool", 2), p.pick("break", "continue"), p.pick(p.loops[len(p.loops)-1:]...))
	p.loops = p.loops[:len(p.loops)-1]
	p.local = p.local[:len(p.local)-1]
	return fmt.Sprintf("%s:\n%s {\n_ = %s\n%s%s}", label, head, i, body, out)
}

// failing returns a statement that may panic.
func (p *randomProgram) failing() string {
	forms := []string{"fmt.Println(7 / id($int$&3))", "fmt.Println(id($[]int$)[id($int$)])", "var t *T\nfmt.Println(t.A)", "fmt.Println(id($any$).(int))", "panic($string$)", "panic(fmt.Sprint($int$))", "var m map[string]int\nm[$string$] = 1", "fmt.Println(id($string$)[id($int$)&7:])", "fmt.Println(make([]int, id($int$)%100))", "fmt.Println(id($any$).(measured).Size())"}
	form := p.pick(forms...)
	for strings.Contains(form, "$") {
		before, rest, _ := strings.Cut(form, "$")
		typ, after, _ := strings.Cut(rest, "$")
		form = before + p.expr(typ, 1) + after
	}
	return form
}

// source returns the declarations and the statements of the program as parts of a Go program: each cell of
// statements is a function, and calls run all of them in order.
func (p *randomProgram) source() (decls, calls string) {
	var d, c strings.Builder
	for i, cell := range p.cells {
		fmt.Fprintf(&c, "fmt.Println(\"\\x00%s.%d\")\n", p.name, i)
		if p.decls[i] == "" {
			fmt.Fprintf(&d, "func %sc%d() {\ndefer ended()\n%s}\n", p.name, i, cell)
			fmt.Fprintf(&c, "%sc%d()\n", p.name, i)
			continue
		}
		d.WriteString(p.decls[i] + "\n")
		if value, ok := strings.CutPrefix(cell, p.decls[i]+" = "); ok {
			name := strings.Fields(p.decls[i])[1]
			fmt.Fprintf(&c, "%s = %s\n", name, value)
		}
	}
	return d.String(), c.String()
}
