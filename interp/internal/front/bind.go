package front

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// Bind gives every declaration of the cell a name that is unique in the session, and
// renames every use, by object and not by name, so that shadowing is exact. A variable
// with the name and type of an existing one keeps its slot, so that earlier functions
// see the new value.
func (k *Checked) Bind() (*Bound, error) {
	c := &Bound{
		Checked: k, Env: k.Known.Clone(), Slots: map[string]bool{}, UnitPaths: map[string]bool{},
		Names: map[types.Object]*Binding{}, Vars: map[*Binding]types.Object{}, Reused: map[*Binding]bool{},
		newHooks: map[*Method]bool{}, Touched: map[*Binding]bool{}, methodFns: map[*types.Func]*Binding{}, hooks: map[*Binding]bool{},
	}
	for _, f := range c.Decls {
		if f.Dependant { // the session's source is unchanged until the cell is accepted
			f.Src = &Source{Cell: f.Src.Cell, Item: f.Src.Item, norm: f.Src.norm, Stops: c.Debug}
		}
		for _, name := range f.names() {
			c.bindDecl(f, name)
		}
	}
	for _, f := range c.Decls {
		c.bindMethods(f)
	}
	for _, v := range c.newVars {
		c.bindVar(v)
	}
	c.bindLocalTypes()
	for _, f := range c.Decls {
		c.noteUses(f)
	}
	if err := c.describe(); err != nil {
		return nil, err
	}
	c.noteCaptures()
	for _, f := range append(c.Decls, c.Stmts) {
		c.renameUses(f)
	}
	c.lateBinding()
	return c, nil
}

// bindDecl makes the new binding of a type, constant or function.
func (c *Bound) bindDecl(f *DeclFile, name string) {
	o := c.Pkg.Scope().Lookup(name)
	if o == nil || strings.Contains(name, ".") || name == "_" {
		return
	}
	b, hook := &Binding{Name: name, Made: f.Src.Cell, Seq: c.Seq, Src: f.Src, Typ: exports.TypeString(o.Type(), c.Pkg)}, ""
	switch o := o.(type) {
	case *types.TypeName:
		b.Kind = KindType
		if n, ok := o.Type().(*types.Named); ok {
			b.Generic = n.TypeParams().Len() > 0
		}
		b.Typ = exports.TypeString(o.Type().Underlying(), c.Pkg)
	case *types.Const:
		b.Kind = KindConst
	case *types.Func:
		b.Kind = KindFunc
		b.Generic = o.Signature().TypeParams().Len() > 0
		if old := c.Env.Named(name); old != nil && old.Kind == KindFunc && old.Typ == b.Typ {
			hook = c.Env.Of(old).Hook
		}
	default:
		return
	}
	b.Slot = c.slotName(name)
	c.Names[o] = b
	c.Env.add(b)
	c.Env.change(b).Hook = hook
	f.Src.Binds = append(f.Src.Binds, b)
}

// bindMethods adds the file's methods to their types.
func (c *Bound) bindMethods(f *DeclFile) {
	for _, d := range f.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			continue
		}
		b := c.Env.Named(lower.Receiver(fd))
		fn, _ := c.Info.Defs[fd.Name].(*types.Func)
		if b == nil || fn == nil {
			continue
		}
		m := &Method{Name: fn.Name(), Typ: b, sig: signature(fn), Src: f.Src}
		old := c.Env.Of(b).Method(m.Name)
		if old != nil && old.Fn != nil {
			c.Env.moved = append(c.Env.moved, old.Fn)
		}
		if lower.IsGenericMethod(fn) {
			c.bindGenericMethod(m, fn)
		} else if old != nil {
			m.Hook = old.Hook
		} else if !b.Generic {
			m.Hook = fmt.Sprintf("%s_%s__hook%d", b.Slot, m.Name, c.Seq)
			c.newHooks[m] = true
		}
		if m.Fn == nil && c.Names[c.Pkg.Scope().Lookup(b.Name)] != b {
			c.Touched[b] = true
		}
		c.Env.change(b).declare(m, Header{})
		c.NewMethods = append(c.NewMethods, newMethod{m, fd, fn})
		f.Src.Methods = append(f.Src.Methods, m)
	}
}

// newMethod is a method that the cell adds to a type when it is accepted.
type newMethod struct {
	*Method
	Decl *ast.FuncDecl
	fn   *types.Func
}

// bindVar gives a variable of the cell its slot.
func (c *Bound) bindVar(v *types.Var) {
	if b := c.Known.Named(v.Name()); b != nil && !c.Superseded[b] && b.Kind == KindVar {
		c.Names[v] = b
		c.Reused[b] = true
		if o := c.Pkg.Scope().Lookup(c.Known.Of(b).Check); o != nil {
			c.Names[o] = b
		}
		return
	}
	b := &Binding{Name: v.Name(), Kind: KindVar, Made: c.N, Seq: c.Seq, Typ: exports.TypeString(v.Type(), c.Pkg)}
	b.Slot = c.slotName(v.Name())
	c.Names[v] = b
	if o := c.Pkg.Scope().Lookup(v.Name()); o != nil && c.standIns[v.Name()] {
		c.Names[o] = b
	}
	if old := c.Env.Named(v.Name()); old != nil && old.Kind == KindType {
		c.Env.retire(old)
	}
	c.Env.add(b)
	c.Fresh = append(c.Fresh, b)
	c.Vars[b] = v
}

// bindLocalTypes gives types declared in functions session-wide unique names: an engine
// may confuse two types of the same name, and rewrites write types. For engines without generic functions, types in these get theirs when
// instantiated.
func (c *Bound) bindLocalTypes() {
	c.localTypes = map[types.Object]string{}
	for _, f := range append(c.Decls, c.Stmts) {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Body == nil || c.Session.Instances && lower.IsGeneric(d) {
				continue
			}
			ast.Inspect(fd.Body, func(n ast.Node) bool {
				if t, ok := n.(*ast.TypeSpec); ok && t.Name.Name != "_" {
					if o := c.Info.Defs[t.Name]; o != nil && c.BindingOf(o) == nil {
						c.localTypes[o] = c.slotName(t.Name.Name)
					}
				}
				return true
			})
		}
	}
}

// BindingOf returns the binding of a checker's object, declared by this cell or an
// earlier one.
func (c *Bound) BindingOf(o types.Object) *Binding {
	if o == nil {
		return nil
	}
	if b := c.Names[o]; b != nil {
		return b
	}
	if fn, ok := o.(*types.Func); ok && fn.Signature().Recv() != nil {
		return c.methodFn(fn)
	}
	if o.Pkg() != c.Pkg || o.Parent() != c.Pkg.Scope() {
		return nil
	}
	if b := c.Outs[o.Name()]; b != nil {
		return b
	}
	if b := c.Known.byCheck(o.Name()); b != nil {
		return b
	}
	return c.Env.byCheck(o.Name())
}

// Reads reports whether the cell mentions a binding.
func (c *Bound) Reads(b *Binding) bool {
	for _, o := range c.Info.Uses {
		if c.BindingOf(o) == b {
			return true
		}
	}
	return false
}

// describe makes the declarations by which the type checker knows the new bindings in later cells.
func (c *Bound) describe() error {
	for o, b := range c.Names {
		if c.Reused[b] || b.Kind == KindVar && c.Vars[b] != o {
			continue
		}
		h, err := c.headerFor(o, b)
		if err != nil {
			at := c.Session.Fset.Position(o.Pos())
			return &syntax.Rejected{Name: "CompileError", Problems: []syntax.Problem{{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(
				"%s %s cannot be kept for later cells: %v; assign it to a variable of an interface type instead", b.Kind, b.Name, err)}}}
		}
		c.Env.change(b).Header = h
	}
	for _, m := range c.NewMethods {
		h := newHeading()
		d, err := funcHeader(m.fn, c.receiverFor(h, m.Method, m.Decl), c.checkNames(h))
		if err != nil {
			at := c.Session.Fset.Position(m.fn.Pos())
			return &syntax.Rejected{Name: "CompileError", Problems: []syntax.Problem{{Cell: c.N, Line: at.Line, Col: at.Column, Msg: err.Error()}}}
		}
		c.Env.change(m.Typ).declare(m.Method, h.header(d))
		c.Env.moved = append(c.Env.moved, m.Typ)
	}
	return nil
}

// Header returns the declaration by which the type checker knows an object in later cells.
func (c *Bound) Header(o types.Object) (Header, error) { return c.headerFor(o, nil) }

// headerFor is Header for an object that is declared as b, unless that is nil.
func (c *Bound) headerFor(o types.Object, b *Binding) (Header, error) {
	h := newHeading()
	decls, err := headerOf(o, c.checkNames(h))
	if err != nil {
		return Header{}, err
	}
	if b != nil {
		for _, id := range declared(decls) {
			h.refer(id, b)
		}
		err = c.Importable(h.paths)
	}
	return h.header(decls...), err
}

// receiverFor writes a method's receiver type for the checker, with the declaration's
// type parameter names.
func (c *Bound) receiverFor(h *heading, m *Method, d *ast.FuncDecl) ast.Expr {
	id := ast.NewIdent(c.Env.Of(m.Typ).Check)
	h.refer(id, m.Typ)
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

func (c *Bound) Importable(paths map[string]bool) error {
	for path := range paths {
		if _, err := c.Session.Importer.Import(path); err != nil {
			return fmt.Errorf("its type belongs to package %q, which cells cannot import", path)
		}
	}
	return nil
}
