package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// GenericMethods turns methods with type parameters into functions whose first parameter is
// the receiver. Such a method belongs to no interface and no table of methods, so nothing
// but its calls can tell the difference. A later cell can then declare or replace it without
// a new version of its type, on every engine, and instances of it are instances of a function.
//
//	func (l List[E]) Map[F any](f func(E) F) List[F]
//	func List_Map[E, F any](l List[E], f func(E) F) List[F]
type GenericMethods struct {
	Info *types.Info
	// Function returns the name of the function that a generic method has become, or "" if
	// the method stays one.
	Function func(*types.Func) string
	// Name writes types.
	Name Namer

	failed error
}

// IsGenericMethod reports whether a function is a method with type parameters.
func IsGenericMethod(fn *types.Func) bool {
	return fn.Signature().Recv() != nil && fn.Signature().TypeParams().Len() > 0
}

// Decl turns the declaration of a method into that of its function. It changes the tree.
func (g *GenericMethods) Decl(d *ast.FuncDecl, fn *types.Func, name string) error {
	NameParams(d.Recv)
	NameParams(d.Type.Params)
	own, err := g.receiverParams(d, fn)
	if err != nil {
		return err
	}
	d.Type.TypeParams.List = append(own, d.Type.TypeParams.List...)
	d.Type.Params.List = append([]*ast.Field{d.Recv.List[0]}, d.Type.Params.List...)
	d.Recv, d.Name.Name = nil, name
	return nil
}

// receiverParams returns the type parameters of a method's receiver with their constraints.
// Blank ones get a name, and so do those with the name of a type in a constraint, which they
// would hide.
func (g *GenericMethods) receiverParams(d *ast.FuncDecl, fn *types.Func) ([]*ast.Field, error) {
	list := fn.Signature().RecvTypeParams()
	if list.Len() == 0 {
		return nil, nil
	}
	mentioned := map[string]bool{}
	w := typeWriter{params: map[*types.TypeParam]string{}, name: func(o *types.TypeName) (ast.Expr, error) {
		e, err := g.Name(o)
		if id, ok := e.(*ast.Ident); ok {
			mentioned[id.Name] = true
		}
		return e, err
	}}
	var fields []*ast.Field
	for p := range list.TypeParams() {
		w.constraint(p.Constraint()) // for its names
	}
	names := receiverNames(d)
	for i := range list.Len() {
		p := list.At(i)
		if name := p.Obj().Name(); name == "_" || mentioned[name] {
			w.params[p] = fmt.Sprintf("R__%d", i)
			names[i].Name = w.params[p]
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if o, ok := g.Info.Uses[id].(*types.TypeName); ok {
				if p, ok := o.Type().(*types.TypeParam); ok && w.params[p] != "" {
					id.Name = w.params[p]
				}
			}
		}
		return true
	})
	for i := range list.Len() {
		fields = append(fields, &ast.Field{Names: []*ast.Ident{ident(names[i].Name)}, Type: w.constraint(list.At(i).Constraint())})
	}
	return fields, w.err
}

// receiverNames returns the type parameters that a method's receiver names.
func receiverNames(d *ast.FuncDecl) (list []*ast.Ident) {
	switch x := receiverIndex(d).(type) {
	case *ast.IndexExpr:
		return []*ast.Ident{x.Index.(*ast.Ident)}
	case *ast.IndexListExpr:
		for _, e := range x.Indices {
			list = append(list, e.(*ast.Ident))
		}
	}
	return list
}

// Uses replaces calls, values and expressions of generic methods in a tree by those of their
// functions. It returns the tree, which it changes.
func (g *GenericMethods) Uses(n ast.Node) (ast.Node, error) {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		found = found || ok && g.method(sel) != nil
		return !found
	})
	if !found {
		return n, nil
	}
	part := map[*ast.SelectorExpr]bool{} // of an instance or a call
	n = astutil.Apply(n, func(c *astutil.Cursor) bool {
		switch x := c.Node().(type) {
		case *ast.CallExpr:
			if u := g.use(x.Fun); u != nil && u.s.Kind() == types.MethodVal {
				part[u.sel] = true
			}
		}
		return true
	}, func(c *astutil.Cursor) bool {
		switch x := c.Node().(type) {
		case *ast.CallExpr:
			if u := g.use(x.Fun); u != nil && part[u.sel] {
				g.call(x, u)
			}
		case *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr:
			u := g.use(x.(ast.Expr))
			if u == nil || part[u.sel] {
				break
			}
			if p, ok := c.Parent().(ast.Expr); ok {
				if outer := g.use(p); outer != nil && outer.sel == u.sel {
					break // the parent is the whole use
				}
			}
			c.Replace(g.value(x.(ast.Expr), u))
		}
		return true
	})
	return n, g.failed
}

// methodUse is a use of a generic method.
type methodUse struct {
	sel      *ast.SelectorExpr
	s        *types.Selection
	fn       *types.Func
	explicit []ast.Expr // type arguments as written
}

// method returns the generic method that a selector denotes, if it has become a function.
func (g *GenericMethods) method(sel *ast.SelectorExpr) *types.Func {
	s := g.Info.Selections[sel]
	if s == nil || s.Kind() == types.FieldVal {
		return nil
	}
	fn := s.Obj().(*types.Func)
	if !IsGenericMethod(fn) || g.Function(fn.Origin()) == "" {
		return nil
	}
	return fn
}

// use returns the use that an expression is: the method with or without type arguments.
func (g *GenericMethods) use(e ast.Expr) *methodUse {
	u := &methodUse{}
	e = ast.Unparen(e)
	switch x := e.(type) {
	case *ast.IndexExpr:
		e, u.explicit = ast.Unparen(x.X), []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		e, u.explicit = ast.Unparen(x.X), x.Indices
	}
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if u.fn = g.method(sel); u.fn == nil {
		return nil
	}
	u.sel, u.s = sel, g.Info.Selections[sel]
	return u
}

// call turns a call of a method into one of its function.
func (g *GenericMethods) call(x *ast.CallExpr, u *methodUse) {
	if len(x.Args) == 1 {
		if _, several := g.Info.Types[x.Args[0]].Type.(*types.Tuple); several { // f(x, g()) is not Go
			x.Fun = g.value(x.Fun, u)
			return
		}
	}
	recv, t := g.path(u.sel.X, u.s.Recv(), u.s.Index())
	recv, base := g.receiver(u.fn, recv, t)
	var args []ast.Expr
	if len(u.explicit) > 0 {
		args = append(g.arguments(u.sel, base), u.explicit...)
	}
	x.Fun = g.function(u, args)
	x.Args = append([]ast.Expr{recv}, x.Args...)
}

// value returns the function that a method value or a method expression denotes.
func (g *GenericMethods) value(e ast.Expr, u *methodUse) ast.Expr {
	inst := g.Info.Instances[u.sel.Sel]
	sig := inst.Type.(*types.Signature)
	at := e.Pos()
	t, err := FuncType(sig, g.Name)
	g.fail(e, err)
	call := &ast.CallExpr{Lparen: at, Rparen: e.End()}
	if sig.Variadic() {
		call.Ellipsis = at
	}
	var fields []*ast.Field
	param := func(name string, p types.Type, x ast.Expr) ast.Expr {
		fields = append(fields, &ast.Field{Names: []*ast.Ident{{NamePos: at, Name: name}}, Type: x})
		return g.typed(&ast.Ident{NamePos: at, Name: name}, p)
	}
	result := func() *ast.FieldList {
		list := &ast.FieldList{}
		if t.Results == nil {
			return nil
		}
		for _, f := range t.Results.List {
			list.List = append(list.List, &ast.Field{Type: f.Type})
		}
		return list
	}
	// inner is the literal that passes its arguments on.
	inner := func(recv ast.Expr, base *types.Named) *ast.FuncLit {
		call.Args = []ast.Expr{recv}
		args := g.arguments(u.sel, base)
		for a := range inst.TypeArgs.Types() {
			args = append(args, g.write(u.sel, a))
		}
		for i, f := range t.Params.List {
			call.Args = append(call.Args, param(fmt.Sprintf("a__%d", i), sig.Params().At(i).Type(), f.Type))
		}
		call.Fun = g.function(u, args)
		lit := &ast.FuncLit{Type: &ast.FuncType{Func: at, Params: &ast.FieldList{List: fields}, Results: result()}}
		lit.Body = &ast.BlockStmt{Lbrace: at, Rbrace: e.End()}
		var out types.Type = sig.Results()
		if sig.Results().Len() == 1 {
			out = sig.Results().At(0).Type()
		}
		g.typed(call, out)
		if t.Results == nil {
			lit.Body.List = []ast.Stmt{expr(call)}
		} else {
			lit.Body.List = []ast.Stmt{&ast.ReturnStmt{Return: at, Results: []ast.Expr{call}}}
		}
		return lit
	}
	if u.s.Kind() == types.MethodExpr {
		first := u.s.Recv()
		x := param("r__", first, g.write(u.sel, first))
		x, last := g.path(x, first, u.s.Index())
		recv, base := g.receiver(u.fn, x, last)
		lit := inner(recv, base)
		g.typed(lit, withReceiver(first, sig))
		return lit
	}
	x, last := g.path(u.sel.X, u.s.Recv(), u.s.Index())
	recv, base := g.receiver(u.fn, x, last)
	bound := g.Info.Types[recv].Type
	lit := inner(g.typed(&ast.Ident{NamePos: at, Name: "r__"}, bound), base)
	g.typed(lit, sig)
	made := types.NewSignatureType(nil, nil, nil, types.NewTuple(types.NewParam(token.NoPos, nil, "", bound)),
		types.NewTuple(types.NewParam(token.NoPos, nil, "", sig)), false)
	outer := &ast.FuncLit{
		Type: &ast.FuncType{
			Func:    at,
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{{NamePos: at, Name: "r__"}}, Type: g.write(u.sel, bound)}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: signatureOf(&ast.FuncLit{Type: t})}}},
		},
		Body: &ast.BlockStmt{Lbrace: at, List: []ast.Stmt{&ast.ReturnStmt{Return: at, Results: []ast.Expr{lit}}}, Rbrace: e.End()},
	}
	return g.typed(&ast.CallExpr{Fun: g.typed(outer, made), Lparen: at, Args: []ast.Expr{recv}, Rparen: e.End()}, sig)
}

// function names the function of a method, with type arguments.
func (g *GenericMethods) function(u *methodUse, args []ast.Expr) ast.Expr {
	id := &ast.Ident{NamePos: u.sel.Sel.Pos(), Name: g.Function(u.fn.Origin())}
	g.Info.Uses[id] = u.fn.Origin()
	g.typed(id, u.fn.Type())
	if len(args) == 0 {
		return id
	}
	e := Index(id, args)
	if inst, ok := g.Info.Instances[u.sel.Sel]; ok {
		g.typed(e, inst.Type)
	}
	return e
}

// path writes out the embedded fields that lead from x, of type t, to the one that has the
// method.
func (g *GenericMethods) path(x ast.Expr, t types.Type, index []int) (ast.Expr, types.Type) {
	if _, ok := g.Info.Types[x]; !ok {
		g.typed(x, t)
	}
	for _, i := range index[:len(index)-1] {
		st := t.Underlying()
		if p, ok := st.(*types.Pointer); ok {
			st = p.Elem().Underlying()
		}
		f := st.(*types.Struct).Field(i)
		name := f.Name()
		if o, ok := TypeName(f.Type()).(*types.TypeName); ok && f.Embedded() {
			if id, err := g.Name(o); err == nil {
				if id, ok := id.(*ast.Ident); ok {
					name = id.Name
				}
			}
		}
		t = f.Type()
		x = g.typed(&ast.SelectorExpr{X: x, Sel: &ast.Ident{NamePos: x.End(), Name: name}}, t)
	}
	return x, t
}

// receiver passes x, of type t, as the method's receiver: it takes the address or follows the
// pointer. It returns the receiver's type without a pointer, too.
func (g *GenericMethods) receiver(fn *types.Func, x ast.Expr, t types.Type) (ast.Expr, *types.Named) {
	_, wants := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
	base := t
	p, has := types.Unalias(t).(*types.Pointer)
	if has {
		base = p.Elem()
	}
	switch {
	case wants && !has:
		x = g.typed(&ast.UnaryExpr{OpPos: x.Pos(), Op: token.AND, X: x}, types.NewPointer(t))
	case has && !wants:
		x = g.typed(&ast.ParenExpr{Lparen: x.Pos(), X: g.typed(&ast.StarExpr{Star: x.Pos(), X: x}, base), Rparen: x.End()}, base)
	}
	return x, types.Unalias(base).(*types.Named)
}

// arguments writes the type arguments of a receiver's type.
func (g *GenericMethods) arguments(at ast.Node, n *types.Named) (list []ast.Expr) {
	for t := range n.TypeArgs().Types() {
		list = append(list, g.write(at, t))
	}
	return list
}

func (g *GenericMethods) write(at ast.Node, t types.Type) ast.Expr {
	e, err := TypeExpr(t, g.Name)
	g.fail(at, err)
	place(e, at.Pos())
	g.Info.Types[e] = types.TypeAndValue{Type: t}
	return e
}

func (g *GenericMethods) fail(at ast.Node, err error) {
	if err != nil && g.failed == nil {
		g.failed = &Unsupported{at.Pos(), err.Error()}
	}
}

// typed records that e is a value of type t, and returns e.
func (g *GenericMethods) typed(e ast.Expr, t types.Type) ast.Expr {
	g.Info.Types[e] = types.TypeAndValue{Type: t}
	return e
}
