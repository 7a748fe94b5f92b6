package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// freshLiterals gives each execution of a definition its own variable where a literal of a slice, map or
// array sets one that a function literal or a pointer holds. Yaegi sets the variable of the previous
// execution, so that in a loop all holders see the last value.
//
//	x := []int{i}; f = func() { use(x) }    o := []int{i}; x := o; …
//	&[]int{i}                               func(v []int) *[]int { return &v }([]int{i})
//	[]*[]int{{i}}                           []*[]int{&[]int{i}}, and so on
func (u *Unit) freshLiterals() {
	holds := func(id *ast.Ident) bool { return u.held[u.objectOf(id)] }
	u.held = u.heldVariables()
	u.eachOf(isA[*ast.CompositeLit], func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.UnaryExpr:
			if n.Op == token.AND && u.setsInPlace(n.X) {
				t := u.typeOf(n.X)
				c.Replace(u.as(u.addressOf(n, n.X, t, types.NewPointer(t)), n))
			}
		case *ast.CompositeLit:
			elided(n, func(e *ast.Expr, x *ast.CompositeLit) {
				t := u.typeOf(x)
				p, ok := orInvalid(t).Underlying().(*types.Pointer)
				if !ok {
					return
				}
				if _, ok := p.Elem().Underlying().(*types.Struct); ok {
					return
				}
				x.Type = u.typeExpr(x, p.Elem())
				*e = u.typed(u.addressOf(x, u.typed(x, p.Elem()), p.Elem(), t), t)
			})
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE || len(n.Lhs) != len(n.Rhs) {
				return
			}
			for i, e := range n.Rhs {
				id, ok := n.Lhs[i].(*ast.Ident)
				if isA[*ast.CompositeLit](ast.Unparen(e)) && c.Index() < 0 && len(n.Rhs) > 1 { // it clears the values next to it
					n.Rhs[i] = u.resultOf(e)
					continue
				}
				switch {
				case !ok || !u.setsInPlace(e) || !holds(id):
				case c.Index() < 0 || len(n.Rhs) > 1:
					n.Rhs[i] = u.resultOf(e)
				default:
					c.InsertBefore(u.keep(&n.Rhs[i]))
				}
			}
		case *ast.ValueSpec:
			for i, e := range n.Values {
				// Yaegi looks for the type of a variable while it makes a struct, when the engine may have dropped it.
				sought := n.Type != nil && u.isInterface(u.typeOf(n.Type)) && u.isStructLiteral(e)
				if len(n.Names) == len(n.Values) && (sought || u.setsInPlace(e) && holds(n.Names[i])) {
					n.Values[i] = u.resultOf(e)
				}
			}
		}
	})
}

// setsInPlace reports whether an expression is a literal that Yaegi writes into the variable that is there.
func (u *Unit) setsInPlace(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return false
	}
	switch orInvalid(u.typeOf(x)).Underlying().(type) {
	case *types.Slice, *types.Map, *types.Array:
		return true
	}
	return false
}

// resultOf makes an expression the result of a function.
func (u *Unit) resultOf(e ast.Expr) ast.Expr {
	lit := &ast.FuncLit{
		Type: &ast.FuncType{Func: e.Pos(), Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(e, u.typeOf(e))}}}},
		Body: block(&ast.ReturnStmt{Results: []ast.Expr{e}}),
	}
	return u.as(call(lit), e)
}

// heldVariables returns the variables that function literals mention, or that pointers, slices of arrays
// and method values may hold.
func (u *Unit) heldVariables() map[types.Object]bool {
	held := map[types.Object]bool{}
	hold := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && u.Info.Uses[id] != nil {
				held[u.Info.Uses[id]] = true
			}
			return true
		})
	}
	makes := map[types.Object]*ast.FuncLit{} // the literal each call of which makes a variable
	u.inLiterals(func(n ast.Node, in *ast.FuncLit) {
		if id, ok := n.(*ast.Ident); ok && u.Info.Defs[id] != nil {
			makes[u.Info.Defs[id]] = in
		}
	})
	u.inLiterals(func(n ast.Node, in *ast.FuncLit) {
		switch n := n.(type) {
		case *ast.Ident:
			if o := u.Info.Uses[n]; o != nil && in != nil && makes[o] != in {
				held[o] = true
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				hold(n.X)
			}
		case *ast.SliceExpr:
			hold(n.X)
		case *ast.SelectorExpr:
			if s := u.Info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
				hold(n.X)
			}
		}
	})
	return held
}

// inLiterals calls f for each node with the innermost function literal around it, or nil.
func (u *Unit) inLiterals(f func(n ast.Node, in *ast.FuncLit)) {
	var around []*ast.FuncLit // the innermost literal at each node on the way
	ast.Inspect(u.File, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		var in *ast.FuncLit
		if len(around) > 0 {
			in = around[len(around)-1]
		}
		if lit, ok := n.(*ast.FuncLit); ok {
			in = lit
		}
		f(n, in)
		around = append(around, in)
		return true
	})
}
