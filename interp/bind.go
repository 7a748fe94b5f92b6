package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"halfnote/interp/lower"
)

// bind gives every declaration of the cell a name that is unique in the session, and
// renames every use, by object and not by name, so that shadowing is exact. A variable
// with the name and type of an existing one keeps its slot, so that earlier functions
// see the new value.
func (s *Session) bind(c *cell) error {
	c.names = map[types.Object]*binding{}
	c.before = c.env.clone()
	for _, f := range c.decls {
		if f.dependant { // the session's source is unchanged until the cell is accepted
			f.src = &source{cell: f.src.cell, item: f.src.item, norm: f.src.norm}
		}
		for _, name := range f.names() {
			s.bindDecl(c, f, name)
		}
	}
	for _, f := range c.decls {
		s.bindMethods(c, f)
	}
	for _, v := range c.newVars {
		s.bindVar(c, v)
	}
	s.bindLocalTypes(c)
	for _, f := range c.decls {
		c.noteUses(f)
	}
	if err := c.describe(); err != nil {
		return err
	}
	c.noteCaptures()
	for _, f := range append(c.decls, c.stmts) {
		c.renameUses(f)
	}
	c.lateBinding()
	return nil
}

// bindDecl makes the new binding of a type, constant or function.
func (s *Session) bindDecl(c *cell, f *declFile, name string) {
	o := c.pkg.Scope().Lookup(name)
	if o == nil || strings.Contains(name, ".") || name == "_" {
		return
	}
	b := &binding{name: name, check: name, cell: f.src.cell, seq: c.seq, src: f.src, typ: typeString(o.Type(), c.pkg)}
	switch o := o.(type) {
	case *types.TypeName:
		b.kind = kindType
		b.methods = map[string]*method{}
		if n, ok := o.Type().(*types.Named); ok {
			b.generic = n.TypeParams().Len() > 0
		}
		b.typ = typeString(o.Type().Underlying(), c.pkg)
	case *types.Const:
		b.kind = kindConst
	case *types.Func:
		b.kind = kindFunc
		b.generic = o.Signature().TypeParams().Len() > 0
		if old := c.env.cur[name]; old != nil && old.kind == kindFunc && old.typ == b.typ {
			b.hook = old.hook
		}
	default:
		return
	}
	b.slot = s.slotName(name, c.seq)
	c.names[o] = b
	if old := c.env.cur[name]; old != nil && old.kind == kindType {
		c.env.old = append(c.env.old, old)
	}
	c.env.cur[name] = b
	f.src.binds = append(f.src.binds, b)
}

// bindMethods adds the file's methods to their types.
func (s *Session) bindMethods(c *cell, f *declFile) {
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			continue
		}
		b := c.env.cur[lower.Receiver(fd)]
		fn, _ := c.info.Defs[fd.Name].(*types.Func)
		if b == nil || fn == nil {
			continue
		}
		m := &method{name: fn.Name(), typ: b, sig: signature(fn), cell: f.src.cell, src: f.src}
		if old := b.methods[m.name]; old != nil {
			m.hook = old.hook
		} else if !b.generic && !(c.complete && callsRecover(fd)) {
			m.hook = fmt.Sprintf("%s_%s__hook%d", b.slot, m.name, c.seq)
			c.newHooks[m] = true
		}
		if c.names[c.pkg.Scope().Lookup(b.name)] != b {
			c.touched[b] = true
		}
		// The binding may be shared with the environment from before the cell.
		c.newMethods = append(c.newMethods, newMethod{m, fd, fn})
		f.src.methods = append(f.src.methods, m)
	}
}

// newMethod is a method that the cell adds to a type when it is accepted.
type newMethod struct {
	*method
	decl *ast.FuncDecl
	fn   *types.Func
}

// bindVar gives a variable of the cell its slot.
func (s *Session) bindVar(c *cell, v *types.Var) {
	if b := c.before.cur[v.Name()]; b != nil && !c.superseded[b] && b.kind == kindVar {
		c.names[v] = b
		c.reused[b] = true
		if o := c.pkg.Scope().Lookup(b.check); o != nil {
			c.names[o] = b
		}
		return
	}
	b := &binding{name: v.Name(), kind: kindVar, check: v.Name(), cell: c.n, seq: c.seq, typ: typeString(v.Type(), c.pkg)}
	b.slot = s.slotName(v.Name(), c.seq)
	c.names[v] = b
	if o := c.pkg.Scope().Lookup(v.Name()); o != nil && c.standIns[v.Name()] {
		c.names[o] = b
	}
	if old := c.env.cur[v.Name()]; old != nil && old.kind == kindType {
		c.env.old = append(c.env.old, old)
		s.mu.Lock() // completion reads the names concurrently
		old.rename(fmt.Sprintf("%s__%d", old.name, old.seq))
		s.mu.Unlock()
		c.retired[old] = true
	}
	c.env.cur[v.Name()] = b
	c.fresh = append(c.fresh, b)
	c.vars[b] = v
}

// bindLocalTypes gives types declared in functions session-wide unique names: an engine
// may confuse two types of the same name. Types in generic functions get theirs when
// instantiated.
func (s *Session) bindLocalTypes(c *cell) {
	c.localTypes = map[types.Object]string{}
	for _, f := range append(c.decls, c.stmts) {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil || lower.IsGeneric(d) {
				continue
			}
			ast.Inspect(fd.Body, func(n ast.Node) bool {
				if t, ok := n.(*ast.TypeSpec); ok && t.Name.Name != "_" {
					if o := c.info.Defs[t.Name]; o != nil && c.bindingOf(o) == nil {
						c.localTypes[o] = s.slotName(t.Name.Name, c.seq)
					}
				}
				return true
			})
		}
	}
}

// bindingOf returns the binding of a checker's object, declared by this cell or an
// earlier one.
func (c *cell) bindingOf(o types.Object) *binding {
	if o == nil {
		return nil
	}
	if b := c.names[o]; b != nil {
		return b
	}
	if o.Pkg() != c.pkg || o.Parent() != c.pkg.Scope() {
		return nil
	}
	if b := c.outs[o.Name()]; b != nil {
		return b
	}
	if b := c.before.byCheck(o.Name()); b != nil {
		return b
	}
	for b := range c.retired {
		if b.check == o.Name() {
			return b
		}
	}
	return c.env.byCheck(o.Name())
}

// describe writes declarations of the new bindings for the checker of later cells.
func (c *cell) describe() error {
	for o, b := range c.names {
		if c.reused[b] || b.kind == kindVar && c.vars[b] != o {
			continue
		}
		b.paths = map[string]bool{}
		decls, err := header(o, checkNames(c.pkg, c.bindingOf, b.paths))
		if err == nil {
			err = c.importable(b.paths)
		}
		if err != nil {
			at := c.fset.Position(o.Pos())
			return &rejected{"CompileError", []problem{{cell: c.n, line: at.Line, col: at.Column, msg: fmt.Sprintf(
				"%s %s cannot be kept for later cells: %v; assign it to a variable of an interface type instead", b.kind, b.name, err)}}}
		}
		b.decls = decls
		for _, d := range decls {
			locate(d, c.ground)
		}
		b.idents = append(b.idents, declared(decls)...)
	}
	for _, m := range c.newMethods {
		m.paths = map[string]bool{}
		name := checkNames(c.pkg, c.bindingOf, m.paths)
		var err error
		if m.header, err = funcHeader(m.fn, c.receiverFor(m.method, m.decl), name); err != nil {
			at := c.fset.Position(m.fn.Pos())
			return &rejected{"CompileError", []problem{{cell: c.n, line: at.Line, col: at.Column, msg: err.Error()}}}
		}
		locate(m.header, c.ground)
	}
	return nil
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

// receiverFor writes a method's receiver type for the checker, with the declaration's
// type parameter names.
func (c *cell) receiverFor(m *method, d *ast.FuncDecl) ast.Expr {
	id := ast.NewIdent(m.typ.check)
	m.typ.idents = append(m.typ.idents, id)
	var e ast.Expr = id
	t, pointer := d.Recv.List[0].Type, false
	for t != nil {
		switch x := t.(type) {
		case *ast.StarExpr:
			t, pointer = x.X, true
			continue
		case *ast.ParenExpr:
			t = x.X
			continue
		case *ast.IndexExpr:
			e = &ast.IndexExpr{X: id, Index: ast.NewIdent(x.Index.(*ast.Ident).Name)}
		case *ast.IndexListExpr:
			var list []ast.Expr
			for _, p := range x.Indices {
				list = append(list, ast.NewIdent(p.(*ast.Ident).Name))
			}
			e = &ast.IndexListExpr{X: id, Indices: list}
		}
		break
	}
	if pointer {
		e = &ast.StarExpr{X: e}
	}
	return e
}

// declared returns the identifiers declared in header declarations.
func declared(decls []ast.Decl) []*ast.Ident {
	var list []*ast.Ident
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			list = append(list, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					list = append(list, spec.Name)
				case *ast.ValueSpec:
					list = append(list, spec.Names...)
				}
			}
		}
	}
	return list
}

func (c *cell) importable(paths map[string]bool) error {
	for path := range paths {
		if _, err := c.importer.Import(path); err != nil {
			return fmt.Errorf("its type belongs to package %q, which cells cannot import", path)
		}
	}
	return nil
}

// callsRecover reports whether a method may call recover, which works only in the
// deferred function itself and so not through a variable.
func callsRecover(d *ast.FuncDecl) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == "recover"
		return !found
	})
	return found
}
