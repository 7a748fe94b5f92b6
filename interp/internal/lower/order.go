package lower

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// operandOrder evaluates the elements that are appended to a part of the slice that holds them
// before the first is appended.
func (u *Unit) operandOrder() {
	u.eachOf(u.callsBuiltin("append"), func(c *astutil.Cursor) {
		if x, ok := c.Node().(*ast.CallExpr); ok {
			u.appendAtOnce(x)
		}
	})
}

// harmless reports whether a call cannot change variables: a call of a compiled
// function, a conversion, or a built-in function.
func (u *Unit) harmless(x *ast.CallExpr) bool {
	if u.Info.Types[x.Fun].IsType() {
		return true
	}
	switch f := ast.Unparen(x.Fun).(type) {
	case *ast.Ident:
		_, ok := u.Info.Uses[f].(*types.Builtin)
		return ok
	case *ast.SelectorExpr:
		if isSupport(f) {
			return true
		}
		fn, ok := u.Info.Uses[f.Sel].(*types.Func)
		if !ok || fn.Pkg() == u.Pkg {
			return false
		}
		recv := fn.Signature().Recv()
		return recv == nil || !types.IsInterface(recv.Type())
	}
	return false
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
