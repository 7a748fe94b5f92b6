package interp

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"halfnote/interp/internal/exports"
	"halfnote/kernel"
)

// Complete lists what the identifier that ends at cursor may become: members
// after a dot, import paths in an import declaration, keys in a composite
// literal, else the names in scope and the keywords. Nothing is offered in
// comments, strings and numbers.
func (s *Session) Complete(code string, cursor int) kernel.Completion {
	return complete(s.surroundings(), code, cursor)
}

func complete(sur surroundings, code string, cursor int) kernel.Completion {
	end := byteOffset(code, cursor)
	start := prefixAt(code, end)
	c := completer{code: code, start: start, end: end, prefix: code[start:end], seen: map[string]bool{}}
	none := kernel.Completion{Start: cursor, End: cursor}
	if r, _ := utf8.DecodeRuneInString(c.prefix); unicode.IsDigit(r) {
		return none
	}
	switch where := c.spot(); where {
	case inText:
		return none
	case inImport:
		c.importPaths()
	case inMagic:
		for _, m := range sur.magics {
			c.add(m.Text, m.Type, m.Signature)
		}
	default:
		c.check(sur, where == afterDot)
		switch {
		case where == afterDot:
			c.members()
		default:
			c.keys()
			c.names()
		}
	}
	slices.SortStableFunc(c.matches, c.compare)
	return kernel.Completion{Start: utf8.RuneCountInString(code[:c.start]), End: cursor, Matches: c.matches}
}

// spot is where the cursor stands.
type spot int

const (
	inCode spot = iota
	afterDot
	inImport
	inMagic
	inText // a comment, a string, a number
)

type completer struct {
	code       string
	start, end int // of what is to be replaced, in bytes
	prefix     string
	probe      *probe
	matches    []kernel.Match
	seen       map[string]bool
}

func (c *completer) spot() spot {
	line := c.code[strings.LastIndexByte(c.code[:c.end], '\n')+1 : c.end]
	if word := strings.TrimLeft(line, " \t"); strings.HasPrefix(word, "%") && !strings.ContainsAny(word, " \t") {
		c.start, c.prefix = c.end-len(word), word
		return inMagic
	}
	code := blankMagic(c.code)
	var last lexeme
	for _, l := range lex(code) {
		if l.start >= c.end {
			break
		}
		switch {
		case l.tok == token.STRING && (c.end < l.end || unterminated(l.lit)):
			for _, it := range split(code).items {
				off := offsetOf(code, it.line, it.col)
				if it.kind == itemImport && off <= l.start && l.start < off+len(it.text) {
					c.start = l.start + 1
					c.prefix = c.code[c.start:c.end]
					return inImport
				}
			}
			return inText
		case l.tok == token.CHAR && c.end < l.end:
			return inText
		case l.tok == token.COMMENT && (c.end < l.end || c.end == l.end && strings.HasPrefix(l.lit, "//")):
			return inText
		case (l.tok == token.FLOAT || l.tok == token.INT || l.tok == token.IMAG) && c.end <= l.end:
			return inText
		}
		if l.tok != token.COMMENT && l.end <= c.start {
			last = l
		}
	}
	if last.tok == token.PERIOD {
		return afterDot
	}
	return inCode
}

func unterminated(lit string) bool {
	return len(lit) < 2 || lit[len(lit)-1] != lit[0]
}

// cursorName stands for what is yet to be written after the cursor.
const cursorName = "cursor__"

// check probes the cell with an identifier at the cursor; if nothing can be
// made of that, the part before the cursor alone, and that as the head of a
// block.
func (c *completer) check(sur surroundings, dot bool) {
	marked := c.code[:c.end] + cursorName
	for _, code := range []string{shut(marked+c.code[c.end:], 0, ""), shut(marked, 0, ""), shut(marked, 0, " {}")} {
		p := newProbe(sur, code, c.end)
		if c.probe == nil || p.ident() != nil {
			c.probe = p
		}
		if id := p.ident(); id != nil && (!dot || c.known(p)) {
			return
		}
	}
}

// known tells whether what stands before the dot means something.
func (c *completer) known(p *probe) bool {
	sel, ok := p.path[1].(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if id, ok := sel.X.(*ast.Ident); ok {
		if _, ok := p.info.Uses[id].(*types.PkgName); ok {
			return true
		}
	}
	t := p.info.Types[sel.X].Type
	return t != nil && t != types.Typ[types.Invalid]
}

// add offers a name once, if it begins with the prefix in any case.
func (c *completer) add(name, kind, signature string) {
	if c.seen[name] || len(name) < len(c.prefix) || !strings.EqualFold(name[:len(c.prefix)], c.prefix) ||
		strings.Contains(name, "__") || name == "_" {
		return
	}
	c.seen[name] = true
	c.matches = append(c.matches, kernel.Match{Text: name, Type: kind, Signature: signature})
}

func (c *completer) object(o types.Object) {
	t := c.probe.typeString(o.Type())
	switch o := o.(type) {
	case *types.PkgName:
		c.add(o.Name(), "module", o.Imported().Path())
	case *types.TypeName:
		c.add(o.Name(), "type", c.probe.typeString(o.Type().Underlying()))
	case *types.Const:
		c.add(o.Name(), "constant", t+" = "+o.Val().String())
	case *types.Func:
		kind := "function"
		if o.Signature().Recv() != nil {
			kind = "method"
		}
		c.add(o.Name(), kind, strings.TrimPrefix(t, "func"))
	case *types.Var:
		kind := "variable"
		if o.IsField() {
			kind = "field"
		}
		c.add(o.Name(), kind, t)
	case *types.Builtin:
		_, decl := exports.Doc("builtin", o.Name())
		c.add(o.Name(), "function", strings.TrimPrefix(decl, "func "+o.Name()))
	case *types.Nil:
		c.add(o.Name(), "constant", "")
	}
}

// members offers what can follow the dot.
func (c *completer) members() {
	p := c.probe
	if p.ident() == nil || !c.known(p) {
		return
	}
	x := p.path[1].(*ast.SelectorExpr).X
	if id, ok := x.(*ast.Ident); ok {
		if pkg, ok := p.info.Uses[id].(*types.PkgName); ok {
			scope := pkg.Imported().Scope()
			for _, name := range scope.Names() {
				if o := scope.Lookup(name); o.Exported() {
					c.object(o)
				}
			}
			return
		}
	}
	tv := p.info.Types[x]
	if tv.IsType() { // a method expression
		c.methods(tv.Type)
		return
	}
	c.fields(tv.Type)
	c.methods(tv.Type)
}

// fields offers the fields of a struct or of what points to one, those of
// embedded structs too, the outer ones first.
func (c *completer) fields(t types.Type) {
	seen := map[types.Type]bool{}
	for level := []types.Type{t}; len(level) > 0; {
		var next []types.Type
		for _, t := range level {
			if ptr, ok := t.Underlying().(*types.Pointer); ok {
				t = ptr.Elem()
			}
			s, ok := t.Underlying().(*types.Struct)
			if !ok || seen[t] {
				continue
			}
			seen[t] = true
			for f := range s.Fields() {
				if f.Exported() || f.Pkg() == c.probe.pkg {
					c.object(f)
				}
				if f.Embedded() {
					next = append(next, f.Type())
				}
			}
		}
		level = next
	}
}

// methods offers the method set of t, or of *t: a variable has both.
func (c *completer) methods(t types.Type) {
	if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		if m := set.At(i).Obj(); m.Exported() || m.Pkg() == c.probe.pkg {
			c.object(m)
		}
	}
}

// keys offers the fields of the struct whose literal the cursor is in, where a
// key can stand.
func (c *completer) keys() {
	p := c.probe
	if p.ident() == nil || len(p.path) < 2 {
		return
	}
	outer := p.path[1]
	if kv, ok := outer.(*ast.KeyValueExpr); ok && kv.Key == p.path[0] && len(p.path) > 2 {
		outer = p.path[2]
	}
	lit, ok := outer.(*ast.CompositeLit)
	if !ok {
		return
	}
	t := p.info.Types[lit].Type
	if t == nil {
		return
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() || f.Pkg() == p.pkg {
				c.object(f)
			}
		}
	}
}

// names offers what is in scope, the packages that need no import, and the
// keywords.
func (c *completer) names() {
	p := c.probe
	inner := p.scope()
	if inner == nil && p.pkg != nil {
		inner = p.pkg.Scope()
	}
	for s := inner; s != nil; s = s.Parent() {
		for _, name := range s.Names() {
			if _, o := inner.LookupParent(name, p.pos); o != nil && o.Parent() == s {
				c.object(o)
			}
		}
	}
	for name, path := range p.imports {
		c.add(name, "module", path)
	}
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		c.add(tok.String(), "keyword", "")
	}
}

func (c *completer) importPaths() {
	prefix := c.prefix
	for _, path := range exports.Packages() {
		if strings.HasPrefix(path, prefix) {
			c.matches = append(c.matches, kernel.Match{Text: path, Type: "module", Signature: exports.Synopsis(path)})
		}
	}
}

// rank orders matches: what belongs to the value or the cell comes before what
// is everywhere.
var rank = map[string]int{"field": 0, "method": 1, "keyword": 3}

func (c *completer) compare(a, b kernel.Match) int {
	order := func(m kernel.Match) int {
		if strings.HasPrefix(m.Text, c.prefix) {
			return 0
		}
		return 1
	}
	if d := order(a) - order(b); d != 0 {
		return d
	}
	of := func(m kernel.Match) int {
		if r, ok := rank[m.Type]; ok {
			return r
		}
		return 2
	}
	if d := of(a) - of(b); d != 0 {
		return d
	}
	return strings.Compare(a.Text, b.Text)
}
