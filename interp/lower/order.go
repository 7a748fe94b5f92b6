package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// operandOrder evaluates operands before any assignment where Yaegi would read them later:
// a result that another return value uses, an element that is appended to a part of the
// slice that holds it, and the left side of x[i] += f().
func (u *Unit) operandOrder() {
	u.funcs(func(n ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
		results := u.resultVars(t)
		if t.Results.NumFields() > 1 && (len(results) > 0 || defers(body)) {
			u.returnsAtOnce(body, results)
		}
	})
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.CallExpr:
			u.appendAtOnce(n)
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN || n.Tok == token.DEFINE || c.Index() < 0 || !u.callsBack(n.Rhs[0]) {
				return
			}
			if _, ok := ast.Unparen(n.Lhs[0]).(*ast.Ident); !ok {
				c.InsertBefore(u.keep(&n.Rhs[0]))
			}
		}
	})
}

// keep replaces an operand by a variable, and returns the statement that sets it.
func (u *Unit) keep(e *ast.Expr) ast.Stmt {
	v := u.temp("o")
	st := &ast.AssignStmt{Lhs: []ast.Expr{v}, TokPos: (*e).Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{*e}}
	t := types.Default(orInvalid(u.typeOf(*e)))
	*e = u.typed(ident(v.Name), t)
	return st
}

// resultVars returns the named results of a function, with their indexes.
func (u *Unit) resultVars(t *ast.FuncType) map[types.Object]int {
	vars := map[types.Object]int{}
	if t.Results == nil {
		return nil
	}
	i := 0
	for _, f := range t.Results.List {
		for _, id := range f.Names {
			if o := u.Info.Defs[id]; o != nil && id.Name != "_" {
				vars[o] = i
			}
			i++
		}
	}
	return vars
}

// defers reports whether a function itself has deferred calls, apart from function
// literals in it.
func defers(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			found = true
		}
		return !found
	})
	return found
}

// returnsAtOnce evaluates the values of return statements before the first result is
// set, where a later value depends on it or may fail.
func (u *Unit) returnsAtOnce(body *ast.BlockStmt, results map[types.Object]int) {
	astutil.Apply(body, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) < 2 || !u.needsFirst(n.Results, results) {
				return true
			}
			var list []ast.Stmt
			for i, e := range n.Results {
				if tv := u.Info.Types[e]; tv.Value == nil && !tv.IsNil() {
					list = append(list, u.keep(&n.Results[i]))
				}
			}
			if c.Index() < 0 {
				c.Replace(block(append(list, n)...))
				return false
			}
			for _, st := range list {
				c.InsertBefore(st)
			}
		}
		return true
	}, nil)
}

func (u *Unit) needsFirst(list []ast.Expr, results map[types.Object]int) bool {
	for i, e := range list[1:] {
		found := false
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if j, ok := results[u.Info.Uses[id]]; ok && j <= i {
					found = true
				}
			}
			return !found
		})
		var risks []token.Pos
		if u.risks(e, &risks); found || len(risks) > 0 {
			return true
		}
	}
	return false
}

// appendAtOnce copies the appended values to a new slice where they may overlap the
// destination.
func (u *Unit) appendAtOnce(x *ast.CallExpr) {
	if !u.isBuiltin(x.Fun, "append") || len(x.Args) < 3 || x.Ellipsis.IsValid() {
		return
	}
	s, ok := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Slice)
	if _, fresh := ast.Unparen(x.Args[0]).(*ast.CompositeLit); !ok || fresh {
		return
	}
	for _, e := range x.Args[2:] {
		switch ast.Unparen(e).(type) {
		case *ast.IndexExpr, *ast.StarExpr, *ast.SelectorExpr:
			list := &ast.CompositeLit{Type: u.typeExpr(x, s), Lbrace: x.Args[1].Pos(), Elts: x.Args[1:]}
			x.Args = []ast.Expr{x.Args[0], u.typed(list, s)}
			x.Ellipsis = x.Rparen
			return
		}
	}
}

// callsBack reports whether a node calls code of cells, which may change variables.
func (u *Unit) callsBack(e ast.Node) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			found = found || !u.harmless(x)
		}
		return !found
	})
	return found
}
