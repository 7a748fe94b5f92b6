package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// keep replaces an operand by a variable, and returns the statement that sets it.
func (u *Unit) keep(e *ast.Expr) ast.Stmt {
	v := u.temp("o")
	t := types.Default(orInvalid(u.typeOf(*e)))
	st := &ast.AssignStmt{Lhs: []ast.Expr{v}, TokPos: (*e).Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{u.alone(*e, t)}}
	*e = u.typed(ident(v.Name), t)
	return st
}

// alone writes an expression for a separate place: with the type that it has from the expression around it.
func (u *Unit) alone(e ast.Expr, t types.Type) ast.Expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		if x.Type != nil {
			break
		}
		if p, ok := t.Underlying().(*types.Pointer); ok {
			x.Type = u.typeExpr(x, p.Elem())
			u.typed(x, p.Elem())
			return u.typed(&ast.UnaryExpr{OpPos: x.Pos(), Op: token.AND, X: x}, t)
		}
		x.Type = u.typeExpr(x, t)
	case *ast.BinaryExpr:
		if (x.Op == token.SHL || x.Op == token.SHR) && u.Info.Types[x.X].Value != nil && !types.Identical(t, types.Typ[types.Int]) {
			return u.typed(call(u.typeExpr(x, t), e), t)
		}
	}
	return e
}

// keepAll keeps the operands for which want is true and which are not constants.
func (u *Unit) keepAll(list []ast.Expr, want func(ast.Expr) bool) (before []ast.Stmt) {
	for i, e := range list {
		if tv := u.Info.Types[e]; tv.Value == nil && !tv.IsNil() && want(e) {
			before = append(before, u.keep(&list[i]))
		}
	}
	return before
}

// keepCalls keeps what the Go compiler computes before it reads variables that stand next to it in an operand, in its order: the results of
// calls, of the built-in functions too, receive operations, slices, assertions, and literals of maps.
func (u *Unit) keepCalls(e *ast.Expr) (before []ast.Stmt) {
	around := &ast.ParenExpr{X: *e}
	keep := func(c *astutil.Cursor) {
		x := c.Node().(ast.Expr)
		before = append(before, u.keep(&x))
		c.Replace(x)
	}
	astutil.Apply(around, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			if (n.Op == token.LAND || n.Op == token.LOR) && u.acts(n) { // the right operand may not be evaluated
				keep(c)
				return false
			}
		}
		return true
	}, func(c *astutil.Cursor) bool {
		if e, ok := c.Node().(ast.Expr); ok && u.early(e) {
			keep(c)
		}
		return true
	})
	*e = around.X
	return before
}

// early reports whether the Go compiler computes an expression before it reads variables next to it.
func (u *Unit) early(e ast.Expr) bool {
	tv := u.Info.Types[e]
	if tv.Value != nil || isTupleType(tv.Type) || tv.Type == nil {
		return false
	}
	switch x := e.(type) {
	case *ast.CallExpr:
		return !u.Info.Types[x.Fun].IsType()
	case *ast.UnaryExpr:
		return x.Op == token.ARROW
	case *ast.SliceExpr, *ast.TypeAssertExpr:
		return true
	}
	return false
}

// isEntry reports whether a place is an entry of a map, whose key comes after the right side of an assignment.
func (u *Unit) isEntry(place ast.Expr) bool {
	x, ok := ast.Unparen(place).(*ast.IndexExpr)
	return ok && u.isMap(x.X)
}

// acts reports whether an expression does more than compute a value of operands: whether it
// calls a function or receives.
func (u *Unit) acts(e ast.Expr) bool {
	return u.holds(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !u.pure(n)
		case *ast.UnaryExpr:
			return n.Op == token.ARROW
		}
		return false
	})
}

// makes reports whether an expression acts, asserts or holds a literal.
func (u *Unit) makes(e ast.Expr) bool {
	return u.acts(e) || u.holds(e, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.CompositeLit, *ast.FuncLit, *ast.TypeAssertExpr:
			return true
		}
		return false
	})
}

// holds reports whether is is true of a node of e, apart from those in function literals.
func (u *Unit) holds(e ast.Expr, is func(ast.Node) bool) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		found = found || n != nil && is(n)
		_, lit := n.(*ast.FuncLit)
		return !found && !lit
	})
	return found
}

// pure reports whether a call is a conversion or the length or capacity of a value.
func (u *Unit) pure(x *ast.CallExpr) bool {
	switch u.builtinName(x.Fun) {
	case "len", "cap", "real", "imag", "complex", "min", "max":
		return true
	}
	return u.Info.Types[x.Fun].IsType()
}

func isBlank(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "_"
}

// after puts statements before a switch or a loop.
func (u *Unit) after(n ast.Stmt, before ...ast.Stmt) ast.Stmt {
	b := block(append(before, n)...)
	u.preceded[b] = true
	return b
}

// relabel moves a label of statements that after has joined to the last one.
func (u *Unit) relabel(c *astutil.Cursor, l *ast.LabeledStmt) {
	if b, ok := l.Stmt.(*ast.BlockStmt); ok && u.preceded[b] {
		last := len(b.List) - 1
		l.Stmt, b.List[last] = b.List[last], l
		c.Replace(b)
	}
}
