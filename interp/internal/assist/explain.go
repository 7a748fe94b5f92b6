package assist

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"halfnote/interp/internal/peek"
	"halfnote/interp/internal/syntax"
)

// keywords maps each keyword to its forms and its meaning. It follows the language
// specification, https://go.dev/ref/spec.
var keywords = map[string][2]string{
	"break":       {"break [Label]", "ends the innermost for, switch or select statement, or the labelled one."},
	"case":        {"case x, y:", "begins a clause of a switch or select statement. Execution does not continue into the next case: see fallthrough."},
	"chan":        {"chan T, <-chan T, chan<- T", "is the type of channels of T; an arrow makes it receive-only or send-only. make(chan T, n) makes one with a buffer of n elements."},
	"const":       {"const name [T] = value", "declares constants. In a parenthesised group, iota counts the lines."},
	"continue":    {"continue [Label]", "begins the next iteration of the innermost for loop, or of the labelled one."},
	"default":     {"default:", "begins the clause that runs if no case of a switch matches, or no case of a select is ready."},
	"defer":       {"defer f(x)", "calls f when the surrounding function returns or panics; in a cell, when the cell ends. Deferred calls run in reverse order; x is evaluated immediately."},
	"else":        {"if cond { … } else { … }", "runs its block when the condition is false."},
	"fallthrough": {"fallthrough", "continues with the next case of a switch."},
	"for":         {"for init; cond; post { … }, for cond { … }, for { … }, for k, v := range x { … }", "is a loop. The variables it declares are new in each iteration."},
	"func":        {"func name(x T, y ...U) (R, error) { … }, func (r R) name() { … }, func(x T) R { … }", "declares a function or a method, or is a function literal."},
	"go":          {"go f(x)", "calls f in a new goroutine. It may outlive its cell; its output goes to that cell."},
	"goto":        {"goto Label", "jumps to the label, in the same function."},
	"if":          {"if init; cond { … } else { … }", "runs its block when the condition is true."},
	"import":      {`import "path", import name "path"`, "makes a package available. The most common ones, such as fmt and tensor, need no import."},
	"interface":   {"interface { M(x T) R; … }", "is the type of values that have these methods; as a constraint it may list types: ~int | ~float64. any is interface{}."},
	"map":         {"map[K]V", "is the type of maps from K to V. v, ok := m[k] reports whether the key is present; delete(m, k) removes it."},
	"package":     {"package main", "begins a file. Cells do not need it."},
	"range":       {"for k, v := range x { … }", "loops over a slice, array, string, map, channel, integer or function func(yield func(K, V) bool)."},
	"return":      {"return x, y", "ends the function with these results."},
	"select":      {"select { case v := <-c: … case c <- x: … default: … }", "waits until one of its channel operations can proceed, and performs it."},
	"struct":      {"struct { name T `tag`; Embedded; … }", "is the type of values with these fields. The fields and methods of an embedded type are promoted."},
	"switch":      {"switch init; x { case a, b: … default: … }, switch v := x.(type) { case T: … }", "runs the first clause that matches."},
	"type":        {"type Name[P constraint] underlying, type Alias = T", "declares a type, or another name for one."},
	"var":         {"var name T = value", "declares variables. name := value is the short form."},
}

// explainKeyword explains the keyword at the cursor.
func explainKeyword(code string, at int) (explanation, bool) {
	for _, l := range syntax.Lex(syntax.BlankMagic(code)) {
		if l.Start <= at && at <= l.End && l.Tok.IsKeyword() {
			k := keywords[l.Tok.String()]
			return explanation{decl: k[0], doc: l.Tok.String() + " " + k[1]}, true
		}
	}
	return explanation{}, false
}

// explainMagic explains the magic at the cursor.
func explainMagic(magics []Magic, code string, at int) (explanation, bool) {
	line := code[strings.LastIndexByte(code[:at], '\n')+1:]
	line, _, _ = strings.Cut(line, "\n")
	word := strings.TrimLeft(line, " \t?")
	begin := len(code[:at]) - len(code[strings.LastIndexByte(code[:at], '\n')+1:at]) + len(line) - len(word)
	if i := strings.IndexAny(word, " \t\r?"); i >= 0 {
		word = word[:i]
	}
	if at < begin || at > begin+len(word) {
		return explanation{}, false
	}
	for _, m := range magics {
		if m.Name == word {
			return explanation{decl: strings.TrimSpace(m.Name + " " + m.Args), doc: strings.Replace(m.Help, "\n", "\n\n", 1)}, true
		}
	}
	return explanation{}, false
}

// explainLiteral explains the number, character or string at the cursor.
func (p *probe) explainLiteral() (explanation, bool) {
	if len(p.path) == 0 {
		return explanation{}, false
	}
	lit, ok := p.path[0].(*ast.BasicLit)
	tv := types.TypeAndValue{}
	if ok {
		tv = p.info.Types[lit]
	}
	if tv.Value == nil || p.pos == lit.End() && lit.Kind == token.STRING || p.callee() != nil {
		return explanation{}, false // the call says more than a literal in it
	}
	t := p.typeString(tv.Type)
	e := explanation{decl: "const " + lit.Value + " " + t}
	switch tv.Value.Kind() {
	case constant.String:
		s := constant.StringVal(tv.Value)
		e.value = fmt.Sprintf("%d bytes, %d code points", len(s), utf8.RuneCountInString(s))
	case constant.Int:
		if n, ok := constant.Int64Val(tv.Value); ok {
			e.value = fmt.Sprintf("%d = %#x = %#b", n, n, n)
			if r := rune(n); lit.Kind == token.CHAR && unicode.IsPrint(r) {
				e.value += fmt.Sprintf(" = %U", r)
			}
		}
	case constant.Float:
		f, _ := constant.Float64Val(tv.Value)
		if short := float64(float32(f)); short != f {
			e.value = "float32 rounds it to " + strconv.FormatFloat(short, 'g', -1, 64)
		}
	}
	return e, true
}

// maxNow is the length at which the text of a value is cut, in code points.
const maxNow = 1000

// now returns the current value of the variable or field at the cursor.
func (p *probe) now(o types.Object) string {
	v, ok := o.(*types.Var)
	id := p.ident()
	if !ok || id == nil || p.Values == nil {
		return ""
	}
	e := ast.Expr(id)
	if len(p.path) > 1 {
		if sel, ok := p.path[1].(*ast.SelectorExpr); ok && sel.Sel == id {
			e = sel
		}
	}
	x, ok := p.value(e)
	if !ok {
		return ""
	}
	text := "= " + p.text(x, v.Type(), maxNow)
	if types.IsInterface(v.Type()) {
		if _, t := p.inside(x); t != nil {
			text += "\n// a " + p.typeString(t)
		}
		return text
	}
	switch x = peek.Concrete(x); x.Kind() {
	case reflect.Slice:
		text += fmt.Sprintf("\n// len %d, cap %d", x.Len(), x.Cap())
	case reflect.Map:
		if p.Values.Idle() {
			text += fmt.Sprintf("\n// len %d", x.Len())
		}
	case reflect.Chan:
		text += fmt.Sprintf("\n// len %d", x.Len())
	case reflect.String:
		text += fmt.Sprintf("\n// %d bytes", x.Len())
	}
	return text
}
