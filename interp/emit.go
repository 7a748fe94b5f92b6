package interp

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/engine"
	"halfnote/interp/lower"
)

// emission collects the declarations of the unit for the engine.
type emission struct {
	types, vars, funcs []ast.Decl
	consts             []ast.Decl // constants of packages, for the checker only
	start              []ast.Stmt // statements before the cell's own
	inits              []ast.Stmt // calls of init functions, after the leading variables
}

// lower turns the cell into a unit: types, variables, functions, and one function for
// the statements. It applies the rewrites that the engine needs.
func (s *Session) lower(c *cell) error {
	if err := s.declarePackages(c); err != nil {
		return err
	}
	e := &emission{}
	for _, b := range c.fresh {
		if err := c.slot(e, b.slot, c.vars[b].Type()); err != nil {
			return unsupported(c, &lower.Unsupported{Pos: c.vars[b].Pos(), What: err.Error()})
		}
	}
	for _, f := range c.decls {
		for _, d := range f.Decls {
			if err := c.emit(e, d); err != nil {
				return err
			}
		}
	}
	for _, h := range c.hooked {
		if err := c.slot(e, c.newFuncHooks[h.binding], h.fn.Signature()); err != nil {
			return err
		}
		e.start = append(e.start, setHook(c.newFuncHooks[h.binding], h.slot))
	}
	for _, b := range c.names {
		if b.kind == kindFunc && b.hook != "" {
			e.start = append(e.start, setHook(b.hook, b.slot))
		}
	}
	if in := c.outs[inName]; in != nil {
		e.vars = append(e.vars, varDecl(in.slot, &ast.ArrayType{Elt: ast.NewIdent("string")}))
		e.start = append(e.start, &ast.AssignStmt{
			Lhs: []ast.Expr{ast.NewIdent(in.slot)}, Tok: token.ASSIGN, Rhs: []ast.Expr{lower.Support("In")},
		})
	}
	body, err := c.statements(e)
	if err != nil {
		return err
	}
	c.body.Body.List = append(e.start, body...)
	e.funcs = append(e.funcs, c.body)

	decls := append(e.types, e.vars...)
	decls = append(decls, e.funcs...)
	file := &ast.File{Package: c.stmts.Package, Name: ast.NewIdent("main"), Decls: decls}
	x := s.newUnit(c, file, c.body)
	if s.engine.Needs().Instances {
		if err := s.instantiate(c, x); err != nil {
			return unsupported(c, err)
		}
	} else {
		s.unpackage(c, x)
	}
	if c.debug {
		s.addStops(c, x)
	}
	if err := s.rewrite(c, x, s.engine.Needs().Rewrites); err != nil {
		return unsupported(c, err)
	}
	if !s.engine.Needs().Instances {
		if err := s.include(c, x); err != nil {
			return unsupported(c, err)
		}
	}
	c.marks = x.Marks
	c.labels[c.entry()] = ""
	file.Decls = append([]ast.Decl{importDecl(c.unitPaths)}, file.Decls...)
	c.unit = &engine.Unit{N: c.n, Entry: c.entry(), File: file, Fset: c.fset, Pkg: x.Pkg, Info: x.Info}
	return nil
}

// newUnit returns the input of the rewrites.
func (s *Session) newUnit(c *cell, file *ast.File, outer *ast.FuncDecl) *lower.Unit {
	return &lower.Unit{
		File: file, Fset: c.fset, Pkg: c.pkg, Info: c.info, Seq: c.seq,
		Name: c.engineNames, Import: func(path string) string { c.unitPaths[path] = true; return alias(path) },
		FirstMark: len(s.marks) + 1,
		Var:       s.packageVar, Outer: outer, Generated: c.generated,
		Types: s.types, Hook: c.hook, Iface: s.iface,
		Watched: func(path string) bool { return strings.HasPrefix(path, "halfnote/") },
	}
}

// rewrite applies rewrites to a unit.
func (s *Session) rewrite(c *cell, x *lower.Unit, names []string) error {
	g := s.generics
	if c.generics != nil {
		g = c.generics
	}
	x.Label, x.Instances = s.typeLabel(g), g.instances
	if err := x.Lower(names); err != nil {
		return err
	}
	for name, method := range x.Functions {
		c.labels[name] = c.labels[method]
	}
	return nil
}

// slot declares a variable of the engine.
func (c *cell) slot(e *emission, name string, t types.Type) error {
	x, err := lower.TypeExpr(t, c.engineNames)
	if err != nil {
		return err
	}
	if hasStruct(x) { // Yaegi mistakes the fields for variables
		t := ast.NewIdent(name + "__type")
		e.types = append(e.types, &ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{&ast.TypeSpec{Name: t, Assign: 1, Type: x}}})
		x = ast.NewIdent(t.Name)
	}
	e.vars = append(e.vars, varDecl(name, x))
	return nil
}

// hasStruct reports whether a type expression contains a struct with fields.
func hasStruct(x ast.Expr) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		_, ok := n.(*ast.StructType)
		found = found || ok
		return !found
	})
	return found
}

// varDecl declares a variable. Yaegi mistakes the parameter names in its type for
// variables.
func varDecl(name string, t ast.Expr) ast.Decl {
	ast.Inspect(t, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncType); ok {
			f.Params.List = anonymous(f.Params.List)
			if f.Results != nil {
				f.Results.List = anonymous(f.Results.List)
			}
		}
		return true
	})
	return &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{ast.NewIdent(name)}, Type: t}}}
}

// emit adds a declaration of the cell to the unit. Constants are omitted: every
// constant expression is replaced by its value.
func (c *cell) emit(e *emission, d ast.Decl) error {
	switch d := d.(type) {
	case *ast.GenDecl:
		if d.Tok == token.TYPE {
			e.types = append(e.types, d)
		}
	case *ast.FuncDecl:
		if d.Recv != nil {
			return c.emitMethod(e, d)
		}
		if d.Name.Name == "init" {
			c.inits++
			d.Name.Name = fmt.Sprintf("init__%d_%d", c.seq, c.inits)
			e.inits = append(e.inits, &ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent(d.Name.Name)}})
		}
		c.labels[d.Name.Name] = c.nameOf(d)
		if d.Name.Name == "_" {
			return nil
		}
		e.funcs = append(e.funcs, d)
	}
	return nil
}

// nameOf returns the name of a function that users see.
func (c *cell) nameOf(d *ast.FuncDecl) string {
	if o := c.info.Defs[d.Name]; o != nil {
		return o.Name()
	}
	return d.Name.Name
}

// emitMethod turns a method's body into a function and, for a new method, declares one
// that calls through a variable, so that a later body also serves existing values of
// the type.
func (c *cell) emitMethod(e *emission, d *ast.FuncDecl) error {
	var m *newMethod
	for i := range c.newMethods {
		if c.newMethods[i].decl == d {
			m = &c.newMethods[i]
		}
	}
	if m == nil {
		return nil // func (T) _()
	}
	label := m.typ.name + "." + m.name
	recv := m.fn.Signature().Recv()
	if _, ok := recv.Type().(*types.Pointer); ok {
		label = "(*" + m.typ.name + ")." + m.name
	}
	if m.hook == "" { // methods of generic types come before variables, which instantiate them
		c.labels[d.Name.Name] = label
		e.types = append(e.types, d)
		return nil
	}
	body := fmt.Sprintf("%s_%s__%d", m.typ.slot, m.name, c.seq)
	c.labels[body] = label
	f := methodBody(d, body)
	c.info.Defs[f.Name] = m.fn
	e.funcs = append(e.funcs, f)
	e.start = append(e.start, setHook(m.hook, body))
	if !c.newHooks[m.method] {
		return nil
	}
	recvType, err := lower.TypeExpr(recv.Type(), c.engineNames)
	if err != nil {
		return err
	}
	hook, err := lower.FuncType(m.fn.Signature(), c.engineNames)
	if err != nil {
		return err
	}
	hook.Params.List = append([]*ast.Field{{Type: recvType}}, anonymous(hook.Params.List)...)
	e.vars = append(e.vars, varDecl(m.hook, hook))
	method, err := c.forward(m.fn, m.hook)
	e.funcs = append(e.funcs, method)
	return err
}

// forward declares a method that passes its receiver and its arguments to a function.
func (c *cell) forward(m *types.Func, to string) (*ast.FuncDecl, error) {
	recvType, err := lower.TypeExpr(m.Signature().Recv().Type(), c.engineNames)
	if err != nil {
		return nil, err
	}
	t, err := lower.FuncType(m.Signature(), c.engineNames)
	if err != nil {
		return nil, err
	}
	t.Params.List = anonymous(t.Params.List)
	if t.Results != nil {
		t.Results.List = anonymous(t.Results.List)
	}
	call := &ast.CallExpr{Fun: ast.NewIdent(to)}
	call.Args = append(call.Args, ast.NewIdent("recv__"))
	for i, f := range t.Params.List {
		id := fmt.Sprintf("arg__%d", i)
		f.Names = []*ast.Ident{ast.NewIdent(id)}
		call.Args = append(call.Args, ast.NewIdent(id))
	}
	if m.Signature().Variadic() {
		call.Ellipsis = 1
	}
	var st ast.Stmt = &ast.ExprStmt{X: call}
	if t.Results != nil {
		st = &ast.ReturnStmt{Results: []ast.Expr{call}}
	}
	f := &ast.FuncDecl{
		Recv: &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ast.NewIdent("recv__")}, Type: recvType}}},
		Name: ast.NewIdent(m.Name()), Type: t,
		Body: &ast.BlockStmt{List: []ast.Stmt{st}},
	}
	c.generated[f] = true
	return f, nil
}

// methodBody turns a method into a function whose first parameter is the receiver.
func methodBody(d *ast.FuncDecl, name string) *ast.FuncDecl {
	lower.NameParams(d.Recv)
	lower.NameParams(d.Type.Params)
	params := &ast.FieldList{List: slices.Concat(d.Recv.List, d.Type.Params.List)}
	return &ast.FuncDecl{
		Name: ast.NewIdent(name),
		Type: &ast.FuncType{Func: d.Type.Func, Params: params, Results: d.Type.Results},
		Body: d.Body,
	}
}

// hook returns the variable that holds a method; typ is the type's name in the engine.
func (c *cell) hook(typ, name string) string {
	if c.typesBySlot == nil {
		c.typesBySlot = map[string]*binding{}
		for _, list := range [][]*binding{c.env.old, slices.Collect(maps.Values(c.env.cur))} {
			for _, b := range list {
				if b.kind == kindType {
					c.typesBySlot[b.slot] = b
				}
			}
		}
	}
	for _, m := range c.newMethods {
		if m.typ.slot == typ && m.name == name {
			return m.hook
		}
	}
	if b := c.typesBySlot[typ]; b != nil && b.methods[name] != nil {
		return b.methods[name].hook
	}
	return ""
}

func setHook(hook, function string) ast.Stmt {
	return &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent(hook)}, Tok: token.ASSIGN, Rhs: []ast.Expr{ast.NewIdent(function)}}
}

// anonymous removes the names of parameters.
func anonymous(list []*ast.Field) []*ast.Field {
	for _, f := range list {
		f.Names = nil
	}
	return list
}
