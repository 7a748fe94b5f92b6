package lower

import (
	"go/ast"

	"golang.org/x/tools/go/ast/astutil"
)

// forInit gives a condition to loops that have only an init statement: Yaegi runs the
// init statement of such a loop again at every iteration.
func (u *Unit) forInit() {
	u.eachOf(isA[*ast.ForStmt], func(c *astutil.Cursor) {
		if s, ok := c.Node().(*ast.ForStmt); ok && s.Init != nil && s.Cond == nil {
			s.Cond = ident("true")
		}
	})
}
