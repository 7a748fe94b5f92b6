package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// onlyCalled returns the function literals that only code of the unit can call: those that are
// called where they stand, and those that a function assigns to a local variable which it only
// calls.
func (u *Unit) onlyCalled() map[*ast.FuncLit]bool {
	literals := map[types.Object]*ast.FuncLit{} // by the variables that they are assigned to
	called := map[*ast.FuncLit]bool{}
	calls := map[*ast.Ident]bool{} // functions of calls
	names := map[string][]*ast.Ident{}
	for _, d := range u.File.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if len(n.Lhs) == 1 && n.Tok == token.DEFINE {
					id, _ := n.Lhs[0].(*ast.Ident)
					if lit, ok := n.Rhs[0].(*ast.FuncLit); ok && u.Info.Defs[id] != nil {
						literals[u.Info.Defs[id]] = lit
						calls[id] = true
					}
				}
			case *ast.CallExpr:
				switch f := ast.Unparen(n.Fun).(type) {
				case *ast.FuncLit:
					called[f] = true
				case *ast.Ident:
					calls[f] = true
				}
			case *ast.Ident:
				names[n.Name] = append(names[n.Name], n)
			}
			return true
		})
	}
	for o, lit := range literals {
		only := true
		for _, id := range names[o.Name()] {
			of := u.Info.ObjectOf(id)
			only = only && (calls[id] || of != nil && of != o)
		}
		if only {
			called[lit] = true
		}
	}
	return called
}
