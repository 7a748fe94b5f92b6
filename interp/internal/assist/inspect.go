package assist

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
	"halfnote/interp/internal/syntax"
)

// explanation is the available information about a name.
type explanation struct {
	decl   string
	value  string    // current value
	call   string    // the function that takes it as an argument
	doc    string    // doc comment as written
	index  []section // related declarations
	source string    // source in its cell
}

// Inspect describes the name at cursor, an offset in code points. detail 1 adds the source of declarations.
func Inspect(snap Snapshot, code string, cursor, detail int) (display.Bundle, bool) {
	e, ok := explain(snap, code, cursor, detail)
	if !ok {
		return display.Bundle{}, false
	}
	return e.bundle(), true
}

// Help returns the page of help for a name and a number of question marks: one explains the name, two
// add the source. A name with * lists the names that match; without a name, it is the page of %help.
func Help(snap Snapshot, name string, marks int) display.Bundle {
	switch {
	case name == "":
		return Overview(snap.Magics)
	case strings.Contains(name, "*"):
		return Search(snap, name)
	}
	if b, known := Inspect(snap, name, utf8.RuneCountInString(name), marks-1); known {
		return b
	}
	return display.Text(fmt.Sprintf("%q is not defined", name))
}

func explain(snap Snapshot, code string, cursor, detail int) (explanation, bool) {
	at := syntax.ByteOffset(code, cursor)
	if e, ok := explainMagic(snap.Magics, code, at); ok {
		return e, true
	}
	if e, ok := explainKeyword(code, at); ok {
		return e, true
	}
	// Try the whole cell first, then the parts of it that parse without the rest.
	head := code[:wordEnd(code, at)]
	line := strings.LastIndexByte(code[:at], '\n') + 1
	above := syntax.Settle(code[:line])
	for _, v := range []struct {
		code   string
		cursor int
	}{
		{syntax.Shut(code, at, ""), at},
		{syntax.Shut(head, at, ""), at},
		{syntax.Shut(head, at, " {}"), at},
		{syntax.Shut(above+head[line:], len(above)+at-line, ""), len(above) + at - line},
	} {
		p := newProbe(snap, v.code, v.cursor, nil)
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
		if !syntax.IsWord(r) {
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
		if o := p.memberOfType(id); o != nil {
			return o
		}
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

// call returns the call whose parentheses enclose the cursor, or nil.
func (p *probe) call() *ast.CallExpr {
	for _, n := range p.path {
		if _, ok := n.(*ast.FuncLit); ok {
			return nil
		}
		if call, ok := n.(*ast.CallExpr); ok && p.pos > call.Lparen && p.pos <= call.Rparen {
			return call
		}
	}
	return nil
}

// argumentIndex returns the index of the argument at the cursor.
func (p *probe) argumentIndex(call *ast.CallExpr) (i int) {
	for i < len(call.Args) && p.pos > call.Args[i].End() {
		i++
	}
	return i
}

// callee returns the function, or the type of the conversion, whose parentheses enclose
// the cursor.
func (p *probe) callee() types.Object {
	if call := p.call(); call != nil {
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
	}
	return nil
}

func (p *probe) explain(o types.Object, code string, detail int) explanation {
	e := p.declaration(o, code, detail)
	e.value = p.now(o)
	f := p.callee()
	if f == o && f != nil {
		e.decl = mark(e.decl, p.argumentIndex(p.call()))
	}
	if id := p.ident(); id != nil {
		if f != nil && f != o {
			e.call = mark(p.objectString(f), p.argumentIndex(p.call()))
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
		doc, decl := exports.Doc("builtin", exports.Member(o, types.Universe))
		if decl == "" {
			decl = p.objectString(o)
		}
		return explanation{decl: decl, doc: doc}
	case pkg != p.pkg:
		name := exports.Member(o, pkg.Scope())
		doc, decl := exports.Doc(pkg.Path(), name)
		if decl == "" {
			decl = p.objectString(o)
		}
		e := explanation{decl: decl, doc: doc, index: slices.Concat(p.optionIndex(o), p.typeIndex(o))}
		if p.Loader != nil {
			text, file, line := p.Loader.Source(o)
			if file != "" {
				e.doc = syntax.CommentAbove(file, line)
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
		if n, ok := types.Unalias(pointee(v.Type())).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg() != p.pkg {
			e.source = p.librarySource(n.Obj())
		}
	}
	name := exports.Member(o, p.pkg.Scope())
	w, ok := writtenIn(code)[name]
	if !ok || o.Parent() != nil && o.Parent() != p.pkg.Scope() {
		w, ok = p.Earlier.Written(name)
	}
	if ok && (o.Parent() == nil || o.Parent() == p.pkg.Scope()) {
		e.doc = w.Doc
		if source := p.source(o, code); detail > 0 && source != "" {
			e.source = source
		}
	}
	return e
}

// librarySource returns the declaration of an object of a compiled package with its place, or ""
// where the source is not at hand: that of the standard library needs an installation of Go.
func (p *probe) librarySource(o types.Object) string {
	files, folder := p.Sources, ""
	if own, ok := strings.CutPrefix(o.Pkg().Path(), "halfnote/"); ok {
		folder = own
	} else if exports.Importable(o.Pkg().Path()) == nil {
		files, _ = library.StdSource()
		folder = o.Pkg().Path()
	}
	if files == nil || folder == "" {
		return ""
	}
	text, file := library.Declaration(files, folder, exports.Member(o, o.Pkg().Scope()))
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

// bundle renders the explanation.
func (e explanation) bundle() display.Bundle {
	parser := comment.Parser{
		LookupPackage: func(name string) (path string, ok bool) {
			if path := exports.Preloaded[name]; path != "" {
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
