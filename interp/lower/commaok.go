package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// commaOk assigns the second result of a receive, a map index or a type assertion
// through a bool variable unless its destination is of type bool: Yaegi writes a bool
// there whatever the type.
func (u *Unit) commaOk() {
	u.each(func(c *astutil.Cursor) {
		a, ok := c.Node().(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Lhs) != 2 || len(a.Rhs) != 1 || c.Index() < 0 {
			return
		}
		switch x := ast.Unparen(a.Rhs[0]).(type) {
		case *ast.IndexExpr, *ast.TypeAssertExpr:
		case *ast.UnaryExpr:
			if x.Op != token.ARROW {
				return
			}
		default:
			return
		}
		if t := u.typeOf(a.Lhs[1]); isBlank(a.Lhs[1]) || t == nil || types.Identical(t, types.Typ[types.Bool]) {
			return
		}
		v, found := u.temp("v"), u.temp("ok")
		list := []ast.Stmt{
			&ast.AssignStmt{Lhs: []ast.Expr{v, found}, TokPos: a.TokPos, Tok: token.DEFINE, Rhs: a.Rhs},
			assign(ident("_"), ident(v.Name)),
		}
		if !isBlank(a.Lhs[0]) {
			list = append(list, assign(a.Lhs[0], ident(v.Name)))
		}
		value := ast.Expr(ident(found.Name))
		if t := u.typeOf(a.Lhs[1]); t != nil && !types.IsInterface(t) {
			value = call(u.typeExpr(a, t), value)
		}
		list = append(list, assign(a.Lhs[1], value))
		for _, st := range list[:len(list)-1] {
			c.InsertBefore(st)
		}
		c.Replace(list[len(list)-1])
	})
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}
