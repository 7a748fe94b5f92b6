package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// logicals puts a constant before the left operand of && and || if that may begin with a type, a
// literal, parentheses around a name, or a conversion or an assertion of truth values: Yaegi makes a branch of the first node of the operand. A condition that
// is a conversion or an assertion would always be true.
//
//	len([]int{1}) == 1 && ok    (true && len([]int{1}) == 1) && ok
//	if bool(x) {}               if x {}
//	if x.(bool) {}              if true && x.(bool) {}
func (u *Unit) logicals() {
	u.eachOf(func(n ast.Node) bool { return isA[*ast.IfStmt](n) || isA[*ast.ForStmt](n) || isA[*ast.CaseClause](n) }, func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.IfStmt:
			n.Cond = u.condition(n.Cond)
		case *ast.ForStmt:
			n.Cond = u.condition(n.Cond)
		case *ast.CaseClause:
			for i, e := range n.List { // conditions or, in type switches, types
				n.List[i] = u.condition(e)
			}
		}
	})
	u.eachOf(isA[*ast.BinaryExpr], func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.BinaryExpr)
		if !ok || !isLogical(x) || !u.beginsWithType(x.X) {
			return
		}
		x.X = u.as(&ast.ParenExpr{X: u.both(x.X)}, x.X)
	})
}

// both returns true && e.
func (u *Unit) both(e ast.Expr) ast.Expr {
	return u.as(&ast.BinaryExpr{X: u.typed(ident("true"), types.Typ[types.UntypedBool]), OpPos: e.Pos(), Op: token.LAND, Y: e}, e)
}

// condition returns a condition, or nil, as the operand of a conversion that it is, or as an operand if it is an assertion.
func (u *Unit) condition(e ast.Expr) ast.Expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if u.Info.Types[x.Fun].IsType() {
			return u.condition(x.Args[0])
		}
	case *ast.TypeAssertExpr:
		return u.both(e)
	}
	return e
}

// beginsWithType reports whether the left operand of a logical operator may begin with a node
// that Yaegi takes for a condition.
func (u *Unit) beginsWithType(e ast.Expr) bool {
	e = ast.Unparen(e)
	if isLogical(e) {
		return false // the operator there has its own constant
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
					found = u.isBoolean(n)
				default:
					found = true
				}
			}
		case *ast.TypeAssertExpr:
			found = u.isBoolean(n)
		}
		return !found
	})
	return found
}

// isBoolean reports whether an expression is a truth value.
func (u *Unit) isBoolean(e ast.Expr) bool {
	b, ok := orInvalid(u.typeOf(e)).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsBoolean != 0
}

// isLogical reports whether an expression is && or ||.
func isLogical(e ast.Expr) bool {
	x, ok := e.(*ast.BinaryExpr)
	return ok && (x.Op == token.LAND || x.Op == token.LOR)
}
