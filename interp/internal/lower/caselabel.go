package lower

import (
	"go/ast"
	"go/token"
	"go/types"
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

// labelNames gives labels that have the name of something else in their function another name: Yaegi looks for a goto's label
// among all names.
func (u *Unit) labelNames() {
	u.eachOf(isA[*ast.LabeledStmt], func(c *astutil.Cursor) {
		fd, ok := c.Node().(*ast.FuncDecl)
		if !ok {
			return
		}
		labels, others := map[string][]*ast.Ident{}, map[string]bool{}
		ast.Inspect(fd, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.LabeledStmt:
				labels[n.Label.Name] = append(labels[n.Label.Name], n.Label)
			case *ast.BranchStmt:
				if n.Label != nil {
					labels[n.Label.Name] = append(labels[n.Label.Name], n.Label)
				}
			case *ast.Ident:
				_, label := u.objectOf(n).(*types.Label)
				others[n.Name] = others[n.Name] || !label
			}
			return true
		})
		for name, list := range labels {
			if !others[name] {
				continue
			}
			other := u.temp(name).Name
			for _, id := range list {
				id.Name = other
			}
		}
	})
}
