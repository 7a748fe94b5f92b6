package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// concatenations checks for enough memory before an assignment concatenates two strings
// into a long one: a string that keeps doubling would end the process before any other
// check.
//
//	s += t    if len(s)+len(t) > long { Room(len(s)+len(t), 1) }; s += t
func (u *Unit) concatenations() {
	u.eachOf(isA[*ast.AssignStmt], func(c *astutil.Cursor) {
		a, ok := c.Node().(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || c.Index() < 0 {
			return
		}
		var parts []ast.Expr
		if a.Tok == token.ADD_ASSIGN {
			u.strings(a.Lhs[0], &parts)
		}
		u.strings(a.Rhs[0], &parts)
		if x, ok := ast.Unparen(a.Rhs[0]).(*ast.BinaryExpr); len(parts) == 0 || a.Tok != token.ADD_ASSIGN && (!ok || x.Op != token.ADD) {
			return
		}
		length := func() ast.Expr {
			var sum ast.Expr
			for _, p := range parts {
				n := call(ident("len"), ident(p.(*ast.Ident).Name))
				if sum == nil {
					sum = n
				} else {
					sum = &ast.BinaryExpr{X: sum, Op: token.ADD, Y: n}
				}
			}
			return sum
		}
		u.imports = true
		c.InsertBefore(&ast.IfStmt{
			Cond: &ast.BinaryExpr{X: length(), Op: token.GTR, Y: Int(long)},
			Body: block(expr(calledFrom(a.Pos(), Support("Room", length(), Int(1))))),
		})
	})
}

// long is the length from which strings are checked.
const long = 16 << 20

// strings adds the variables that are operands of a concatenation.
func (u *Unit) strings(e ast.Expr, list *[]ast.Expr) {
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if x.Op == token.ADD {
			u.strings(x.X, list)
			u.strings(x.Y, list)
		}
	case *ast.Ident:
		b, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Basic)
		if v, variable := u.objectOf(x).(*types.Var); ok && variable && v != nil && b.Kind() == types.String {
			*list = append(*list, x)
		}
	}
}
