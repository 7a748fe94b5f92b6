package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/types/typeutil"
)

// goStatements starts goroutines through a support function, which knows their cell and
// handles their panics. The operands that the go statement evaluates at once are
// evaluated before the call.
func (u *Unit) goStatements() {
	u.eachOf(isA[*ast.GoStmt], func(c *astutil.Cursor) {
		g, ok := c.Node().(*ast.GoStmt)
		if !ok {
			return
		}
		u.imports = true
		before, later := u.later(g.Call)
		lit := &ast.FuncLit{Type: &ast.FuncType{Func: g.Go, Params: &ast.FieldList{}}, Body: block(expr(later))}
		c.Replace(block(append(before, expr(Support("Go", lit, u.placed(g.Go))))...))
	})
}

// later splits a call into statements that evaluate its function and arguments now, and
// a call of the results. Operands that contain calls come first, as in compiled Go.
func (u *Unit) later(x *ast.CallExpr) (before []ast.Stmt, later *ast.CallExpr) {
	later = &ast.CallExpr{Fun: x.Fun, Lparen: x.Lparen, Ellipsis: x.Ellipsis}
	var after []ast.Stmt
	now := func(e ast.Expr, hint string) ast.Expr {
		v, list := u.temp(hint), &after
		if u.containsCall(e, false) {
			list = &before
		}
		if u.setsInPlace(e) { // a loop would set the variable of its previous iteration
			*list = append(*list, u.keep(&e))
		}
		*list = append(*list, define(v, e))
		return u.as(ident(v.Name), e)
	}
	switch f := ast.Unparen(x.Fun).(type) {
	case *ast.FuncLit:
	case *ast.Ident:
		if _, variable := u.Info.Uses[f].(*types.Var); variable {
			later.Fun = now(f, "f")
		}
	case *ast.SelectorExpr:
		s := u.Info.Selections[f]
		switch {
		case s == nil: // a function of a package
		case s.Kind() == types.FieldVal:
			later.Fun = now(f, "f")
		case s.Kind() == types.MethodVal:
			recv, t := u.receiver(f, s)
			_, pointer := t.Underlying().(*types.Pointer)
			if wants := s.Obj().(*types.Func).Signature().Recv().Type(); !pointer && !types.IsInterface(t) {
				if _, ok := wants.Underlying().(*types.Pointer); ok {
					recv = &ast.UnaryExpr{Op: and, X: recv}
				}
			}
			recv = now(recv, "recv")
			later.Fun = &ast.SelectorExpr{X: recv, Sel: f.Sel}
			if types.IsInterface(t) {
				u.imports = true
				after = append(after, &ast.IfStmt{
					Cond: &ast.BinaryExpr{X: recv, Op: token.EQL, Y: ident("nil")}, Body: block(expr(Support("Nil"))),
				})
			}
		}
	case *ast.IndexExpr, *ast.IndexListExpr: // an instance of a generic function
		if _, ok := u.Info.Types[x.Fun]; ok && !u.isInstance(x.Fun) {
			later.Fun = now(x.Fun, "f")
		}
	default:
		later.Fun = now(x.Fun, "f")
	}
	sig, _ := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
	fn, _ := typeutil.Callee(u.Info, x).(*types.Func)
	for i, a := range x.Args {
		tv := u.Info.Types[a]
		switch {
		case tv.Value != nil, tv.IsType():
			later.Args = append(later.Args, a)
		case tv.IsNil() && sig != nil:
			v := u.temp("arg")
			before = append(before, declare(v, u.typeExpr(a, paramType(sig, i))))
			later.Args = append(later.Args, ident(v.Name))
		case isTupleType(tv.Type):
			later.Args = append(later.Args, u.spread(a, tv.Type.(*types.Tuple), &before)...)
		case sig != nil && fn == nil && !(x.Ellipsis.IsValid() && i == len(x.Args)-1):
			later.Args = append(later.Args, u.bare(now(a, "arg"), paramType(sig, i)))
		default:
			later.Args = append(later.Args, now(a, "arg"))
		}
	}
	return append(before, after...), later
}

func (u *Unit) isInstance(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.IndexExpr:
		return u.isGeneric(x.X)
	case *ast.IndexListExpr:
		return u.isGeneric(x.X)
	}
	return false
}

func (u *Unit) isGeneric(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := u.Info.Instances[x]
		return ok
	case *ast.SelectorExpr:
		_, ok := u.Info.Instances[x.Sel]
		return ok
	}
	return false
}

func isTupleType(t types.Type) bool {
	_, ok := t.(*types.Tuple)
	return ok
}

// spread evaluates a call with several results.
func (u *Unit) spread(e ast.Expr, t *types.Tuple, before *[]ast.Stmt) []ast.Expr {
	a := &ast.AssignStmt{Tok: defineTok, TokPos: e.Pos(), Rhs: []ast.Expr{e}}
	var list []ast.Expr
	for i := range t.Len() {
		v := u.temp("arg")
		a.Lhs = append(a.Lhs, v)
		list = append(list, u.typed(ident(v.Name), t.At(i).Type()))
	}
	*before = append(*before, a)
	return list
}

// paramType returns the type of the i-th argument.
func paramType(sig *types.Signature, i int) types.Type {
	if n := sig.Params().Len(); sig.Variadic() && i >= n-1 {
		if s, ok := sig.Params().At(n - 1).Type().Underlying().(*types.Slice); ok {
			return s.Elem()
		}
	}
	return sig.Params().At(min(i, sig.Params().Len()-1)).Type()
}
