package front

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"halfnote/interp/internal/clone"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// lazyPrelude declares to the checker, under engine names, only the declarations of the
// engine that a unit uses; with all of them the cost of a cell would grow with the session.
// Declarations that the engine lacks but that exist as source are added to the unit.
type lazyPrelude struct {
	std      *Std
	generics *Generics
	unit     *ast.File
	file     *ast.File       // prelude
	declared map[string]bool // declared by the unit or the prelude; methods as T.M
	// session returns the declarations of cells.
	session func(name string) []ast.Decl
	ground  token.Pos       // a permanent position
	paths   map[string]bool // packages mentioned
	err     error
}

// newLazyPrelude returns a lazyPrelude with the names that the unit mentions.
func (c *Lowering) newLazyPrelude(unit *ast.File, g *Generics, session func(string) []ast.Decl) *lazyPrelude {
	p := &lazyPrelude{
		std: c.Session.Std, generics: g, unit: unit, session: session, ground: c.Session.Ground, paths: map[string]bool{},
		file:     &ast.File{Package: c.Session.Ground, Name: ast.NewIdent("main")},
		declared: map[string]bool{},
	}
	for _, name := range syntax.Declared(unit.Decls) {
		p.declared[name] = true
	}
	for _, d := range unit.Decls {
		p.want(d)
	}
	return p
}

// want declares everything that a tree mentions. For a local variable's name this may
// declare more than needed.
func (p *lazyPrelude) want(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			p.need(id.Name)
		}
		return true
	})
}

// need declares one name.
func (p *lazyPrelude) need(name string) {
	if p.declared[name] {
		return
	}
	if path := library.Aliased(name); path != "" {
		p.paths[path] = true
		return
	}
	list := p.generics.Decls[name]
	if list == nil {
		list = p.session(name)
	}
	if list != nil {
		p.declared[name] = true
		for _, d := range list {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && p.declared[name+"."+f.Name.Name] {
				continue
			}
			d = clone.Tree(d, nil)
			locate(d, p.ground)
			p.file.Decls = append(p.file.Decls, d)
			p.want(d)
		}
		return
	}
	if !library.IsStd(name) {
		return
	}
	d, err := p.std.decl(name)
	if err != nil && p.err == nil {
		p.err = err
	}
	if d == nil {
		return
	}
	p.declared[name] = true
	into := p.unit
	if d.Generic || isConst(d.Nodes[0]) {
		into = p.file
	} else {
		p.generics.Decls[name] = headers(d.Nodes)
	}
	for _, n := range d.Nodes {
		n = clone.Tree(n, nil)
		into.Decls = append(into.Decls, n)
		p.want(n)
	}
}

func isConst(d ast.Decl) bool {
	g, ok := d.(*ast.GenDecl)
	return ok && g.Tok == token.CONST
}

// headers returns copies of declarations without the bodies of functions.
func headers(list []ast.Decl) []ast.Decl {
	var out []ast.Decl
	for _, d := range list {
		d = clone.Tree(d, nil)
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
		out = append(out, d)
	}
	return out
}

// sessionDecls returns a function that finds the session's declarations by engine name.
func (c *Lowering) sessionDecls() func(name string) []ast.Decl {
	own := map[string]types.Object{}
	for o, b := range c.Names {
		own[b.Slot] = o
	}
	for _, b := range c.Outs {
		own[b.Slot] = c.Pkg.Scope().Lookup(b.Name)
	}
	object := func(slot string) types.Object {
		if b := c.Slotted(slot); b != nil && own[slot] == nil {
			return c.Object(b)
		}
		return own[slot]
	}
	return func(name string) []ast.Decl {
		if i := strings.LastIndex(name, hookMark); i >= 0 && c.Env.Of(c.Slotted(name[:i])).Hook == name {
			if fn, ok := object(name[:i]).(*types.Func); ok {
				if t, err := lower.FuncType(fn.Signature(), c.unitNames); err == nil {
					return []ast.Decl{varDecl(name, t)}
				}
			}
		}
		o := object(name)
		if o == nil {
			return nil
		}
		decls, err := headerOf(o, c.unitNames)
		if err != nil {
			return nil
		}
		for _, id := range declared(decls) {
			id.Name = name
		}
		if tn, ok := o.(*types.TypeName); ok {
			decls = append(decls, c.methodHeaders(tn, name)...)
		}
		return decls
	}
}

// methodHeaders declares the methods of a type that the engine calls slot.
func (c *Lowering) methodHeaders(o *types.TypeName, slot string) (list []ast.Decl) {
	n, ok := o.Type().(*types.Named)
	if !ok || o.IsAlias() {
		return nil
	}
	for m := range n.Methods() {
		if lower.IsGenericMethod(m) {
			continue // it is a function
		}
		var recv ast.Expr = ast.NewIdent(slot)
		if _, ok := m.Signature().Recv().Type().(*types.Pointer); ok {
			recv = &ast.StarExpr{X: recv}
		}
		if d, err := funcHeader(m, recv, c.unitNames); err == nil {
			list = append(list, d)
		}
	}
	return list
}

// locate gives the names and pointer types of a tree a position, because the checker
// looks up the file of some nodes.
func locate(n ast.Node, pos token.Pos) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !n.NamePos.IsValid() {
				n.NamePos = pos
			}
		case *ast.StarExpr:
			n.Star = pos
		}
		return true
	})
}
