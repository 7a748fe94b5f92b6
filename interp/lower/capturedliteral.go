package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// capturedLiterals changes assignments of struct literals to variables that a function literal
// captures. Yaegi makes such a struct in the variable's place in the frame of the function
// literal, which is a copy: the variable itself keeps its value.
//
//	func() { v = T{1} }()    func() { v = *&T{1} }()
func (u *Unit) capturedLiterals() {
	u.funcs(func(node ast.Node, _ *ast.FuncType, body *ast.BlockStmt) {
		lit, ok := node.(*ast.FuncLit)
		if !ok {
			return
		}
		ast.Inspect(body, func(n ast.Node) bool {
			if inner, ok := n.(*ast.FuncLit); ok && inner != lit {
				return false
			}
			st, ok := n.(*ast.AssignStmt)
			if !ok || st.Tok != token.ASSIGN || len(st.Lhs) != len(st.Rhs) {
				return true
			}
			for i, e := range st.Rhs {
				x, ok := ast.Unparen(e).(*ast.CompositeLit)
				id, isVar := ast.Unparen(st.Lhs[i]).(*ast.Ident)
				if !ok || !isVar || id.Name == "_" || u.declaredIn(id, lit) {
					continue
				}
				t := orInvalid(u.typeOf(x))
				if _, ok := t.Underlying().(*types.Struct); ok {
					p := u.typed(&ast.UnaryExpr{OpPos: x.Pos(), Op: token.AND, X: x}, types.NewPointer(t))
					st.Rhs[i] = u.typed(&ast.StarExpr{Star: x.Pos(), X: p}, t)
				}
			}
			return true
		})
	})
}

// declaredIn reports whether a function literal declares a variable.
func (u *Unit) declaredIn(id *ast.Ident, lit *ast.FuncLit) bool {
	o := u.objectOf(id)
	return o != nil && lit.Pos() <= o.Pos() && o.Pos() < lit.End()
}
