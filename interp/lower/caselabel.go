package lower

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// caseLabels puts the statements of a clause into a block if one of them has a label:
// Yaegi does not find labels directly in a clause.
func (u *Unit) caseLabels() {
	u.eachOf(isA[*ast.LabeledStmt], func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.CaseClause:
			n.Body = inBlock(n.Body)
		case *ast.CommClause:
			n.Body = inBlock(n.Body)
		}
	})
}

func inBlock(list []ast.Stmt) []ast.Stmt {
	i := slices.IndexFunc(list, func(st ast.Stmt) bool { _, ok := st.(*ast.LabeledStmt); return ok })
	if i < 0 {
		return list
	}
	end := len(list)
	if b, ok := list[end-1].(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
		end--
	}
	return append([]ast.Stmt{&ast.BlockStmt{Lbrace: list[0].Pos(), List: slices.Clone(list[:end])}}, list[end:]...)
}
