package syntax

import (
	"go/ast"
	"go/token"
)

// Definitions returns the identifiers that a tree defines or selects, and the blank identifiers
// that it assigns to: those that do not denote a value.
func Definitions(tree ast.Node) map[*ast.Ident]bool {
	defining := map[*ast.Ident]bool{}
	note := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				defining[id] = true
			}
		}
	}
	notes := func(list []*ast.Ident) {
		for _, id := range list {
			defining[id] = true
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && (n.Tok == token.DEFINE || id.Name == "_") {
					note(id)
				}
			}
		case *ast.IncDecStmt:
			if id, ok := n.X.(*ast.Ident); ok && id.Name == "_" {
				note(id)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				note(n.Key, n.Value)
			}
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
					note(id)
				}
			}
		case *ast.ValueSpec:
			notes(n.Names)
		case *ast.TypeSpec:
			note(n.Name)
		case *ast.Field:
			notes(n.Names)
		case *ast.LabeledStmt:
			note(n.Label)
		case *ast.BranchStmt:
			if n.Label != nil {
				note(n.Label)
			}
		case *ast.SelectorExpr:
			note(n.Sel)
		case *ast.FuncDecl:
			note(n.Name)
		}
		return true
	})
	return defining
}
