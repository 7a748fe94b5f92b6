package lower

import (
	"go/ast"

	"golang.org/x/tools/go/ast/astutil"
)

// forInit gives loops a condition that have a first clause and no other: Yaegi runs
// the first clause of such a loop again at every turn.
func (u *Unit) forInit() {
	u.eachOf(isA[*ast.ForStmt], func(c *astutil.Cursor) {
		if s, ok := c.Node().(*ast.ForStmt); ok && s.Init != nil && s.Cond == nil {
			s.Cond = ident("true")
		}
	})
}
