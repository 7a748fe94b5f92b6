package interp

import (
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/types"
	"slices"
	"strings"
	"unicode/utf8"

	"halfnote/display"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/library"
	"halfnote/kernel"
)

// Inspect describes the name at cursor with its declaration, its value and its comment, as
// plain text and as markdown. It also describes keywords, literals and magics. Between the
// parentheses of a call it describes the called function, or names it if the cursor is on
// an argument. detail 1 adds the source of declarations in cells.
func (s *Session) Inspect(code string, cursor, detail int) (display.Bundle, bool) {
	snap := s.snapshot()
	defer s.look(&snap)()
	e, ok := explain(snap, code, cursor, detail)
	if !ok {
		return display.Bundle{}, false
	}
	return e.bundle(), true
}

// help returns the page of help for a cell such as "name?"; "name??" adds the source, a name
// with * lists the names that match, and a cell with only question marks shows the page of
// %help. An unknown name has a page with a note. ok is false if the cell neither begins nor
// ends with a question mark.
func (s *Session) help(code string) (page kernel.Payload, ok bool) {
	name, marks, ok := question(code)
	if !ok {
		return kernel.Payload{}, false
	}
	b := display.Text(fmt.Sprintf("%q is not defined", name))
	if name == "" {
		b = display.Text(overview())
	} else if strings.Contains(name, "*") {
		b = s.search(name)
	} else if e, known := s.helpFor(name, marks-1); known {
		b = e.bundle()
	}
	return kernel.Payload{Source: "page", Data: b}, true
}

// helpFor explains the name in a cell such as "name?".
func (s *Session) helpFor(name string, detail int) (explanation, bool) {
	snap := s.snapshot()
	snap.session = s // the asking cell is the only one running
	return explain(snap, name, utf8.RuneCountInString(name), detail)
}

// question returns the name and the number of question marks of a cell such as "name?" or "?".
func question(code string) (name string, marks int, ok bool) {
	code = strings.TrimSpace(code)
	name = strings.Trim(code, "?")
	marks = len(code) - len(name)
	name = strings.TrimSpace(name)
	return name, marks, marks > 0 && !strings.ContainsAny(name, " \t\n") && !strings.HasPrefix(name, "//") && !strings.HasPrefix(name, "!")
}

// explanation is the available information about a name.
type explanation struct {
	decl   string
	value  string    // current value
	call   string    // the function that takes it as an argument
	doc    string    // doc comment as written
	index  []section // related declarations
	source string    // source in its cell
}

func explain(snap snapshot, code string, cursor, detail int) (explanation, bool) {
	at := byteOffset(code, cursor)
	if e, ok := explainMagic(code, at); ok {
		return e, true
	}
	if e, ok := explainKeyword(code, at); ok {
		return e, true
	}
	// Try the whole cell first, then the parts of it that parse without the rest.
	head := code[:wordEnd(code, at)]
	line := strings.LastIndexByte(code[:at], '\n') + 1
	above := settle(code[:line])
	for _, v := range []struct {
		code   string
		cursor int
	}{
		{shut(code, at, ""), at},
		{shut(head, at, ""), at},
		{shut(head, at, " {}"), at},
		{shut(above+head[line:], len(above)+at-line, ""), len(above) + at - line},
	} {
		p := newProbe(snap, v.code, v.cursor)
		if e, ok := p.explainLiteral(); ok {
			return e, true
		}
		if o := p.subject(); o != nil {
			return p.explain(o, code, detail), true
		}
	}
	return explanation{}, false
}

func wordEnd(code string, at int) int {
	for i, r := range code[at:] {
		if !isWord(r) {
			return at + i
		}
	}
	return len(code)
}

// subject returns the object to explain: that of the identifier at the cursor, or of
// the function whose call encloses it.
func (p *probe) subject() types.Object {
	if id := p.ident(); id != nil {
		if o := p.object(id); o != nil {
			return o
		}
		return p.memberOfType(id)
	}
	return p.callee()
}

// memberOfType returns the method or field that an identifier selects from a type, which need
// not be an expression of Go: nn.Linear.Forward, whose receiver is a pointer, or http.Client.Timeout.
func (p *probe) memberOfType(id *ast.Ident) types.Object {
	if len(p.path) < 2 {
		return nil
	}
	sel, ok := p.path[1].(*ast.SelectorExpr)
	if !ok || sel.Sel != id || !p.info.Types[sel.X].IsType() {
		return nil
	}
	o, _, _ := types.LookupFieldOrMethod(p.info.Types[sel.X].Type, true, p.pkg, id.Name)
	return o
}

// callee returns the function, or the type of the conversion, whose parentheses enclose
// the cursor.
func (p *probe) callee() types.Object {
	for _, n := range p.path {
		if _, ok := n.(*ast.FuncLit); ok {
			return nil
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || p.pos <= call.Lparen || p.pos > call.Rparen {
			continue
		}
		f := ast.Unparen(call.Fun)
		switch x := f.(type) {
		case *ast.IndexExpr:
			f = x.X
		case *ast.IndexListExpr:
			f = x.X
		}
		switch f := f.(type) {
		case *ast.Ident:
			return p.object(f)
		case *ast.SelectorExpr:
			return p.object(f.Sel)
		}
		return nil
	}
	return nil
}

func (p *probe) explain(o types.Object, code string, detail int) explanation {
	e := p.declaration(o, code, detail)
	e.value = p.now(o)
	if id := p.ident(); id != nil {
		if f := p.callee(); f != nil && f != o {
			e.call = p.objectString(f)
		}
		if len(p.path) > 1 {
			if sel, ok := p.path[1].(*ast.SelectorExpr); ok {
				id, _ = sel.X.(*ast.Ident)
			}
		}
		if id != nil && o.Pkg() != p.pkg {
			if paths := p.missing[id.Name]; paths != nil {
				e.decl = importOf(paths[0]) + "\n\n" + e.decl
			}
		}
	}
	return e
}

// declaration explains an object, except for its value.
func (p *probe) declaration(o types.Object, code string, detail int) explanation {
	switch pkg := o.Pkg(); {
	case isPackage(o):
		return p.explainPackage(o.(*types.PkgName).Imported())
	case pkg == nil:
		doc, decl := exports.Doc("builtin", member(o, types.Universe))
		if decl == "" {
			decl = p.objectString(o)
		}
		return explanation{decl: decl, doc: doc}
	case pkg != p.pkg:
		name := member(o, pkg.Scope())
		doc, decl := exports.Doc(pkg.Path(), name)
		if decl == "" {
			decl = p.objectString(o)
		}
		e := explanation{decl: decl, doc: doc, index: slices.Concat(p.optionIndex(o), p.typeIndex(o))}
		if p.loader != nil {
			text, file, line := p.loader.Source(o)
			if file != "" {
				e.doc = commentAbove(file, line)
			}
			if detail > 0 {
				e.source = text
			}
		}
		if detail > 0 && e.source == "" {
			e.source = p.librarySource(o)
		}
		return e
	}
	e := explanation{decl: p.objectString(o), index: p.typeIndex(o)}
	if v, ok := o.(*types.Var); ok && detail > 0 {
		if n, ok := types.Unalias(deref(v.Type())).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg() != p.pkg {
			e.source = p.librarySource(n.Obj())
		}
	}
	name := member(o, p.pkg.Scope())
	w, ok := writtenIn(code)[name]
	if !ok || o.Parent() != nil && o.Parent() != p.pkg.Scope() {
		w, ok = p.written[name]
	}
	if ok && (o.Parent() == nil || o.Parent() == p.pkg.Scope()) {
		e.doc = w.doc
		if source := p.source(o, code); detail > 0 && source != "" {
			e.source = source
		}
	}
	return e
}

// librarySource returns the declaration of an object of a compiled package with its place, or ""
// where the source is not at hand: that of the standard library needs an installation of Go.
func (p *probe) librarySource(o types.Object) string {
	files, folder := p.sources, ""
	if own, ok := strings.CutPrefix(o.Pkg().Path(), "halfnote/"); ok {
		folder = own
	} else if exports.Importable(o.Pkg().Path()) == nil {
		files, _ = library.StdSource()
		folder = o.Pkg().Path()
	}
	if files == nil || folder == "" {
		return ""
	}
	text, file := library.Declaration(files, folder, member(o, o.Pkg().Scope()))
	if text == "" {
		return ""
	}
	return "// " + file + "\n" + text
}

func isPackage(o types.Object) bool {
	_, ok := o.(*types.PkgName)
	return ok
}

// explainPackage lists the exported names of the package below its comment.
func (p *probe) explainPackage(pkg *types.Package) explanation {
	e := explanation{index: p.packageIndex(pkg)}
	e.doc, e.decl = exports.Doc(pkg.Path(), "")
	return e
}

func kindOfType(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return "struct"
	case *types.Interface:
		return "interface"
	default:
		return types.TypeString(u, (*types.Package).Name)
	}
}

// member names o within its package as exports.Doc does: "Type.Name" for methods
// and fields.
func member(o types.Object, scope *types.Scope) string {
	switch o := o.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			t := recv.Type()
			if ptr, ok := t.(*types.Pointer); ok {
				t = ptr.Elem()
			}
			if n, ok := t.(*types.Named); ok {
				return n.Obj().Name() + "." + o.Name()
			}
			return owner(o, scope) + "." + o.Name()
		}
	case *types.Var:
		if o.IsField() {
			return owner(o.Origin(), scope) + "." + o.Name()
		}
	}
	return o.Name()
}

// owner finds the type in a scope that declares a field or an interface's method.
func owner(o types.Object, scope *types.Scope) string {
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		switch u := t.Type().Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				if f == o {
					return name
				}
			}
		case *types.Interface:
			for m := range u.ExplicitMethods() {
				if m == o {
					return name
				}
			}
		}
	}
	return ""
}

// bundle renders the explanation.
func (e explanation) bundle() display.Bundle {
	parser := comment.Parser{
		LookupPackage: func(name string) (path string, ok bool) {
			if path := preloaded[name]; path != "" {
				return path, true
			}
			return comment.DefaultLookupPackage(name)
		},
		LookupSym: func(recv, name string) bool { return true },
	}
	printer := comment.Printer{HeadingLevel: 4, TextWidth: 88}
	printer.HeadingID = func(*comment.Heading) string { return "" }  // front ends do not read {#anchors}
	printer.DocLinkURL = func(*comment.DocLink) string { return "" } // there are no link targets
	var text, md []string
	code := func(s string) {
		if s = strings.TrimRight(s, "\n"); s != "" {
			text = append(text, s)
			md = append(md, "```go\n"+s+"\n```")
		}
	}
	code(e.decl)
	code(e.value)
	if e.call != "" {
		code("// an argument of\n" + e.call)
	}
	if e.doc != "" {
		d := parser.Parse(e.doc)
		text = append(text, strings.TrimRight(string(printer.Text(d)), "\n"))
		md = append(md, strings.TrimRight(string(printer.Markdown(d)), "\n"))
	}
	if index := plain(e.index); index != "" {
		text = append(text, index)
		md = append(md, markdown(e.index))
	}
	code(e.source)
	return display.Bundle{Data: map[string]any{
		"text/plain":    strings.Join(text, "\n\n"),
		"text/markdown": strings.Join(md, "\n\n"),
	}}
}
