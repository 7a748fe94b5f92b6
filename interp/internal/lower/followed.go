package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// pointsTo reports whether a node is what a pointer points to, and not a type.
func (u *Unit) pointsTo(n ast.Node) bool {
	x, ok := n.(*ast.StarExpr)
	return ok && u.Info.Types[x].IsValue()
}

// unnoticed returns the operand of a statement that Yaegi uses although it is behind a nil pointer: a function that is called or ranged over, or
// the value of a panic. It returns nil for other statements.
func (u *Unit) unnoticed(s ast.Stmt) *ast.Expr {
	var x ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		x = s.X
	case *ast.DeferStmt:
		x = s.Call
	case *ast.GoStmt:
		x = s.Call
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			x = s.Rhs[0]
		}
	case *ast.ReturnStmt:
		if len(s.Results) == 1 {
			x = s.Results[0]
		}
	case *ast.RangeStmt:
		if _, ok := orInvalid(u.typeOf(s.X)).Underlying().(*types.Signature); ok && u.pointsTo(ast.Unparen(s.X)) {
			return &s.X
		}
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	switch {
	case !ok:
	case u.pointsTo(ast.Unparen(call.Fun)):
		return &call.Fun
	case u.isBuiltin(call.Fun, "panic") && u.pointsTo(ast.Unparen(call.Args[0])):
		return &call.Args[0]
	}
	return nil
}

// uses reports whether x is an operand of an operation that panics for a missing value before anything else. A shift tests the count first, and
// a call and the sum of strings do not panic.
func (u *Unit) uses(operation ast.Node, x ast.Expr) bool {
	switch n := operation.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.SHL || n.Op == token.SHR || n.Op == token.ADD {
			return false
		}
	case *ast.CallExpr:
		if u.pointsTo(ast.Unparen(n.Fun)) {
			return false
		}
	}
	found := false
	ast.Inspect(operation, func(n ast.Node) bool {
		_, paren := n.(*ast.ParenExpr)
		found = found || n == x
		return n == operation || paren
	})
	return found
}

// arrayLen returns the length of an array or of one that a pointer points to, or -1 for other types.
func arrayLen(t types.Type) int64 {
	t = orInvalid(t).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	if a, ok := t.(*types.Array); ok {
		return a.Len()
	}
	return -1
}
