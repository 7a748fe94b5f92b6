package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/lower"
)

// Emission collects the declarations of the unit for the engine.
type Emission struct {
	types, Vars, Funcs []ast.Decl
	consts             []ast.Decl // constants of packages, for the checker only
	Start              []ast.Stmt // statements before the cell's own
	inits              []ast.Stmt // calls of init functions, after the leading variables
}

// Lower turns a cell into a unit: types, variables, functions, and one function for
// the statements. It applies the rewrites that the engine needs.
func (b *Bound) Lower(to *Target) (*Lowered, error) {
	c := NewLowering(b, to)
	if err := c.lower(); err != nil {
		return nil, err
	}
	return &c.Lowered, nil
}

func NewLowering(b *Bound, to *Target) *Lowering {
	c := &Lowering{Bound: b, to: to, generated: map[*ast.FuncDecl]bool{}}
	c.Labels = map[string]string{}
	return c
}

func (c *Lowering) lower() error {
	e := &Emission{}
	for _, b := range c.Fresh {
		if err := c.slot(e, b.Slot, c.Vars[b].Type()); err != nil {
			return c.Unsupported(&lower.Unsupported{Pos: c.Vars[b].Pos(), What: err.Error()})
		}
	}
	if err := c.plainMethods(); err != nil {
		return err
	}
	for _, f := range c.Decls {
		for _, d := range f.Decls {
			if err := c.emit(e, d); err != nil {
				return err
			}
		}
	}
	for _, h := range c.Hooked {
		if err := c.slot(e, h.Hook, h.Fn.Signature()); err != nil {
			return err
		}
		e.Start = append(e.Start, setHook(h.Hook, h.Slot))
	}
	for _, b := range c.Names {
		if hook := c.Env.Of(b).Hook; b.Kind == KindFunc && hook != "" && !c.Hooks(b) {
			e.Start = append(e.Start, setHook(hook, b.Slot))
		}
	}
	if in := c.Outs[InName]; in != nil {
		e.Vars = append(e.Vars, varDecl(in.Slot, &ast.ArrayType{Elt: ast.NewIdent("string")}))
		e.Start = append(e.Start, &ast.AssignStmt{
			Lhs: []ast.Expr{ast.NewIdent(in.Slot)}, Tok: token.ASSIGN, Rhs: []ast.Expr{lower.Support("In")},
		})
	}
	body, err := c.statements(e)
	if err != nil {
		return err
	}
	c.Body.Body.List = append(e.Start, body...)
	e.Funcs = append(e.Funcs, c.Body)

	decls := append(e.types, e.Vars...)
	decls = append(decls, e.Funcs...)
	file := &ast.File{Package: c.Stmts.Package, Name: ast.NewIdent("main"), Decls: decls}
	x := c.newUnit(file, c.Body)
	if c.to.Needs.Instances {
		if err := c.instantiate(x); err != nil {
			return c.Unsupported(err)
		}
	} else {
		c.unpackage(x)
	}
	if c.Debug {
		c.to.Stops(c, x)
	}
	if err := c.rewrite(x, c.to.Needs.Rewrites); err != nil {
		return c.Unsupported(err)
	}
	if !c.to.Needs.Instances {
		if err := c.include(x); err != nil {
			return c.Unsupported(err)
		}
	}
	c.Marks = x.Marks
	c.Labels[c.Entry()] = ""
	file.Decls = append([]ast.Decl{ImportDecl(c.UnitPaths)}, file.Decls...)
	c.Unit = &engine.Unit{N: c.N, Entry: c.Entry(), File: file, Fset: c.Session.Fset, Pkg: x.Pkg, Info: x.Info}
	return nil
}

// newUnit returns the input of the rewrites.
func (c *Lowering) newUnit(file *ast.File, outer *ast.FuncDecl) *lower.Unit {
	x := &lower.Unit{
		Tree: lower.Tree{File: file, Fset: c.Session.Fset, Pkg: c.Pkg, Info: c.Info, Seq: c.Seq, Outer: outer, Generated: c.generated},
		Names: lower.Names{
			Name: c.EngineNames, Import: func(path string) string { c.UnitPaths[path] = true; return Alias(path) },
			Var: c.to.Variable, Types: c.to.Types, Hook: c.hook, Iface: c.to.Iface,
			Watched: func(path string) bool { return strings.HasPrefix(path, "halfnote/") },
		},
		FirstMark: c.to.FirstMark,
	}
	if !c.Debug { // the debugger shows variables whose last use is over
		x.Tensors = "halfnote/tensor"
	}
	return x
}

// rewrite applies rewrites to a unit.
func (c *Lowering) rewrite(x *lower.Unit, names []string) error {
	g := cmp.Or(c.Generics, c.to.Generics)
	x.Label, x.Instances = c.to.TypeLabel(g), g.Instances
	if err := x.Lower(names); err != nil {
		return err
	}
	for name, method := range x.Functions {
		c.Labels[name] = c.Labels[method]
	}
	if c.to.Check != nil {
		return c.to.Check(x)
	}
	return nil
}

// slot declares a variable of the engine.
func (c *Lowering) slot(e *Emission, name string, t types.Type) error {
	x, err := lower.TypeExpr(t, c.unitNames)
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars, varDecl(name, x))
	return nil
}

// varDecl declares a variable.
func varDecl(name string, t ast.Expr) ast.Decl {
	return &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{ast.NewIdent(name)}, Type: t}}}
}

// emit adds a declaration of the cell to the unit. Constants are omitted: every
// constant expression is replaced by its value.
func (c *Lowering) emit(e *Emission, d ast.Decl) error {
	switch d := d.(type) {
	case *ast.GenDecl:
		if d.Tok == token.TYPE {
			d.Specs = slices.DeleteFunc(d.Specs, func(s ast.Spec) bool { return s.(*ast.TypeSpec).Name.Name == "_" })
			e.types = append(e.types, d)
		}
	case *ast.FuncDecl:
		if d.Recv != nil {
			return c.EmitMethod(e, d)
		}
		if d.Name.Name == "init" {
			c.inits++
			d.Name.Name = fmt.Sprintf("init__%d_%d", c.Seq, c.inits)
			e.inits = append(e.inits, &ast.ExprStmt{X: &ast.CallExpr{Fun: ast.NewIdent(d.Name.Name)}})
		}
		c.Labels[d.Name.Name] = c.nameOf(d)
		if d.Name.Name == "_" {
			return nil
		}
		e.Funcs = append(e.Funcs, d)
	}
	return nil
}

// nameOf returns the name of a function that users see.
func (c *Lowering) nameOf(d *ast.FuncDecl) string {
	if o := c.Info.Defs[d.Name]; o != nil {
		return o.Name()
	}
	return d.Name.Name
}

// EmitMethod turns a method's body into a function and, for a new method, declares one
// that calls through a variable, so that a later body also serves existing values of
// the type.
func (c *Lowering) EmitMethod(e *Emission, d *ast.FuncDecl) error {
	if c.methodOf == nil {
		c.methodOf = map[*ast.FuncDecl]*newMethod{}
		for i, m := range c.NewMethods {
			c.methodOf[m.Decl] = &c.NewMethods[i]
		}
	}
	m := c.methodOf[d]
	if m == nil {
		return nil // func (T) _()
	}
	label := m.Typ.Name + "." + m.Name
	recv := m.fn.Signature().Recv()
	if _, ok := recv.Type().(*types.Pointer); ok {
		label = "(*" + m.Typ.Name + ")." + m.Name
	}
	if m.Fn != nil {
		c.Labels[m.Fn.Slot] = label
		e.Funcs = append(e.Funcs, d)
		return c.genericMethods(c.Info).Decl(d, m.fn, m.Fn.Slot)
	}
	if m.Hook == "" { // methods of generic types come before variables, which instantiate them
		c.Labels[d.Name.Name] = label
		e.types = append(e.types, d)
		return nil
	}
	body := fmt.Sprintf("%s_%s__%d", m.Typ.Slot, m.Name, c.Seq)
	c.Labels[body] = label
	f := methodBody(d, body)
	c.Info.Defs[f.Name] = m.fn
	e.Funcs = append(e.Funcs, f)
	e.Start = append(e.Start, setHook(m.Hook, body))
	if !c.newHooks[m.Method] {
		return nil
	}
	recvType, err := lower.TypeExpr(recv.Type(), c.unitNames)
	if err != nil {
		return err
	}
	hook, err := lower.FuncType(m.fn.Signature(), c.unitNames)
	if err != nil {
		return err
	}
	hook.Params.List = append([]*ast.Field{{Type: recvType}}, anonymous(hook.Params.List)...)
	e.Vars = append(e.Vars, varDecl(m.Hook, hook))
	method, err := c.forward(m.fn, m.Hook)
	e.Funcs = append(e.Funcs, method)
	return err
}

// forward declares a method that passes its receiver and its arguments to a function.
func (c *Lowering) forward(m *types.Func, to string) (*ast.FuncDecl, error) {
	recvType, err := lower.TypeExpr(m.Signature().Recv().Type(), c.unitNames)
	if err != nil {
		return nil, err
	}
	t, err := lower.FuncType(m.Signature(), c.unitNames)
	if err != nil {
		return nil, err
	}
	t.Params.List = anonymous(t.Params.List)
	if t.Results != nil {
		t.Results.List = anonymous(t.Results.List)
	}
	call := &ast.CallExpr{Fun: ast.NewIdent(to)}
	call.Args = append(call.Args, ast.NewIdent(engine.ForwardReceiver))
	for i, f := range t.Params.List {
		id := fmt.Sprintf("arg__%d", i)
		f.Names = []*ast.Ident{ast.NewIdent(id)}
		call.Args = append(call.Args, ast.NewIdent(id))
	}
	if m.Signature().Variadic() {
		call.Ellipsis = 1
	}
	body := []ast.Stmt{&ast.ExprStmt{X: call}}
	if t.Results != nil {
		body = []ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{call}}}
	}
	f := &ast.FuncDecl{
		Recv: &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ast.NewIdent(engine.ForwardReceiver)}, Type: recvType}}},
		Name: ast.NewIdent(m.Name()), Type: t,
		Body: &ast.BlockStmt{List: body},
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
func (c *Lowering) hook(typ, name string) string {
	if m := c.Env.Of(c.Slotted(typ)).Method(name); m != nil {
		return m.Hook
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
