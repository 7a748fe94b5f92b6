package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// variadics passes the list of a variadic call of a function of cells as a slice, and nil if it is
// empty: Yaegi takes a slice of the parameter's type for the list, and makes an empty slice where
// there are no arguments. Values of interpreted types go to compiled functions of variadic
// interfaces as a slice too, and literals of compiled slice types are converted from a literal
// of the slice: Yaegi wraps such values there but not in the list.
func (u *Unit) variadics() {
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			u.variadic(n)
		case *ast.CompositeLit:
			t, ok := types.Unalias(orInvalid(u.typeOf(n))).(*types.Named)
			if !ok || t.Obj().Pkg() == u.Pkg || n.Type == nil {
				return
			}
			u.spellOut(n)
			s, ok := t.Underlying().(*types.Slice)
			if !ok || !hasMethods(s.Elem()) {
				return
			}
			lit := &ast.CompositeLit{Type: u.typeExpr(n, s), Lbrace: n.Lbrace, Elts: n.Elts, Rbrace: n.Rbrace}
			c.Replace(u.as(call(n.Type, u.typed(lit, s)), n))
		}
	})
}

// spellOut writes the types of literals that are elements of the literal of a compiled type: Yaegi does not find those of pointers.
func (u *Unit) spellOut(n *ast.CompositeLit) {
	elided(n, func(e *ast.Expr, x *ast.CompositeLit) {
		t := u.typeOf(x)
		p, ok := orInvalid(t).Underlying().(*types.Pointer)
		if !ok {
			x.Type = u.typeExpr(x, t)
			return
		}
		x.Type = u.typeExpr(x, p.Elem())
		*e = u.typed(&ast.UnaryExpr{OpPos: x.Lbrace, Op: token.AND, X: u.typed(x, p.Elem())}, t)
	})
}

// elided calls f for the keys and elements of a literal that are literals without a type.
func elided(n *ast.CompositeLit, f func(e *ast.Expr, x *ast.CompositeLit)) {
	for i := range n.Elts {
		parts := []*ast.Expr{&n.Elts[i]}
		if kv, ok := n.Elts[i].(*ast.KeyValueExpr); ok {
			parts = []*ast.Expr{&kv.Key, &kv.Value}
		}
		for _, e := range parts {
			if x, ok := (*e).(*ast.CompositeLit); ok && x.Type == nil {
				f(e, x)
			}
		}
	}
}

// variadic passes the list of a variadic call as a slice.
func (u *Unit) variadic(x *ast.CallExpr) {
	sig, ok := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
	if !ok || !sig.Variadic() || u.Info.Types[x.Fun].IsType() {
		return
	}
	n := sig.Params().Len() - 1
	s, ok := sig.Params().At(n).Type().Underlying().(*types.Slice)
	if !ok || len(x.Args) == 1 && isTupleType(u.typeOf(x.Args[0])) {
		return
	}
	own := u.builtinName(x.Fun) == "" && !u.harmless(x)
	nested := types.AssignableTo(s.Elem(), types.NewSlice(s.Elem()))
	var t types.Type = types.NewSlice(s.Elem())
	if nested && u.isBuiltin(x.Fun, "append") {
		t = u.typeOf(x.Args[0])
	}
	switch {
	case x.Ellipsis.IsValid():
		if nested || own && u.isNil(x.Args[n]) {
			x.Args[n] = u.typed(call(u.typeExpr(x, t), x.Args[n]), t)
		}
		return
	case len(x.Args) == n && own:
		x.Args = append(x.Args, u.typed(call(u.typeExpr(x, t), ident("nil")), t))
	case len(x.Args) > n && (own || nested || hasMethods(s.Elem())):
		list := &ast.CompositeLit{Type: u.typeExpr(x, t), Lbrace: x.Args[n].Pos(), Elts: append([]ast.Expr{}, x.Args[n:]...)}
		x.Args = append(x.Args[:n:n], u.typed(list, t))
	default:
		return
	}
	x.Ellipsis = x.Lparen
	if !x.Ellipsis.IsValid() {
		x.Ellipsis = 1
	}
}

func hasMethods(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() > 0
}

// packageVars reads and writes variables of compiled packages through pointers.
func (u *Unit) packageVars() {
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				return
			}
			if _, ok := u.Info.Uses[id].(*types.PkgName); !ok {
				return
			}
			v, ok := u.Info.Uses[n.Sel].(*types.Var)
			if !ok {
				return
			}
			symbol, ok := u.Var(v.Pkg().Path(), v.Name())
			if !ok {
				return
			}
			u.imports = true
			c.Replace(u.as(&ast.ParenExpr{X: &ast.StarExpr{Star: n.Pos(), X: SupportName(symbol)}}, n))
		case *ast.UnaryExpr: // &pkg.V
			if n.Op != token.AND {
				return
			}
			if p, ok := n.X.(*ast.ParenExpr); ok {
				if star, ok := p.X.(*ast.StarExpr); ok {
					if sel, ok := star.X.(*ast.SelectorExpr); ok && u.Info.Selections[sel] == nil {
						c.Replace(u.as(star.X, n))
					}
				}
			}
		}
	})
}

// instances refuses generics of compiled packages that have no instance: those of cells have become instances before.
func (u *Unit) instances() {
	ast.Inspect(u.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			u.instance(n, n)
		case *ast.SelectorExpr:
			u.instance(n, n.Sel)
		}
		return true
	})
}

func (u *Unit) instance(e ast.Expr, id *ast.Ident) {
	if _, ok := u.Info.Instances[id]; !ok {
		return
	}
	switch o := u.Info.Uses[id].(type) {
	case *types.TypeName:
		if o.Pkg() != nil && o.Pkg() != u.Pkg {
			u.unsupported(e, "the generic type %s.%s of a compiled package", o.Pkg().Name(), o.Name())
		}
	case *types.Func:
		if o.Pkg() != u.Pkg {
			u.unsupported(e, "the generic function %s.%s of a compiled package", o.Pkg().Name(), o.Name())
		}
	}
}
