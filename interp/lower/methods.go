package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// function returns the name of the function that a method of the session has become: a
// variable that holds its latest version, or the function itself.
func (u *Unit) function(typ, method string) string {
	if u.Hook != nil {
		if hook := u.Hook(typ, method); hook != "" {
			return hook
		}
	}
	return typ + "__" + method
}

// plainMethods turns the unit's methods into functions, and declares them to package
// dynamic.
func (u *Unit) plainMethods() {
	var decls []ast.Decl
	var known []ast.Stmt
	for _, d := range u.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			decls = append(decls, d)
			continue
		}
		typ, method := lastName(fd.Recv.List[0].Type), fd.Name.Name
		name := u.function(typ, method)
		if method != "_" {
			known = append(known, u.declaration(fd, typ, name))
		}
		if name != typ+"__"+method {
			continue // the variable replaces the method
		}
		if u.Functions == nil {
			u.Functions = map[string]string{}
		}
		u.Functions[name] = method
		NameParams(fd.Recv)
		NameParams(fd.Type.Params)
		fd.Type.Params.List = append(append([]*ast.Field{}, fd.Recv.List...), fd.Type.Params.List...)
		fd.Recv, fd.Name = nil, ident(name)
		decls = append(decls, fd)
	}
	known = append(u.setup, known...)
	if len(known) > 0 {
		f := &ast.FuncDecl{
			Name: ident(fmt.Sprintf("declare__%d", u.Seq)),
			Type: &ast.FuncType{Func: u.Outer.Pos(), Params: &ast.FieldList{}}, Body: block(known...),
		}
		u.Generated[f] = true
		decls = append(decls, f)
		u.Outer.Body.List = append([]ast.Stmt{expr(call(ident(f.Name.Name)))}, u.Outer.Body.List...)
	}
	u.File.Decls = append(decls, u.helpers...)
}

// declaration declares a method to package dynamic.
func (u *Unit) declaration(fd *ast.FuncDecl, typ, function string) ast.Stmt {
	n, fn := u.methodNamed(typ, fd.Name.Name)
	if fn == nil {
		u.unsupported(fd, "method %s of an unknown type", fd.Name.Name)
	}
	u.describe(n)
	sig := fn.Signature()
	_, pointer := types.Unalias(sig.Recv().Type()).(*types.Pointer)
	adapter := func(t types.Type, deref bool) ast.Expr {
		params, args, ellipsis := u.parameters(fd, sig)
		recv := u.assert(fd, ident("r__"), t)
		if deref {
			recv = &ast.StarExpr{X: recv}
		}
		x := &ast.CallExpr{Fun: ident(function), Args: append([]ast.Expr{recv}, args...), Ellipsis: ellipsis}
		return u.literal(fd, append([]*ast.Field{{Names: []*ast.Ident{ident("r__")}, Type: emptyInterface()}}, params...), sig, x)
	}
	var value ast.Expr = ident("nil")
	if !pointer {
		value = adapter(n, false)
	}
	return expr(Support("Declare", text(u.id(n)), text(fn.Name()), text("func"+signatureText(sig, u.engineName)),
		value, adapter(types.NewPointer(n), !pointer)))
}

// methodNamed finds a method by the engine's name of its type.
func (u *Unit) methodNamed(typ, method string) (*types.Named, *types.Func) {
	if u.named == nil {
		u.named = map[string]*types.Named{}
		for _, name := range u.Pkg.Scope().Names() {
			if o, ok := u.Pkg.Scope().Lookup(name).(*types.TypeName); ok {
				if n, ok := o.Type().(*types.Named); ok && !o.IsAlias() {
					u.named[u.nameOf(o)] = n
				}
			}
		}
	}
	n := u.named[typ]
	if n == nil {
		return nil, nil
	}
	for m := range n.Methods() {
		if m.Name() == method {
			return n, m
		}
	}
	return n, nil
}

// parameters returns the parameters of a literal, and the arguments that pass them on.
func (u *Unit) parameters(at ast.Node, sig *types.Signature) (params []*ast.Field, args []ast.Expr, ellipsis token.Pos) {
	t, err := FuncType(sig, u.Name)
	if err != nil {
		u.unsupported(at, "%v", err)
	}
	for i, f := range t.Params.List {
		f.Names = []*ast.Ident{ident(fmt.Sprintf("a__%d", i))}
		args = append(args, u.typed(ident(f.Names[0].Name), sig.Params().At(i).Type()))
	}
	if sig.Variadic() {
		ellipsis = 1
	}
	return t.Params.List, args, ellipsis
}

// literal returns a function literal that makes one call.
func (u *Unit) literal(at ast.Node, params []*ast.Field, sig *types.Signature, x ast.Expr) *ast.FuncLit {
	t, err := FuncType(sig, u.Name)
	if err != nil {
		u.unsupported(at, "%v", err)
	}
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: at.Pos(), Params: &ast.FieldList{List: params}}, Body: block(expr(x))}
	if t.Results != nil {
		for _, f := range t.Results.List {
			lit.Type.Results = addField(lit.Type.Results, &ast.Field{Type: f.Type})
		}
		lit.Body = block(&ast.ReturnStmt{Results: []ast.Expr{x}})
	}
	return lit
}

func addField(l *ast.FieldList, f *ast.Field) *ast.FieldList {
	if l == nil {
		l = &ast.FieldList{}
	}
	l.List = append(l.List, f)
	return l
}

// withReceiver returns the type of a method as a function, whose first parameter is the
// receiver.
func withReceiver(recv types.Type, sig *types.Signature) *types.Signature {
	params := []*types.Var{types.NewParam(token.NoPos, nil, "", recv)}
	for v := range sig.Params().Variables() {
		params = append(params, v)
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
}

var (
	anyName = types.Universe.Lookup("any")
	anyType = anyName.Type()
)

// path writes out the embedded fields that lead from x, of type t, to the one that has
// a promoted field or method.
func (u *Unit) path(x ast.Expr, t types.Type, index []int) (ast.Expr, types.Type) {
	for _, i := range index[:len(index)-1] {
		st := t.Underlying()
		if p, ok := st.(*types.Pointer); ok {
			st = p.Elem().Underlying()
		}
		f := st.(*types.Struct).Field(i)
		x = u.typed(&ast.SelectorExpr{X: x, Sel: ident(u.fieldName(f))}, f.Type())
		t = f.Type()
	}
	return x, t
}

// selector writes out a promoted field or method of a compiled type, and turns a method
// of the session that is not called into a function.
func (u *Unit) selector(n *ast.SelectorExpr, called bool) ast.Expr {
	s := u.Info.Selections[n]
	if s == nil {
		return n
	}
	fn, _ := s.Obj().(*types.Func)
	switch {
	case s.Kind() == types.MethodExpr:
		return u.methodExpr(n, s)
	case s.Kind() == types.MethodVal && u.ownMethod(s, fn):
		if called {
			return n
		}
		return u.methodValue(n, s, fn)
	case s.Kind() == types.MethodVal && !called && u.nameable(n, s, fn):
		return u.compiledMethodValue(n, s, fn)
	case len(s.Index()) > 1 && u.expanded[n] == 0:
		steps := u.ownSteps(s)
		n.X, _ = u.path(n.X, s.Recv(), s.Index()[:steps+1])
		u.expanded[n] = steps
	}
	return n
}

// ownSteps is the number of fields on the path to a promoted field or method that
// belong to the session's structs. The back end finds the others.
func (u *Unit) ownSteps(s *types.Selection) int {
	t := s.Recv()
	for n, i := range s.Index()[:len(s.Index())-1] {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != u.Pkg {
			return n
		}
		t = t.Underlying().(*types.Struct).Field(i).Type()
	}
	return len(s.Index()) - 1
}

// ownMethod reports whether a method is the session's, or is called through one of its
// interfaces.
func (u *Unit) ownMethod(s *types.Selection, fn *types.Func) bool {
	t := u.pathType(s)
	if types.IsInterface(t) {
		return !u.compiledIface(t)
	}
	return fn.Pkg() == u.Pkg
}

func (u *Unit) pathType(s *types.Selection) types.Type { return typeAfter(s, len(s.Index())-1) }

// typeAfter returns the type of the embedded field after that many steps.
func typeAfter(s *types.Selection, steps int) types.Type {
	t := s.Recv()
	for _, i := range s.Index()[:steps] {
		st := t.Underlying()
		if p, ok := st.(*types.Pointer); ok {
			st = p.Elem().Underlying()
		}
		t = st.(*types.Struct).Field(i).Type()
	}
	return t
}

// invoke calls a method of the session with arguments that have the parameters' types.
func (u *Unit) invoke(at ast.Node, x ast.Expr, t types.Type, fn *types.Func, args []ast.Expr, ellipsis token.Pos) *ast.CallExpr {
	sig := fn.Signature()
	if types.IsInterface(t) {
		return u.dispatch(at, x, fn, args, ellipsis)
	}
	recv := sig.Recv().Type()
	_, wants := types.Unalias(recv).(*types.Pointer)
	base, has := t, false
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		base, has = p.Elem(), true
	}
	switch {
	case wants && !has:
		x = u.typed(&ast.UnaryExpr{OpPos: x.Pos(), Op: token.AND, X: x}, types.NewPointer(t))
	case !wants && has:
		x = u.typed(&ast.ParenExpr{X: u.typed(&ast.StarExpr{Star: x.Pos(), X: x}, base)}, base)
	}
	n := types.Unalias(base).(*types.Named)
	f := &ast.Ident{NamePos: named(at), Name: u.function(u.nameOf(n.Obj()), fn.Name())}
	u.Info.Uses[f] = fn
	return &ast.CallExpr{Fun: u.typed(f, withReceiver(recv, sig)), Lparen: paren(at), Args: append([]ast.Expr{x}, args...), Ellipsis: ellipsis, Rparen: at.End()}
}

// dispatch calls a method through an interface of the session.
func (u *Unit) dispatch(at ast.Node, x ast.Expr, fn *types.Func, args []ast.Expr, ellipsis token.Pos) *ast.CallExpr {
	full := withReceiver(anyType, fn.Signature())
	t, err := FuncType(full, u.Name)
	if err != nil {
		u.unsupported(at, "%v", err)
	}
	t = signatureOf(&ast.FuncLit{Type: t})
	found := func(x ast.Expr) ast.Expr {
		method := Support("Method", x, text(fn.Name()))
		u.Info.Uses[method.Fun.(*ast.SelectorExpr).Sel] = fn // tells later rewrites which function the call may reach
		return u.typed(&ast.TypeAssertExpr{X: method, Lparen: named(at), Type: t}, full)
	}
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		return &ast.CallExpr{Fun: found(x), Lparen: paren(at), Args: append([]ast.Expr{u.as(ident(id.Name), x)}, args...), Ellipsis: ellipsis, Rparen: at.End()}
	}
	// A function of the unit evaluates x once.
	key := fn.Name() + u.id(full)
	name := u.dispatchers[key]
	if name == "" {
		name = fmt.Sprintf("call__%d_%d", u.Seq, len(u.dispatchers))
		u.dispatchers[key] = name
		params, rest, dots := u.parameters(at, fn.Signature())
		r := &ast.Field{Names: []*ast.Ident{ident("r__")}, Type: emptyInterface()}
		inner := &ast.CallExpr{Fun: found(ident("r__")), Args: append([]ast.Expr{ident("r__")}, rest...), Ellipsis: dots}
		lit := u.literal(at, append([]*ast.Field{r}, params...), fn.Signature(), inner)
		u.helper(name, lit)
	}
	return &ast.CallExpr{Fun: u.typed(&ast.Ident{NamePos: named(at), Name: name}, full), Lparen: paren(at), Args: append([]ast.Expr{x}, args...), Ellipsis: ellipsis, Rparen: at.End()}
}

// helper adds a function that is not the user's code to the unit.
func (u *Unit) helper(name string, lit *ast.FuncLit) {
	f := &ast.FuncDecl{Name: ident(name), Type: lit.Type, Body: lit.Body}
	u.Generated[f] = true
	u.helpers = append(u.helpers, f)
}

// methodValue returns the replacement of a method value, x.Method, which is bound to x.
func (u *Unit) methodValue(n *ast.SelectorExpr, s *types.Selection, fn *types.Func) ast.Expr {
	x, t := u.path(n.X, s.Recv(), s.Index())
	sig := fn.Signature()
	recv := t
	if !types.IsInterface(t) {
		recv = sig.Recv().Type()
		_, wants := types.Unalias(recv).(*types.Pointer)
		_, has := types.Unalias(t).(*types.Pointer)
		switch {
		case wants && !has:
			x = &ast.UnaryExpr{Op: token.AND, X: x}
		case !wants && has:
			x = &ast.StarExpr{X: x}
		}
	}
	params, args, ellipsis := u.parameters(n, sig)
	r := u.typed(ident("r__"), recv)
	inner := u.literal(n, params, sig, u.invoke(n, r, recv, fn, args, ellipsis))
	ft, _ := FuncType(sig, u.Name)
	outer := &ast.FuncLit{
		Type: &ast.FuncType{
			Func:    n.Pos(),
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("r__")}, Type: u.typeExpr(n, recv)}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: signatureOf(&ast.FuncLit{Type: ft})}}},
		},
		Body: block(&ast.ReturnStmt{Results: []ast.Expr{inner}}),
	}
	if types.IsInterface(t) { // a nil interface has no methods
		outer.Body.List = append([]ast.Stmt{assign(ident("_"), Support("Method", ident("r__"), text(fn.Name())))}, outer.Body.List...)
	}
	return u.as(&ast.CallExpr{Fun: outer, Lparen: n.Pos(), Args: []ast.Expr{x}}, n)
}

// nameable reports whether a function literal can take the receiver of a compiled type's
// method and has the method's parameters.
func (u *Unit) nameable(n *ast.SelectorExpr, s *types.Selection, fn *types.Func) bool {
	if u.expanded[n] != 0 {
		return false
	}
	_, err := FuncType(withReceiver(typeAfter(s, u.ownSteps(s)), s.Type().(*types.Signature)), u.Name)
	return err == nil
}

// compiledMethodValue returns the replacement of a method value of a compiled type: a
// function literal that calls the method of the receiver, which is evaluated once. The back
// end has method values of compiled types only where a call expects them.
func (u *Unit) compiledMethodValue(n *ast.SelectorExpr, s *types.Selection, fn *types.Func) ast.Expr {
	steps := u.ownSteps(s)
	x, t := u.path(n.X, s.Recv(), s.Index()[:steps+1])
	sig := s.Type().(*types.Signature)
	_, wants := types.Unalias(fn.Signature().Recv().Type()).(*types.Pointer)
	p, has := t.Underlying().(*types.Pointer)
	recv, r := t, ast.Expr(ident("r__"))
	switch {
	case types.IsInterface(t) || wants && has:
	case wants && addressed(s, steps):
		recv = types.NewPointer(t)
		x, r = &ast.UnaryExpr{Op: token.AND, X: x}, &ast.ParenExpr{X: &ast.StarExpr{X: r}}
	case has && !wants: // the value is copied
		recv = p.Elem()
		x = &ast.StarExpr{X: x}
	}
	params, args, ellipsis := u.parameters(n, sig)
	method := &ast.SelectorExpr{X: r, Sel: &ast.Ident{NamePos: n.Sel.Pos(), Name: n.Sel.Name}}
	u.Info.Selections[method], u.expanded[method] = s, steps
	u.Info.Uses[method.Sel] = fn
	var result types.Type = sig.Results()
	if sig.Results().Len() == 1 {
		result = sig.Results().At(0).Type()
	}
	inner := u.literal(n, params, sig, u.typed(&ast.CallExpr{
		Fun: u.typed(method, sig), Lparen: n.Pos(), Args: args, Ellipsis: ellipsis, Rparen: n.End(),
	}, result))
	ft, _ := FuncType(sig, u.Name)
	outer := &ast.FuncLit{
		Type: &ast.FuncType{
			Func:    n.Pos(),
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("r__")}, Type: u.typeExpr(n, recv)}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: signatureOf(&ast.FuncLit{Type: ft})}}},
		},
		Body: block(&ast.ReturnStmt{Results: []ast.Expr{inner}}),
	}
	if types.IsInterface(t) { // a nil interface has no methods
		isNil := &ast.BinaryExpr{X: ident("r__"), Op: token.EQL, Y: ident("nil")}
		outer.Body.List = append([]ast.Stmt{&ast.IfStmt{Cond: isNil, Body: block(assign(ident("_"), Support("Method", ident("nil"), text(fn.Name()))))}}, outer.Body.List...)
	}
	return u.as(&ast.CallExpr{Fun: outer, Lparen: n.Pos(), Args: []ast.Expr{x}}, n)
}

// addressed reports whether the path from the embedded field after that many steps to a
// promoted method has no pointers, so that a method with a pointer receiver takes an address.
func addressed(s *types.Selection, steps int) bool {
	for i := steps; i < len(s.Index()); i++ {
		if _, ok := typeAfter(s, i).Underlying().(*types.Pointer); ok {
			return false
		}
	}
	return true
}

// methodExpr writes a method expression, T.Method, as a function literal.
func (u *Unit) methodExpr(n *ast.SelectorExpr, s *types.Selection) ast.Expr {
	sig := s.Type().(*types.Signature)
	params, args, ellipsis := u.parameters(n, sig)
	fn := s.Obj().(*types.Func)
	x, t := u.path(args[0], sig.Params().At(0).Type(), s.Index())
	var inner ast.Expr
	if u.ownMethod(s, fn) {
		inner = u.invoke(n, x, t, fn, args[1:], ellipsis)
	} else {
		x, _ = u.path(args[0], sig.Params().At(0).Type(), s.Index()[:u.ownSteps(s)+1])
		inner = &ast.CallExpr{Fun: &ast.SelectorExpr{X: x, Sel: n.Sel}, Args: args[1:], Ellipsis: ellipsis}
	}
	return u.as(u.literal(n, params, sig, inner), n)
}

// paren returns the position of a call.
func paren(at ast.Node) token.Pos {
	if x, ok := at.(*ast.CallExpr); ok && x.Lparen.IsValid() {
		return x.Lparen
	}
	return at.Pos()
}

// named returns the position of the method name in a call.
func named(at ast.Node) token.Pos {
	if x, ok := at.(*ast.CallExpr); ok {
		if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok {
			return sel.Sel.Pos()
		}
	}
	return at.Pos()
}
