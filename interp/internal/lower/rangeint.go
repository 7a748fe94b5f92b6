package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// rangeInt turns for i := range n into a three-clause loop.
func (u *Unit) rangeInt() {
	u.each(func(c *astutil.Cursor) {
		r, ok := c.Node().(*ast.RangeStmt)
		if !ok {
			return
		}
		t := u.typeOf(r.X)
		if t == nil {
			return
		}
		b, ok := t.Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 {
			return
		}
		i, n := u.temp("i"), u.temp("n")
		body := r.Body
		key, isIdent := r.Key.(*ast.Ident)
		switch {
		case r.Key == nil, isIdent && key.Name == "_":
		case r.Tok == token.DEFINE && !u.changed(u.Info.Defs[key], body):
			i = key
		case r.Tok == token.DEFINE:
			body.List = append([]ast.Stmt{define(key, i)}, body.List...)
		default:
			body.List = append([]ast.Stmt{assign(r.Key, i)}, body.List...)
		}
		zero, limit := Int(0), r.X
		if t != types.Type(types.Typ[types.Int]) {
			zero = call(u.typeExpr(r, t), zero)
			limit = call(u.typeExpr(r, t), limit)
		}
		c.Replace(&ast.ForStmt{
			For:  r.For,
			Init: &ast.AssignStmt{Lhs: []ast.Expr{i, n}, TokPos: r.For, Tok: token.DEFINE, Rhs: []ast.Expr{zero, limit}},
			Cond: &ast.BinaryExpr{X: ident(i.Name), Op: token.LSS, Y: ident(n.Name)},
			Post: &ast.IncDecStmt{X: ident(i.Name), Tok: token.INC},
			Body: body,
		})
	})
}

// changed reports whether a variable may change or outlive a statement: whether it is
// assigned to, has its address taken, or is used by a function literal.
func (u *Unit) changed(o types.Object, n ast.Node) bool { return u.captured(o, n) || u.assigned(o, n) }

// captured reports whether a function literal in n uses o, or n takes its address. A variable that a rewrite has made has no o.
func (u *Unit) captured(o types.Object, n ast.Node) bool {
	if o == nil {
		return false
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			found = found || u.mentions(o, x)
			return false
		case *ast.UnaryExpr:
			found = found || x.Op == token.AND && u.rootIs(o, x.X)
		case *ast.SelectorExpr: // a method with a pointer receiver takes it too
			if sel := u.Info.Selections[x]; sel != nil && sel.Kind() == types.MethodVal {
				if _, ok := sel.Recv().Underlying().(*types.Pointer); !ok {
					found = found || u.rootIs(o, x.X)
				}
			}
		case *ast.SliceExpr:
			if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); array {
				found = found || u.rootIs(o, x.X)
			}
		}
		return !found
	})
	return found
}

// assigned reports whether n assigns to o or to a part of it.
func (u *Unit) assigned(o types.Object, n ast.Node) bool {
	if o == nil {
		return false
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			for _, e := range x.Lhs {
				found = found || x.Tok != token.DEFINE && u.rootIs(o, e) // a definition inside n is of another variable
			}
		case *ast.IncDecStmt:
			found = found || u.rootIs(o, x.X)
		case *ast.RangeStmt:
			found = found || x.Tok == token.ASSIGN && (x.Key != nil && u.rootIs(o, x.Key) || x.Value != nil && u.rootIs(o, x.Value))
		}
		return !found
	})
	return found
}

// mentions reports whether o occurs in n.
func (u *Unit) mentions(o types.Object, n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && o != nil && u.Info.Uses[id] == o {
			found = true
		}
		return !found
	})
	return found
}

// rootIs reports whether e is o or a part of it that is stored in it.
func (u *Unit) rootIs(o types.Object, e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return o != nil && u.Info.Uses[x] == o
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			if isPointer(orInvalid(u.typeOf(x.X))) {
				return false
			}
			e = x.X
		case *ast.IndexExpr:
			if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); !array {
				return false
			}
			e = x.X
		default:
			return false
		}
	}
}
