package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// keep replaces an operand by a variable, and returns the statement that sets it.
func (u *Unit) keep(e *ast.Expr) ast.Stmt {
	v := u.temp("o")
	st := &ast.AssignStmt{Lhs: []ast.Expr{v}, TokPos: (*e).Pos(), Tok: token.DEFINE, Rhs: []ast.Expr{*e}}
	t := types.Default(orInvalid(u.typeOf(*e)))
	*e = u.typed(ident(v.Name), t)
	return st
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
		case *ast.CompositeLit:
			if u.isMap(n) {
				before = append(before, u.keepEntries(n)...)
				return false
			}
		case *ast.SliceExpr: // bound by bound
			if n.Low != nil && u.fails(n.Low) && u.holdsEarly(n.High, n.Max) {
				before = append(append(before, u.keepCalls(&n.X)...), u.keepCalls(&n.Low)...)
				before = append(before, u.keep(&n.Low))
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

// keepEntries keeps the keys and values of a literal of a map: the Go compiler sets one entry after the other.
func (u *Unit) keepEntries(lit *ast.CompositeLit) (before []ast.Stmt) {
	keep := func(e *ast.Expr) {
		tv := u.Info.Types[*e]
		if tv.Value != nil || tv.IsNil() || tv.Type == nil || isA[*ast.FuncLit](*e) {
			return
		}
		if inner, ok := (*e).(*ast.CompositeLit); ok && inner.Type == nil {
			if isPointer(tv.Type) {
				return
			}
			inner.Type = u.typeExpr(inner, tv.Type)
		}
		before = append(before, u.keep(e))
	}
	late := lateKeys(u.typeOf(lit))
	for _, e := range lit.Elts {
		kv := e.(*ast.KeyValueExpr)
		before = append(before, u.keepCalls(&kv.Key)...)
		if !late {
			keep(&kv.Key)
		}
		before = append(before, u.keepCalls(&kv.Value)...)
		keep(&kv.Value)
		if late {
			keep(&kv.Key)
		}
	}
	return before
}

// lateKeys reports whether the Go compiler makes the calls of an entry's value before it computes the key: whether it passes keys of the type to the
// map in a register (cmd/compile/internal/walk, mapfast).
func lateKeys(t types.Type) bool {
	m, ok := t.Underlying().(*types.Map)
	if !ok || types.SizesFor("gc", "amd64").Sizeof(m.Elem()) > 128 {
		return false
	}
	switch k := m.Key().Underlying().(type) {
	case *types.Pointer, *types.Chan:
		return true
	case *types.Basic:
		return k.Info()&types.IsString != 0 || k.Info()&types.IsInteger != 0 && types.SizesFor("gc", "amd64").Sizeof(k) >= 4
	}
	return false
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

// holdsEarly reports whether the Go compiler computes a part of the expressions early; each may be nil.
func (u *Unit) holdsEarly(list ...ast.Expr) bool {
	return slices.ContainsFunc(list, func(e ast.Expr) bool {
		return e != nil && u.holds(e, func(n ast.Node) bool { e, ok := n.(ast.Expr); return ok && u.early(e) })
	})
}

// computed returns the operands that lead to a place and are more than variables and elements: the Go compiler computes them before the right
// side of an assignment, and the others and the place after it.
func computed(place *ast.Expr) []*ast.Expr {
	switch x := (*place).(type) {
	case *ast.ParenExpr:
		return computed(&x.X)
	case *ast.Ident, *ast.BasicLit:
		return nil
	case *ast.IndexExpr:
		return append(computed(&x.X), computed(&x.Index)...)
	case *ast.SelectorExpr:
		return computed(&x.X)
	case *ast.StarExpr:
		return computed(&x.X)
	}
	return []*ast.Expr{place}
}

// keyedLate reports whether a map literal has to be computed entry by entry: the Go compiler computes a value before its key, and Yaegi leaves
// out an entry whose value is behind a nil pointer.
func (u *Unit) keyedLate(n *ast.CompositeLit) bool {
	return u.isMap(n) && slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
		kv := e.(*ast.KeyValueExpr)
		return u.mayPanic(kv.Key) && u.mayPanic(kv.Value) || u.pointsTo(ast.Unparen(kv.Key)) || u.pointsTo(ast.Unparen(kv.Value))
	})
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
