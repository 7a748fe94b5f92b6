package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// bound records that, inside a loop, index is valid for list.
type bound struct{ index, list types.Object }

// safeIndexes finds the indexes and slices that cannot fail, which need no marks.
func (u *Unit) safeIndexes() {
	u.funcs(func(_ ast.Node, _ *ast.FuncType, body *ast.BlockStmt) { u.safeWithin(body, nil) })
}

// safeWithin finds those in n, with the bounds of the loops around.
func (u *Unit) safeWithin(n ast.Node, known []bound) {
	bounds := map[*ast.BlockStmt][]bound{} // of the bodies of loops
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ForStmt:
			bounds[x.Body] = u.loopBounds(x)
		case *ast.RangeStmt:
			bounds[x.Body] = u.rangeBounds(x)
		case *ast.BlockStmt:
			if more := bounds[x]; len(more) > 0 {
				delete(bounds, x)
				u.safeWithin(x, append(slices.Clip(known), more...))
				return false
			}
		case *ast.IndexExpr:
			u.safe[x] = u.inBounds(x, known)
		case *ast.SliceExpr:
			_, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Pointer)
			u.safe[x] = !array && x.High == nil && x.Low == nil
		}
		return true
	})
}

// inBounds reports whether an index cannot fail: that of an array is a constant, which the compiler has checked, or a loop
// bounds it.
func (u *Unit) inBounds(x *ast.IndexExpr, known []bound) bool {
	if u.Info.Types[x.Index].Value != nil {
		_, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array)
		return array || u.Info.Types[x.X].Value != nil
	}
	i, ok := ast.Unparen(x.Index).(*ast.Ident)
	list, isName := ast.Unparen(x.X).(*ast.Ident)
	return ok && isName && u.Info.Uses[i] != nil && slices.Contains(known, bound{u.Info.Uses[i], u.Info.Uses[list]})
}

// rangeBounds returns the bounds of for i := range list and range len(list).
func (u *Unit) rangeBounds(s *ast.RangeStmt) []bound {
	key, ok := s.Key.(*ast.Ident)
	if !ok || s.Tok != token.DEFINE || u.changed(u.Info.Defs[key], s.Body) {
		return nil
	}
	switch orInvalid(u.typeOf(s.X)).Underlying().(type) {
	case *types.Map, *types.Chan, *types.Signature:
		return nil
	}
	i := u.Info.Defs[key]
	x := s.X
	if l := u.lenOf(x); l != nil {
		x = l
	}
	if id, ok := ast.Unparen(x).(*ast.Ident); ok {
		if o := u.Info.Uses[id]; o != nil && !u.changed(o, s.Body) && u.local(o) {
			return []bound{{i, o}}
		}
	}
	return nil
}

// loopBounds returns the bounds of for i := 0; i < len(list); i++.
func (u *Unit) loopBounds(s *ast.ForStmt) []bound {
	init, ok := s.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 {
		return nil
	}
	id, ok := init.Lhs[0].(*ast.Ident)
	if !ok || u.changed(u.Info.Defs[id], s.Body) {
		return nil
	}
	if v := u.Info.Types[init.Rhs[0]].Value; v == nil || v.Kind() != constant.Int || constant.Sign(v) < 0 {
		return nil
	}
	if post, ok := s.Post.(*ast.IncDecStmt); !ok || post.Tok != token.INC || !u.rootIs(u.Info.Defs[id], post.X) {
		return nil
	}
	i := u.Info.Defs[id]
	if cond, ok := s.Cond.(*ast.BinaryExpr); ok && cond.Op == token.LSS && u.rootIs(i, cond.X) {
		if l := u.lenOf(cond.Y); l != nil {
			if id, ok := ast.Unparen(l).(*ast.Ident); ok {
				if o := u.Info.Uses[id]; o != nil && !u.changed(o, s.Body) && u.local(o) {
					return []bound{{i, o}}
				}
			}
		}
	}
	return nil
}

// lenOf returns x of len(x).
func (u *Unit) lenOf(e ast.Expr) ast.Expr {
	c, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(c.Args) != 1 || !u.isBuiltin(c.Fun, "len") {
		return nil
	}
	return c.Args[0]
}

// local reports whether only the current function can change a variable: whether it is not a
// package variable.
func (u *Unit) local(o types.Object) bool { return o.Parent() != u.Pkg.Scope() }
