package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// keepFollowed keeps what pointers point to where another operation that may panic follows, with the operations before it: Yaegi finds
// that a pointer is nil only where it uses the value.
//
//	two(*p, xs[i])    o1 := *p; two(o1, xs[i])
func (u *Unit) keepFollowed(operands []*ast.Expr) (before []ast.Stmt) {
	if !slices.ContainsFunc(operands, func(e *ast.Expr) bool { return u.holds(*e, u.pointsTo) }) {
		return nil
	}
	n, last := 0, 0                   // numbers of operations: so far, and to be kept
	pointer, star := ast.Expr(nil), 0 // the latest of a pointer
	for _, e := range operands {
		u.operations(e, func(c *astutil.Cursor) {
			n++
			if star > 0 && !(star == n-1 && u.uses(c.Node(), pointer)) {
				last = star
			}
			if u.pointsTo(c.Node()) {
				pointer, star = c.Node().(ast.Expr), n
			}
		})
	}
	if last == 0 {
		return nil
	}
	n = 0
	for _, e := range operands {
		u.operations(e, func(c *astutil.Cursor) {
			x := c.Node().(ast.Expr)
			if n++; n <= last && !isTupleType(u.typeOf(x)) { // several results are kept by the call that takes them
				before = append(before, u.keep(&x))
				c.Replace(x)
			}
		})
	}
	return before
}

// pointsTo reports whether a node is what a pointer points to, and not a type.
func (u *Unit) pointsTo(n ast.Node) bool {
	x, ok := n.(*ast.StarExpr)
	return ok && u.Info.Types[x].IsValue()
}

// unnoticed returns the operand of a statement that Yaegi uses although it is behind a nil pointer: a function that is called or ranged over, or
// the value of a panic. It returns nil for other statements.
func (u *Unit) unnoticed(s ast.Stmt) *ast.Expr {
	var x ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		x = s.X
	case *ast.DeferStmt:
		x = s.Call
	case *ast.GoStmt:
		x = s.Call
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			x = s.Rhs[0]
		}
	case *ast.ReturnStmt:
		if len(s.Results) == 1 {
			x = s.Results[0]
		}
	case *ast.RangeStmt:
		if _, ok := orInvalid(u.typeOf(s.X)).Underlying().(*types.Signature); ok && u.pointsTo(ast.Unparen(s.X)) {
			return &s.X
		}
	}
	call, ok := ast.Unparen(x).(*ast.CallExpr)
	switch {
	case !ok:
	case u.pointsTo(ast.Unparen(call.Fun)):
		return &call.Fun
	case u.isBuiltin(call.Fun, "panic") && u.pointsTo(ast.Unparen(call.Args[0])):
		return &call.Args[0]
	}
	return nil
}

// uses reports whether x is an operand of an operation that panics for a missing value before anything else. A shift tests the count first, and
// a call and the sum of strings do not panic.
func (u *Unit) uses(operation ast.Node, x ast.Expr) bool {
	switch n := operation.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.SHL || n.Op == token.SHR || n.Op == token.ADD {
			return false
		}
	case *ast.CallExpr:
		if u.pointsTo(ast.Unparen(n.Fun)) {
			return false
		}
	}
	found := false
	ast.Inspect(operation, func(n ast.Node) bool {
		_, paren := n.(*ast.ParenExpr)
		found = found || n == x
		return n == operation || paren
	})
	return found
}

// operations calls f for the operations in an operand that may panic, in the order of their evaluation.
func (u *Unit) operations(e *ast.Expr, f func(*astutil.Cursor)) {
	around := &ast.ParenExpr{X: *e}
	astutil.Apply(around, func(c *astutil.Cursor) bool {
		x, _ := c.Node().(ast.Expr)
		switch {
		case x == around:
			return true
		case u.Info.Types[x].IsType() || u.written[x] != nil || u.Info.Types[x].Value != nil:
			return false
		case u.whole(x):
			if u.fails(x) {
				f(c)
			}
			return false
		}
		return true
	}, func(c *astutil.Cursor) bool {
		if x, ok := c.Node().(ast.Expr); ok && u.panics(x) {
			f(c)
		}
		return true
	})
	*e = around.X
}

// mayPanic reports whether an operation in an operand may panic.
func (u *Unit) mayPanic(e ast.Expr) (may bool) {
	u.operations(&e, func(*astutil.Cursor) { may = true })
	return may
}

// whole reports whether the parts of an expression cannot be computed before it: they may not be evaluated, or are variables rather than values.
func (u *Unit) whole(e ast.Expr) bool {
	switch x := e.(type) {
	case *ast.FuncLit:
		return true
	case *ast.BinaryExpr:
		return x.Op == token.LAND || x.Op == token.LOR
	case *ast.UnaryExpr:
		return x.Op == token.AND && !isA[*ast.CompositeLit](ast.Unparen(x.X))
	case *ast.SliceExpr:
		_, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array)
		return array
	case *ast.CallExpr:
		sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		return ok && u.whole(sel)
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		return s != nil && s.Kind() != types.FieldVal
	}
	return false
}

// panics reports whether an operation itself may panic, apart from its operands.
func (u *Unit) panics(e ast.Expr) bool {
	risk := false
	add := func(token.Pos) { risk = true }
	switch x := e.(type) {
	case *ast.StarExpr:
		return u.pointsTo(x)
	case *ast.SliceExpr, *ast.TypeAssertExpr:
		return true
	case *ast.IndexExpr:
		if m, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Map); ok {
			return holdsInterface(m.Key())
		}
		return !u.inBounds(x, nil)
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		return s != nil && s.Indirect()
	case *ast.BinaryExpr:
		switch x.Op {
		case token.QUO, token.REM:
			u.division(x.X, x.Y, x.OpPos, add)
		case token.SHL, token.SHR:
			u.shift(x, x.Y, x.OpPos, add)
		case token.ADD:
			b, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Basic)
			return ok && b.Info()&types.IsString != 0 && (u.pointsTo(ast.Unparen(x.X)) || u.pointsTo(ast.Unparen(x.Y)))
		}
		return risk
	case *ast.UnaryExpr:
		return x.Op == token.ARROW
	case *ast.CallExpr:
		if u.Info.Types[x.Fun].IsType() {
			_, slice := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Slice)
			return slice && arrayLen(u.typeOf(x)) >= 0
		}
		return !u.safeBuiltin(x.Fun)
	}
	return false
}

// arrayLen returns the length of an array or of one that a pointer points to, or -1 for other types.
func arrayLen(t types.Type) int64 {
	t = orInvalid(t).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	if a, ok := t.(*types.Array); ok {
		return a.Len()
	}
	return -1
}
