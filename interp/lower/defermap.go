package lower

import (
	"go/ast"

	"golang.org/x/tools/go/ast/astutil"
)

// deferMaps moves deferred calls of delete and clear into function literals, where the
// back end sees the access to the map.
func (u *Unit) deferMaps() {
	u.eachOf(isA[*ast.DeferStmt], func(c *astutil.Cursor) {
		d, ok := c.Node().(*ast.DeferStmt)
		if !ok || !u.callsBuiltin("delete", "clear")(d.Call) {
			return
		}
		before, later := u.later(d.Call)
		lit := &ast.FuncLit{Type: &ast.FuncType{Func: d.Defer, Params: &ast.FieldList{}}, Body: block(expr(later))}
		list := append(before, &ast.DeferStmt{Defer: d.Defer, Call: &ast.CallExpr{Fun: lit, Rparen: d.Call.Rparen}})
		if c.Index() < 0 {
			c.Replace(block(list...))
			return
		}
		for _, st := range list[:len(list)-1] {
			c.InsertBefore(st)
		}
		c.Replace(list[len(list)-1])
	})
}
