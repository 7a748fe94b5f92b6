package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// risks collects the positions in n that may fail.
func (u *Unit) risks(n ast.Node, list *[]token.Pos) {
	add := func(p token.Pos) { *list = append(*list, p) }
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			switch {
			case u.Info.Types[x.Fun].IsType(), u.makers[x]:
			case u.safeBuiltin(x.Fun):
			default:
				add(calledAt(x))
			}
		case *ast.IndexExpr:
			if u.isGeneric(x.X) || u.safe[x] {
				break
			}
			switch orInvalid(u.typeOf(x.X)).Underlying().(type) {
			case *types.Map, *types.Signature:
			default:
				add(x.Lbrack)
			}
		case *ast.SliceExpr:
			if !u.safe[x] {
				add(x.Lbrack)
			}
		case *ast.StarExpr:
			if x.Star.IsValid() && !u.Info.Types[x].IsType() && u.Info.Types[x].Type != nil {
				if sel, ok := x.X.(*ast.SelectorExpr); ok && !sel.Sel.Pos().IsValid() {
					break // a variable of a package
				}
				add(x.Star)
			}
		case *ast.TypeAssertExpr:
			add(x.Lparen)
		case *ast.SelectorExpr:
			if s := u.Info.Selections[x]; s != nil && s.Kind() == types.FieldVal && (s.Indirect() || isPointer(s.Recv())) {
				add(x.Sel.Pos())
			}
		case *ast.BinaryExpr:
			switch x.Op {
			case token.QUO, token.REM:
				u.division(x.X, x.Y, x.OpPos, add)
			case token.SHL, token.SHR:
				u.shift(x, x.Y, x.OpPos, add)
			}
		case *ast.AssignStmt:
			switch x.Tok {
			case token.QUO_ASSIGN, token.REM_ASSIGN:
				u.division(x.Lhs[0], x.Rhs[0], x.TokPos, add)
			case token.SHL_ASSIGN, token.SHR_ASSIGN:
				u.shift(x.Lhs[0], x.Rhs[0], x.TokPos, add)
			}
			for _, e := range x.Lhs {
				u.mapEntry(e, add)
			}
		case *ast.IncDecStmt:
			u.mapEntry(x.X, add)
		}
		return true
	})
}

// mapReads collects the positions in nodes that read entries of maps, which fails while
// another goroutine writes.
func (u *Unit) mapReads(nodes []ast.Node, list *[]token.Pos) {
	for _, n := range nodes {
		if n == nil {
			continue
		}
		ast.Inspect(n, func(n ast.Node) bool {
			if x, ok := n.(*ast.IndexExpr); ok && u.isMap(x.X) {
				*list = append(*list, x.Lbrack)
			}
			_, literal := n.(*ast.FuncLit)
			return !literal
		})
	}
}

func (u *Unit) isMap(e ast.Expr) bool {
	_, ok := orInvalid(u.typeOf(e)).Underlying().(*types.Map)
	return ok
}

// mapEntry adds the position of an assignment to an entry of a map, which may be nil.
func (u *Unit) mapEntry(e ast.Expr, add func(token.Pos)) {
	if i, ok := ast.Unparen(e).(*ast.IndexExpr); ok && u.isMap(i.X) {
		add(i.Lbrack)
	}
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func (u *Unit) division(x, y ast.Expr, pos token.Pos, add func(token.Pos)) {
	b, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsInteger == 0 {
		return
	}
	if u.Info.Types[y].Value == nil { // a constant is not 0
		add(pos)
	}
}

// shift adds the position of a shift whose count may be negative.
func (u *Unit) shift(x, count ast.Expr, pos token.Pos, add func(token.Pos)) {
	b, ok := orInvalid(u.typeOf(count)).Underlying().(*types.Basic)
	if ok && b.Info()&(types.IsUnsigned|types.IsUntyped) == 0 && u.Info.Types[x].Value == nil && u.Info.Types[count].Value == nil {
		add(pos)
	}
}

// safeBuiltin reports whether f is a built-in function that cannot fail.
func (u *Unit) safeBuiltin(f ast.Expr) bool {
	id, ok := ast.Unparen(f).(*ast.Ident)
	if !ok {
		return false
	}
	switch id.Name {
	case "len", "cap", "int":
		if u.Info.Uses[id] == nil {
			return true // operand of a test
		}
	}
	b, ok := u.Info.Uses[id].(*types.Builtin)
	if !ok {
		return false
	}
	switch b.Name() {
	case "panic", "close", "make", "delete":
		return false
	}
	return true
}

// calledAt returns the position of the function name in a call.
func calledAt(x *ast.CallExpr) token.Pos {
	switch f := ast.Unparen(x.Fun).(type) {
	case *ast.SelectorExpr:
		if f.Sel.Pos().IsValid() {
			return f.Sel.Pos()
		}
		if !f.X.Pos().IsValid() { // a support function, whose statement has a place
			return token.NoPos
		}
	case *ast.FuncLit:
		return f.Pos()
	}
	if p := x.Fun.Pos(); p.IsValid() {
		return p
	}
	return x.Lparen
}
