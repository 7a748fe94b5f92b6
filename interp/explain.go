package interp

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
)

// keywords says what the words mean that are no names: their form, and what it
// does. It follows the language specification, https://go.dev/ref/spec.
var keywords = map[string][2]string{
	"break":       {"break [Label]", "ends the innermost for, switch or select statement, or the one with the label."},
	"case":        {"case x, y:", "begins a clause of a switch or select statement. The next case does not follow on: see fallthrough."},
	"chan":        {"chan T, <-chan T, chan<- T", "is the type of channels of T; with an arrow only to receive from or to send to. make(chan T, n) makes one."},
	"const":       {"const name [T] = value", "declares constants. In a group in brackets, iota counts the lines."},
	"continue":    {"continue [Label]", "begins the next turn of the innermost for loop, or of the one with the label."},
	"default":     {"default:", "begins the clause of a switch that runs if no case fits, or of a select that runs if no case is ready."},
	"defer":       {"defer f(x)", "calls f when the function around it returns or panics; in a cell, when the cell ends. The last one deferred runs first; x is evaluated at once."},
	"else":        {"if cond { … } else { … }", "runs its block when the condition is false."},
	"fallthrough": {"fallthrough", "goes on with the next case of a switch."},
	"for":         {"for init; cond; post { … }, for cond { … }, for { … }, for k, v := range x { … }", "is a loop. The variables it declares are new at each turn."},
	"func":        {"func name(x T, y ...U) (R, error) { … }, func (r R) name() { … }, func(x T) R { … }", "declares a function or a method, or is a function without a name."},
	"go":          {"go f(x)", "calls f in a new goroutine. It may outlive its cell; what it prints goes to that cell."},
	"goto":        {"goto Label", "goes on at the label, in the same function."},
	"if":          {"if init; cond { … } else { … }", "runs its block when the condition is true."},
	"import":      {`import "path", import name "path"`, "makes a package known. What is needed most, such as fmt and tensor, is there without."},
	"interface":   {"interface { M(x T) R; … }", "is the type of values that have these methods; as a constraint it may list types: ~int | ~float64. any is interface{}."},
	"map":         {"map[K]V", "is the type of tables from K to V. v, ok := m[k] tells whether the key is there; delete(m, k) removes it."},
	"package":     {"package main", "begins a file. A cell needs none."},
	"range":       {"for k, v := range x { … }", "loops over a slice, array, string, map, channel, integer or function func(yield func(K, V) bool)."},
	"return":      {"return x, y", "ends the function with these results."},
	"select":      {"select { case v := <-c: … case c <- x: … default: … }", "waits until one of its channel operations can go on, and does that one."},
	"struct":      {"struct { name T `tag`; Embedded; … }", "is the type of values with these fields. The fields and methods of an embedded type are promoted."},
	"switch":      {"switch init; x { case a, b: … default: … }, switch v := x.(type) { case T: … }", "runs the first clause that fits."},
	"type":        {"type Name[P constraint] underlying, type Alias = T", "declares a type, or another name for one."},
	"var":         {"var name T = value", "declares variables. name := value is the short form."},
}

// explainKeyword explains the keyword at the cursor.
func explainKeyword(code string, at int) (explanation, bool) {
	for _, l := range lex(blankMagic(code)) {
		if l.start <= at && at <= l.end && l.tok.IsKeyword() {
			k := keywords[l.tok.String()]
			return explanation{decl: k[0], doc: l.tok.String() + " " + k[1]}, true
		}
	}
	return explanation{}, false
}

// explainMagic explains the magic at the cursor.
func explainMagic(code string, at int) (explanation, bool) {
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
		if m.name == word {
			return explanation{decl: strings.TrimSpace(m.name + " " + m.args), doc: m.help}, true
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
	if tv.Value == nil || p.pos == lit.End() && lit.Kind == token.STRING {
		return explanation{}, false
	}
	t := p.typeString(tv.Type)
	e := explanation{decl: "const " + lit.Value + " " + t}
	switch tv.Value.Kind() {
	case constant.String:
		s := constant.StringVal(tv.Value)
		e.value = fmt.Sprintf("%d bytes, %d code points", len(s), len([]rune(s)))
		if outer := p.callee(); outer != nil {
			e.call = p.objectString(outer)
		}
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

// maxNow bounds what is shown of a value, in letters.
const maxNow = 1000

// now says what the variable or field at the cursor is.
func (p *probe) now(o types.Object) string {
	v, ok := o.(*types.Var)
	id := p.ident()
	if !ok || id == nil || p.session == nil {
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
	switch x = solid(x); x.Kind() {
	case reflect.Slice:
		text += fmt.Sprintf("\n// len %d, cap %d", x.Len(), x.Cap())
	case reflect.Map:
		if p.session.quiet() {
			text += fmt.Sprintf("\n// len %d", x.Len())
		}
	case reflect.Chan:
		text += fmt.Sprintf("\n// len %d", x.Len())
	case reflect.String:
		text += fmt.Sprintf("\n// %d bytes", x.Len())
	}
	return text
}
