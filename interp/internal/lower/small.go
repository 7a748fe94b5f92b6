package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// nilOperands puts nil on the right of comparisons. Yaegi takes its type from the left operand:
//
//	nil != v    v != nil
func (u *Unit) nilOperands() {
	u.eachOf(isA[*ast.BinaryExpr], func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.BinaryExpr)
		if ok && (x.Op == token.EQL || x.Op == token.NEQ) && u.isNil(x.X) {
			x.X, x.Y = x.Y, x.X
		}
	})
}

// bareTypes removes the parentheses around types. Yaegi fails for them in declarations.
//
//	var c (<-chan int)    var c <-chan int
//
// They stay where the syntax needs them.
func (u *Unit) bareTypes() {
	u.eachOf(isA[*ast.ParenExpr], func(c *astutil.Cursor) {
		p, ok := c.Node().(*ast.ParenExpr)
		if !ok || !u.Info.Types[p].IsType() {
			return
		}
		switch n := c.Parent().(type) {
		case *ast.CallExpr:
			if n.Fun == p {
				return
			}
		case *ast.SelectorExpr, *ast.ChanType:
			return
		}
		c.Replace(p.X)
	})
}

// shifts converts an untyped constant operand of a non-constant shift to the type that its
// context gives it: Yaegi would use int. It converts a computed count to its own type: Yaegi would compute it in
// that of the other operand.
func (u *Unit) shifts() {
	u.eachOf(isShift, func(c *astutil.Cursor) {
		if !isShift(c.Node()) {
			return
		}
		switch n := c.Node().(type) {
		case *ast.BinaryExpr:
			n.Y = u.shiftCount(n.X, n.Y)
			u.shiftOperand(n)
		case *ast.AssignStmt:
			n.Rhs[0] = u.shiftCount(n.Lhs[0], n.Rhs[0])
		}
	})
}

// isShift reports whether a node is a shift, or an assignment with one.
func isShift(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return n.Op == token.SHL || n.Op == token.SHR
	case *ast.AssignStmt:
		return n.Tok == token.SHL_ASSIGN || n.Tok == token.SHR_ASSIGN
	}
	return false
}

// shiftOperand converts the left operand of a shift if it is an untyped constant.
func (u *Unit) shiftOperand(x *ast.BinaryExpr) {
	tv := u.Info.Types[x]
	b, ok := orInvalid(tv.Type).Underlying().(*types.Basic)
	if !ok || tv.Value != nil || u.Info.Types[x.X].Value == nil {
		return
	}
	if b.Info()&types.IsUntyped != 0 { // a shift count
		tv.Type = types.Typ[types.Uint]
	}
	x.X = u.typed(call(u.typeExpr(x, tv.Type), x.X), tv.Type)
}

// shiftCount returns the count of a shift of x.
func (u *Unit) shiftCount(x, count ast.Expr) ast.Expr {
	t := u.typeOf(count)
	if b, ok := orInvalid(t).Underlying().(*types.Basic); !ok || b.Info()&types.IsUntyped != 0 || !u.operates(count) || types.Identical(t, u.typeOf(x)) {
		return count
	}
	return u.typed(call(u.typeExpr(count, t), count), t)
}

// tupleArguments spreads the results of a call that are the arguments of a built-in
// function.
func (u *Unit) tupleArguments() {
	u.each(func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.CallExpr)
		if !ok || len(x.Args) != 1 {
			return
		}
		if u.builtinName(x.Fun) == "" {
			return
		}
		results, ok := u.typeOf(x.Args[0]).(*types.Tuple)
		if !ok {
			return
		}
		all := &ast.AssignStmt{TokPos: x.Pos(), Tok: token.DEFINE, Rhs: x.Args}
		inner := &ast.CallExpr{Fun: x.Fun, Lparen: x.Lparen, Rparen: x.Rparen}
		for v := range results.Variables() {
			id := u.temp("v")
			all.Lhs = append(all.Lhs, id)
			inner.Args = append(inner.Args, u.typed(ident(id.Name), v.Type()))
		}
		lit := &ast.FuncLit{
			Type: &ast.FuncType{
				Func: x.Pos(), Params: &ast.FieldList{},
			},
			Body: block(all, expr(inner)),
		}
		if u.Info.Types[x].IsValue() {
			lit.Type.Results = &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(x, u.typeOf(x))}}}
			lit.Body.List[1] = &ast.ReturnStmt{Results: []ast.Expr{u.as(inner, x)}}
		}
		c.Replace(u.as(call(lit), x))
	})
}

// droppedValues assigns unused values to variables: Yaegi has no memory for the results of
// unused comparisons, and does not evaluate other unused values, which may fail.
func (u *Unit) droppedValues() {
	u.each(func(c *astutil.Cursor) {
		a, ok := c.Node().(*ast.AssignStmt)
		if !ok || a.Tok != token.ASSIGN || len(a.Rhs) != 1 || c.Index() < 0 {
			return
		}
		for _, e := range a.Lhs {
			if !isBlank(e) {
				return
			}
		}
		switch x := ast.Unparen(a.Rhs[0]).(type) {
		case *ast.Ident, *ast.BasicLit, *ast.FuncLit, *ast.CallExpr:
			return
		default:
			if u.Info.Types[x].Value != nil {
				return
			}
		}
		vars := &ast.AssignStmt{TokPos: a.TokPos, Tok: token.DEFINE, Rhs: a.Rhs}
		use := &ast.AssignStmt{Lhs: a.Lhs, Tok: token.ASSIGN}
		for range a.Lhs {
			v := u.temp("v")
			vars.Lhs = append(vars.Lhs, v)
			use.Rhs = append(use.Rhs, ident(v.Name))
		}
		c.InsertBefore(vars)
		c.Replace(use)
	})
}

// arrayLengths takes the length of an array behind a pointer from the type: the pointer
// may be nil. An array without elements gets the index 0, which the compiler names in the panic.
func (u *Unit) arrayLengths() {
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.RangeStmt:
			p, length := arrayBehind(u.typeOf(n.X))
			if a, ok := orInvalid(u.typeOf(n.X)).Underlying().(*types.Array); ok {
				p, length = a, a.Len()
			}
			if p == nil || n.Value != nil && !isBlank(n.Value) {
				return
			}
			x := Int(length)
			if hasCall(n.X) {
				x = lengthOf(n.X, u.typeExpr(n, p), length) // evaluated once
			}
			n.X, n.Value = u.typed(x, types.Typ[types.Int]), nil
		case *ast.CallExpr:
			if len(n.Args) != 1 || !u.isBuiltin(n.Fun, "len") && !u.isBuiltin(n.Fun, "cap") {
				return
			}
			p, length := arrayBehind(u.typeOf(n.Args[0]))
			if p == nil {
				return
			}
			c.Replace(u.as(lengthOf(n.Args[0], u.typeExpr(n, p), length), n))
		case *ast.IndexExpr:
			if t := orInvalid(u.typeOf(n.X)); !isPointer(t) && arrayLen(t) == 0 && inRegisters(t) && u.isOperand(n, c) {
				n.Index = u.typed(lengthOf(n.Index, u.typeExpr(n, u.typeOf(n.Index)), 0), types.Typ[types.Int])
			}
		}
	})
}

// isOperand reports whether an element of an array is a value, and not part of a place.
func (u *Unit) isOperand(x *ast.IndexExpr, c *astutil.Cursor) bool {
	switch p := c.Parent().(type) {
	case *ast.AssignStmt:
		return c.Name() != "Lhs"
	case *ast.UnaryExpr:
		return p.Op != token.AND
	case *ast.IndexExpr:
		return p.X != x || inRegisters(u.typeOf(x))
	case *ast.SliceExpr:
		return p.X != x
	case *ast.RangeStmt:
		return p.X == x
	case *ast.IncDecStmt, *ast.SelectorExpr:
		return false
	}
	return true
}

// lengthOf evaluates x and returns a length.
func lengthOf(x, t ast.Expr, length int64) ast.Expr {
	return call(&ast.FuncLit{
		Type: &ast.FuncType{
			Func:    x.Pos(),
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("_")}, Type: t}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: ident("int")}}},
		},
		Body: block(&ast.ReturnStmt{Results: []ast.Expr{Int(length)}}),
	}, x)
}

// arrayBehind returns a pointer's type and the length of the array that it points to;
// nil if t is not such a pointer.
func arrayBehind(t types.Type) (types.Type, int64) {
	p, ok := orInvalid(t).Underlying().(*types.Pointer)
	if !ok {
		return nil, 0
	}
	a, ok := p.Elem().Underlying().(*types.Array)
	if !ok {
		return nil, 0
	}
	return t, a.Len()
}

// hasCall reports whether an expression contains a call or a receive.
func hasCall(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// prints replaces print and println by support functions that write the same as compiled
// code.
func (u *Unit) prints() {
	u.eachOf(u.callsBuiltin("print", "println"), func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.CallExpr)
		if !ok {
			return
		}
		name := map[string]string{"print": "Print", "println": "Println"}[u.builtinName(x.Fun)]
		if name == "" {
			return
		}
		u.imports = true
		args := []ast.Expr{}
		for _, a := range x.Args {
			t := u.typeOf(a)
			if _, isParam := types.Unalias(t).(*types.TypeParam); t != nil && types.IsInterface(t) && !isParam {
				a = Support("Iface", a)
			}
			args = append(args, a)
		}
		y := Support(name, args...)
		y.Lparen, y.Rparen, y.Ellipsis = x.Lparen, x.Rparen, x.Ellipsis
		c.Replace(u.as(y, x))
	})
}
