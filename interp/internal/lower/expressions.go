package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// operandPlace returns the place of an operand without its parentheses.
func operandPlace(e *ast.Expr) *ast.Expr {
	for {
		p, ok := (*e).(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = &p.X
	}
}

// simple reports whether an expression has no operations: a name, a constant, a type or a function.
func (u *Unit) simple(e ast.Expr) bool {
	tv := u.Info.Types[e]
	if tv.Value != nil || tv.IsType() || tv.IsNil() || u.written[e] != nil {
		return true
	}
	switch x := e.(type) {
	case *ast.Ident, *ast.BasicLit, *ast.FuncLit, *ast.IndexListExpr:
		return true
	case *ast.IndexExpr:
		return u.isGeneric(x.X)
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		return s == nil || s.Kind() == types.MethodExpr
	}
	return false
}

// parts returns the places of the operands of an operation.
func (u *Unit) parts(e ast.Expr) (list []*ast.Expr) {
	switch x := e.(type) {
	case *ast.BinaryExpr:
		return []*ast.Expr{&x.X, &x.Y}
	case *ast.UnaryExpr:
		if x.Op != token.AND {
			return []*ast.Expr{&x.X}
		}
		return u.placeParts(&x.X)
	case *ast.StarExpr:
		return []*ast.Expr{&x.X}
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		if s.Kind() == types.MethodVal && isPointer(s.Obj().(*types.Func).Signature().Recv().Type()) && !isPointer(orInvalid(u.typeOf(x.X))) {
			return u.placeParts(&x.X)
		}
		return []*ast.Expr{&x.X}
	case *ast.IndexExpr:
		return []*ast.Expr{&x.X, &x.Index}
	case *ast.SliceExpr:
		list = []*ast.Expr{&x.X}
		if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); array {
			list = u.placeParts(&x.X)
		}
		for _, b := range []*ast.Expr{&x.Low, &x.High, &x.Max} {
			if *b != nil {
				list = append(list, b)
			}
		}
	case *ast.TypeAssertExpr:
		return []*ast.Expr{&x.X}
	case *ast.CallExpr:
		list = u.calleeParts(x)
		for i := range x.Args {
			list = append(list, &x.Args[i])
		}
	case *ast.CompositeLit:
		for i, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); !ok {
				list = append(list, &x.Elts[i])
			} else if u.isMap(x) {
				list = append(list, &kv.Key, &kv.Value)
			} else {
				list = append(list, &kv.Value)
			}
		}
	}
	return list
}

// placeParts returns the places of the operands that lead to a variable.
func (u *Unit) placeParts(e *ast.Expr) []*ast.Expr {
	e = operandPlace(e)
	switch x := (*e).(type) {
	case *ast.Ident:
		return nil
	case *ast.StarExpr:
		return []*ast.Expr{&x.X}
	case *ast.CompositeLit:
		return u.parts(x)
	case *ast.IndexExpr:
		if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); array {
			return append(u.placeParts(&x.X), &x.Index)
		}
		return []*ast.Expr{&x.X, &x.Index}
	case *ast.SelectorExpr:
		if s := u.Info.Selections[x]; s == nil {
			return nil
		} else if s.Kind() == types.FieldVal && !isPointer(orInvalid(u.typeOf(x.X))) {
			return u.placeParts(&x.X)
		}
		return []*ast.Expr{&x.X}
	}
	return []*ast.Expr{e}
}

// calleeParts returns the places of the operands that lead to the function of a call.
func (u *Unit) calleeParts(x *ast.CallExpr) []*ast.Expr {
	f := operandPlace(&x.Fun)
	if u.Info.Types[*f].IsType() || u.simple(*f) {
		return nil
	}
	if sel, ok := (*f).(*ast.SelectorExpr); ok && u.Info.Selections[sel].Kind() == types.MethodVal {
		return u.parts(sel)
	}
	return []*ast.Expr{f}
}

// keptCallee reports whether the compiler has the function of a call, or the interface whose method it is, before the arguments, because a call or a receive operation
// leads to it (cmd/compile/internal/typecheck, RewriteNonNameCall).
func (u *Unit) keptCallee(x *ast.CallExpr) bool {
	if u.methodOf(x) != nil { // the receiver is the first argument
		return false
	}
	return slices.ContainsFunc(u.calleeParts(x), func(o *ast.Expr) bool { return u.containsCall(*o, true) })
}

// containsCall reports whether an operand contains a call or a receive operation, which the compiler makes before it computes other operands.
// Calls of built-in functions count if builtins is true.
func (u *Unit) containsCall(e ast.Expr, builtins bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			tv := u.Info.Types[n]
			found = found || tv.Value == nil && !u.Info.Types[n.Fun].IsType() && !u.isBuiltin(n.Fun, "new") && (builtins || u.builtinName(n.Fun) == "")
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}

// methodOf returns the declared method that a call is of, whose receiver is its first argument, or nil.
func (u *Unit) methodOf(x *ast.CallExpr) *ast.SelectorExpr {
	sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	s := u.Info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal || types.IsInterface(s.Obj().(*types.Func).Signature().Recv().Type()) {
		return nil
	}
	return sel
}

// argType returns the type of an argument of a call, or nil if the argument keeps its type.
func (u *Unit) argType(x *ast.CallExpr, i int) types.Type {
	switch u.builtinName(x.Fun) {
	case "":
	case "append":
		if s, ok := orInvalid(u.typeOf(x)).Underlying().(*types.Slice); ok && i > 0 && !x.Ellipsis.IsValid() {
			return s.Elem()
		}
		return nil
	case "panic":
		return anyType
	case "delete":
		if m, ok := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Map); ok && i == 1 {
			return m.Key()
		}
		return nil
	default:
		return nil
	}
	if t := u.Info.Types[x.Fun]; t.IsType() {
		return t.Type
	}
	sig, ok := orInvalid(u.typeOf(x.Fun)).Underlying().(*types.Signature)
	if !ok || sig.Params().Len() == 0 || x.Ellipsis.IsValid() && i == len(x.Args)-1 {
		return nil
	}
	return paramType(sig, i)
}

// boxes reports whether a value is put into an interface of type to.
func (u *Unit) boxes(e ast.Expr, to types.Type) bool {
	tv := u.Info.Types[e]
	return to != nil && types.IsInterface(to) && tv.Type != nil && !isTupleType(tv.Type) && !tv.IsNil() && tv.Value == nil && !types.Identical(tv.Type, to)
}

// elementType returns the type of the element of a literal at an index.
func (u *Unit) elementType(lit *ast.CompositeLit, i int) types.Type {
	t := orInvalid(u.typeOf(lit)).Underlying()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem().Underlying()
	}
	switch t := t.(type) {
	case *types.Slice:
		return t.Elem()
	case *types.Array:
		return t.Elem()
	case *types.Struct:
		kv, ok := lit.Elts[i].(*ast.KeyValueExpr)
		if !ok {
			return t.Field(i).Type()
		}
		for f := range t.Fields() {
			if id, ok := kv.Key.(*ast.Ident); ok && f.Name() == id.Name {
				return f.Type()
			}
		}
	}
	return nil
}

// compared returns the type in which two operands are compared.
func (u *Unit) compared(x *ast.BinaryExpr) types.Type {
	a, b := orInvalid(u.typeOf(x.X)), orInvalid(u.typeOf(x.Y))
	if types.IsInterface(b) {
		return b
	}
	return a
}

func isComparison(op token.Token) bool {
	switch op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return true
	}
	return false
}

// terms returns the places of the operands of a sum of strings.
func (u *Unit) terms(e *ast.Expr) []*ast.Expr {
	e = operandPlace(e)
	if x, ok := (*e).(*ast.BinaryExpr); ok && x.Op == token.ADD && !u.simple(x) {
		return append(u.terms(&x.X), u.terms(&x.Y)...)
	}
	return []*ast.Expr{e}
}
