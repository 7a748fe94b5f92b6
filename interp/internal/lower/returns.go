package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// returns keeps the operands of return statements that calls and literals make. In Yaegi a call in
// a return statement writes its result to a place that depends on the function, and a result of
// a named type takes the operand as the tree of that type.
func (u *Unit) returns() {
	for _, d := range u.File.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok && u.Generated[fd] {
			funcsOf(fd, func(_ ast.Node, t *ast.FuncType, body *ast.BlockStmt) { u.generatedReturn(t, body) })
		}
	}
	u.funcs(func(_ ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
		if t.Results.NumFields() == 0 {
			return
		}
		results, deferring := u.fieldTypes(t.Results), defers(body)
		named := deferring && len(u.resultVars(t)) > 0 // the first value changes a variable that the second may use
		u.inside(body, func(c *astutil.Cursor) {
			r, ok := c.Node().(*ast.ReturnStmt)
			if !ok || len(r.Results) == 0 {
				return
			}
			var before []ast.Stmt
			several := len(results) > 1
			switch {
			case len(r.Results) < len(results):
				before = u.keepResults(r)
			case several && (named || deferring && slices.ContainsFunc(r.Results, u.fails)) || namesFunc(r.Results, results):
				for i := range r.Results { // which come before variables that are read
					before = append(before, u.keepCalls(&r.Results[i])...)
				}
				before = append(before, u.keepAll(r.Results, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return !ok || u.objectOf(id) != nil })...)
			case several:
				displaced := slices.ContainsFunc(r.Results, u.displaces)
				before = u.keepAll(r.Results, func(e ast.Expr) bool { return displaced && u.makes(e) || u.callsAnyBuiltin(e) })
			case shared(results[0]):
				before = u.keepAll(r.Results, func(e ast.Expr) bool { return u.displaces(e) || isNamed(results[0]) && u.makes(e) })
			}
			for i, t := range results { // Yaegi computes an operation in the place of the result
				if u.isInterface(t) && len(r.Results) == len(results) {
					before = append(before, u.keepAll(r.Results[i:i+1], u.operates)...)
				}
			}
			switch {
			case len(before) == 0:
			case c.Index() < 0:
				c.Replace(block(append(before, r)...))
			default:
				for _, st := range before {
					c.InsertBefore(st)
				}
			}
		})
	})
}

// generatedReturn keeps what a generated function returns, which is the last statement of the body, if the one result is of
// a named type: Yaegi would take the call for the tree of the type.
func (u *Unit) generatedReturn(t *ast.FuncType, body *ast.BlockStmt) {
	if t.Results.NumFields() != 1 || len(body.List) == 0 {
		return
	}
	result, last := u.typeOf(t.Results.List[0].Type), len(body.List)-1
	if r, ok := body.List[last].(*ast.ReturnStmt); ok && result != nil && isNamed(result) && shared(result) && u.makes(r.Results[0]) {
		body.List = append(body.List[:last:last], u.keep(&r.Results[0]), r)
	}
}

// namesFunc reports whether a value of a named func type is given by more than a name.
func namesFunc(list []ast.Expr, results []types.Type) bool {
	for i, e := range list {
		if _, ok := orInvalid(results[i]).Underlying().(*types.Signature); ok && isNamed(results[i]) && !isA[*ast.Ident](ast.Unparen(e)) {
			return true
		}
	}
	return false
}

// callsAnyBuiltin reports whether an expression is a call of a built-in function, which writes to the first result whatever
// its place in the statement.
func (u *Unit) callsAnyBuiltin(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.CallExpr)
	return ok && u.builtinName(x.Fun) != ""
}

// keepResults keeps the results of the one call in a return statement of several results, unless
// that is a call of a declared function.
func (u *Unit) keepResults(r *ast.ReturnStmt) (before []ast.Stmt) {
	results, ok := u.typeOf(r.Results[0]).(*types.Tuple)
	if !ok || !u.displaces(r.Results[0]) {
		return nil
	}
	r.Results = u.spread(r.Results[0], results, &before)
	return before
}

// displaces reports whether a value may be lost in a return statement of Yaegi: whether it holds a
// call of code of cells, a call of append, a receive operation or a literal.
func (u *Unit) displaces(e ast.Expr) bool {
	return u.holds(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			return !u.harmless(n) || u.isBuiltin(n.Fun, "append")
		case *ast.UnaryExpr:
			return n.Op == token.ARROW
		}
		return false
	})
}

// fails reports whether the evaluation of an expression may panic.
func (u *Unit) fails(e ast.Expr) bool {
	var risks []token.Pos
	u.risks(e, &risks)
	return len(risks) > 0
}

// shared reports whether Yaegi keeps the tree of an operand in values of a type.
func shared(t types.Type) bool {
	switch orInvalid(t).Underlying().(type) {
	case *types.Interface, *types.Signature:
		return true
	}
	return false
}

func isNamed(t types.Type) bool { _, ok := types.Unalias(t).(*types.Named); return ok }
