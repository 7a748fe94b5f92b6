package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"

	"halfnote/interp/internal/dynamic"
)

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
	var check []ast.Stmt
	if types.IsInterface(t) { // a nil interface has no methods
		check = []ast.Stmt{assign(ident("_"), Support("Method", ident("r__"), text(fn.Name())))}
	}
	params, args, ellipsis := u.parameters(n, sig)
	inner := u.invoke(n, u.typed(ident("r__"), recv), recv, fn, args, ellipsis)
	return u.bound(n, x, recv, sig, check, u.forwards(u.literal(n, params, sig, inner), u.distance(inner.Fun)))
}

// bound returns the replacement of the method value n: a literal that is called with the
// receiver x, of type recv, and that checks it and returns the function inner, which has the
// signature sig.
func (u *Unit) bound(n *ast.SelectorExpr, x ast.Expr, recv types.Type, sig *types.Signature, check []ast.Stmt, inner *ast.FuncLit) ast.Expr {
	t, _ := FuncType(sig, u.Name)
	outer := &ast.FuncLit{
		Type: &ast.FuncType{
			Func:    n.Pos(),
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("r__")}, Type: u.typeExpr(n, recv)}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: signatureOf(&ast.FuncLit{Type: t})}}},
		},
		Body: block(append(check, &ast.ReturnStmt{Results: []ast.Expr{inner}})...),
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
	var check []ast.Stmt
	if types.IsInterface(t) { // a nil interface has no methods
		isNil := &ast.BinaryExpr{X: ident("r__"), Op: token.EQL, Y: ident("nil")}
		check = []ast.Stmt{&ast.IfStmt{Cond: isNil, Body: block(assign(ident("_"), Support("Method", ident("nil"), text(fn.Name()))))}}
	}
	call := &ast.CallExpr{Fun: u.typed(method, sig), Lparen: n.Pos(), Args: args, Ellipsis: ellipsis, Rparen: n.End()}
	u.typed(call, result)
	lit := u.literal(n, params, sig, u.callOf(call))
	if types.IsInterface(t) {
		u.forwards(lit, 2)
	}
	return u.bound(n, x, recv, sig, check, lit)
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

// functionByName returns the replacement of a compiled function that is a value: a literal that calls it, so that the
// operands are treated as in any call.
func (u *Unit) functionByName(n *ast.SelectorExpr, fn *types.Func) ast.Expr {
	sig := fn.Signature()
	params, args, ellipsis := u.parameters(n, sig)
	f := *n
	inner := &ast.CallExpr{Fun: u.as(&f, n), Lparen: n.Pos(), Args: args, Ellipsis: ellipsis, Rparen: n.End()}
	var result types.Type = sig.Results()
	if sig.Results().Len() == 1 {
		result = sig.Results().At(0).Type()
	}
	u.typed(inner, result)
	return u.as(u.literal(n, params, sig, u.callOf(inner)), n)
}

// methodExpr writes a method expression, T.Method, as a function literal.
func (u *Unit) methodExpr(n *ast.SelectorExpr, s *types.Selection) ast.Expr {
	sig := s.Type().(*types.Signature)
	params, args, ellipsis := u.parameters(n, sig)
	fn := s.Obj().(*types.Func)
	x, t := u.path(args[0], sig.Params().At(0).Type(), s.Index())
	if u.ownMethod(s, fn) {
		inner := u.invoke(n, x, t, fn, args[1:], ellipsis)
		return u.as(u.forwards(u.literal(n, params, sig, inner), u.distance(inner.Fun)), n)
	}
	x, _ = u.path(args[0], sig.Params().At(0).Type(), s.Index()[:u.ownSteps(s)+1])
	method := &ast.SelectorExpr{X: x, Sel: n.Sel}
	inner := &ast.CallExpr{Fun: method, Args: args[1:], Ellipsis: ellipsis}
	var result ast.Expr = inner
	if t, _ := treatmentOf(fn); t != dynamic.Exported {
		u.typed(method, fn.Type())
		u.Info.Selections[method] = s
		result = u.callOf(u.typed(inner, sig.Results()).(*ast.CallExpr))
	}
	lit := u.literal(n, params, sig, result)
	if types.IsInterface(t) {
		u.forwards(lit, 2)
	}
	return u.as(lit, n)
}

// interfaceExprs writes method expressions of compiled interfaces as calls of methods, and those that are values as those of an interface of the
// unit with the same methods: the program lacks the functions that the compiler makes of others. A function literal in their place would
// hide the method's recover from a deferred call.
//
//	io.Closer.Close    *(*func(io.Closer) error)(unsafe.Pointer(&[]func(interface{ io.Closer }) error{interface{ io.Closer }.Close}[0]))
func (u *Unit) interfaceExprs() {
	ofInterface := func(e ast.Expr) *types.Selection {
		n, ok := ast.Unparen(e).(*ast.SelectorExpr)
		if s := u.Info.Selections[n]; ok && s != nil && s.Kind() == types.MethodExpr && u.compiledIface(s.Recv()) {
			return s
		}
		return nil
	}
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			if ofInterface(n.Fun) != nil && len(n.Args) > 0 && !isTupleType(u.typeOf(n.Args[0])) {
				f := ast.Unparen(n.Fun).(*ast.SelectorExpr)
				recv := &ast.CallExpr{Fun: &ast.ParenExpr{X: f.X}, Lparen: f.Pos(), Args: n.Args[:1], Rparen: n.Args[0].End()}
				n.Fun, n.Args = &ast.SelectorExpr{X: recv, Sel: f.Sel}, n.Args[1:]
			}
		case *ast.SelectorExpr:
			s := ofInterface(n)
			if x, ok := c.Parent().(*ast.CallExpr); s == nil || ok && x.Fun == n && len(x.Args) > 0 && !isTupleType(u.typeOf(x.Args[0])) {
				return
			}
			same := func() ast.Expr {
				return &ast.InterfaceType{Interface: n.Pos(), Methods: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(n, s.Recv())}}}}
			}
			of, own := u.typeExpr(n, s.Type()), u.typeExpr(n, s.Type()).(*ast.FuncType)
			own.Params.List[0].Type = same()
			list := &ast.CompositeLit{Type: &ast.ArrayType{Elt: own}, Elts: []ast.Expr{&ast.SelectorExpr{X: &ast.ParenExpr{X: same()}, Sel: n.Sel}}}
			first := &ast.UnaryExpr{Op: token.AND, X: &ast.IndexExpr{X: list, Index: Int(0)}}
			pointer := call(&ast.SelectorExpr{X: ident(u.Import("unsafe")), Sel: ident("Pointer")}, first)
			c.Replace(u.as(&ast.StarExpr{Star: n.Pos(), X: call(&ast.ParenExpr{X: &ast.StarExpr{X: of}}, pointer)}, n))
		}
	})
}
