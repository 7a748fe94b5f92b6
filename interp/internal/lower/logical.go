package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// logicals puts a constant before the left operand of && and || if that may begin with a type, a
// literal or parentheses around a name: Yaegi makes a branch of the first node of the operand.
//
//	len([]int{1}) == 1 && ok    (true && len([]int{1}) == 1) && ok
func (u *Unit) logicals() {
	u.eachOf(isA[*ast.BinaryExpr], func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.BinaryExpr)
		if !ok || x.Op != token.LAND && x.Op != token.LOR || !u.beginsWithType(x.X) {
			return
		}
		both := &ast.BinaryExpr{X: u.typed(ident("true"), types.Typ[types.UntypedBool]), OpPos: x.X.Pos(), Op: token.LAND, Y: x.X}
		x.X = u.as(&ast.ParenExpr{X: u.as(both, x.X)}, x.X)
	})
}

// beginsWithType reports whether the left operand of a logical operator may begin with a node
// that Yaegi takes for a condition.
func (u *Unit) beginsWithType(e ast.Expr) bool {
	e = ast.Unparen(e)
	for {
		x, ok := e.(*ast.BinaryExpr)
		if !ok || x.Op != token.LAND && x.Op != token.LOR {
			break
		}
		e = ast.Unparen(x.X) // the operator there has its own constant
	}
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit, *ast.FuncLit, *ast.StructType, *ast.InterfaceType, *ast.FuncType:
			found = true
		case *ast.ParenExpr:
			switch n.X.(type) {
			case *ast.Ident, *ast.BasicLit:
				found = true
			}
		case *ast.CallExpr:
			if u.Info.Types[n.Fun].IsType() {
				switch n.Fun.(type) {
				case *ast.Ident, *ast.SelectorExpr:
				default:
					found = true
				}
			}
		}
		return !found
	})
	return found
}
