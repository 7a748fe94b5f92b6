package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
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

// selector writes out a promoted field or method of a compiled type, and turns a method
// of the session that is not called into a function.
func (u *Unit) selector(n *ast.SelectorExpr, called bool) ast.Expr {
	s := u.Info.Selections[n]
	if s == nil {
		if fn, ok := u.Info.Uses[n.Sel].(*types.Func); ok && !called && (u.inspects(fn) || u.boxed(fn.Signature())) {
			return u.functionByName(n, fn)
		}
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
	if id, ok := ast.Unparen(x).(*ast.Ident); ok && scalars(fn.Signature().Results()) {
		return &ast.CallExpr{Fun: found(x), Lparen: paren(at), Args: append([]ast.Expr{u.as(ident(id.Name), x)}, args...), Ellipsis: ellipsis, Rparen: at.End()}
	}
	// A function of the unit evaluates x once, and declares the types of the results: a result of
	// an asserted function has its reflect.Type, which is not a defined type and has other names for unexported fields.
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

// scalars reports whether all results are of interface types, or of basic types that are not defined ones.
func scalars(results *types.Tuple) bool {
	for v := range results.Variables() {
		if _, basic := types.Unalias(v.Type()).(*types.Basic); !basic && !types.IsInterface(v.Type()) {
			return false
		}
	}
	return true
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
