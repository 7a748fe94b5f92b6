package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// watches makes statements record their line while an observer needs the calling line:
// statements that call a function of a watched package, or a function that takes or returns
// a value of one. Without an observer this costs one load.
func (u *Unit) watches() { u.markAll(marker{watches: true}) }

func (u *Unit) watch(at Mark, nodes []ast.Node) []ast.Stmt {
	if !at.Pos.IsValid() || !u.callsWatched(nodes) {
		return nil
	}
	u.imports = true
	var asked ast.Expr = &ast.BinaryExpr{X: &ast.StarExpr{X: SupportName("Watched")}, Op: token.NEQ, Y: Int(0)}
	if raced {
		asked = Support("Watching")
	}
	return []ast.Stmt{&ast.IfStmt{Cond: asked, Body: block(expr(calledFrom(at.Pos, Support("At", u.mark(at)))))}}
}

func (u *Unit) callsWatched(nodes []ast.Node) bool {
	found := false
	for _, n := range nodes {
		if n == nil || u.Watched == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				sig, ok := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
				found = found || ok && (u.watched(sig.Params()) || u.watched(sig.Results()) || u.calls(x.Fun))
			}
			return !found
		})
	}
	return found
}

// calls reports whether f is a function of a watched package, or a method of one of its
// types.
func (u *Unit) calls(f ast.Expr) bool {
	sel, ok := ast.Unparen(f).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	o := u.Info.Uses[sel.Sel]
	return o != nil && u.of(o)
}

func (u *Unit) of(o types.Object) bool { return o.Pkg() != nil && u.Watched(o.Pkg().Path()) }

// watched reports whether one of a signature's types is of a watched package.
func (u *Unit) watched(list *types.Tuple) bool {
	for v := range list.Variables() {
		t := v.Type()
		for more := true; more; {
			switch x := types.Unalias(t).(type) {
			case *types.Pointer:
				t = x.Elem()
			case *types.Slice:
				t = x.Elem()
			case *types.Named:
				if u.of(x.Obj()) {
					return true
				}
				more = false
			default:
				more = false
			}
		}
	}
	return false
}
