package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// parallelAssigns evaluates the operands on the left of an assignment before it assigns
// anything, if one of them is assigned: i, x[i] = 1, 2 sets the element at the old i.
// The results of a call go through variables if one is assigned to a map element or
// through the result of another call: Yaegi loses them. An assignment that contains nil
// becomes one for each variable: Yaegi panics. An assignment in the head of a statement
// becomes a call of a literal, because no statement can precede it.
func (u *Unit) parallelAssigns() {
	u.each(func(c *astutil.Cursor) {
		switch s := c.Node().(type) {
		case *ast.ForStmt:
			u.parallelClause(&s.Init)
			u.parallelClause(&s.Post)
		case *ast.IfStmt:
			u.parallelClause(&s.Init)
		case *ast.SwitchStmt:
			u.parallelClause(&s.Init)
		}
		u.parallelAssign(c)
	})
}

// parallelClause is parallelAssign for an assignment in the head of a statement.
func (u *Unit) parallelClause(s *ast.Stmt) {
	a, ok := (*s).(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN || len(a.Lhs) < 2 {
		return
	}
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: a.Pos(), Params: &ast.FieldList{}}, Body: block(a)}
	astutil.Apply(lit.Body, nil, u.parallelAssign)
	if len(lit.Body.List) > 1 {
		*s = expr(calledFrom(a.Pos(), call(lit)))
	}
}

func (u *Unit) parallelAssign(c *astutil.Cursor) bool {
	a, ok := c.Node().(*ast.AssignStmt)
	if !ok || a.Tok != token.ASSIGN && a.Tok != token.DEFINE || len(a.Lhs) < 2 || c.Index() < 0 {
		return true
	}
	results, _ := u.typeOf(a.Rhs[0]).(*types.Tuple)
	spread := results != nil && len(a.Rhs) == 1 && results.Len() == len(a.Lhs) && u.lost(a.Lhs)
	late := len(a.Rhs) > 1 && (u.late(a) || a.Tok == token.ASSIGN && slices.ContainsFunc(a.Rhs, u.dropsOthers))
	if a.Tok == token.DEFINE {
		spread, late = false, late && slices.ContainsFunc(a.Lhs, isBlank)
	}
	split := len(a.Rhs) > 1 && slices.ContainsFunc(a.Rhs, func(e ast.Expr) bool { return u.Info.Types[ast.Unparen(e)].IsNil() })
	late = late || split
	if !spread && !late && (a.Tok == token.DEFINE || !u.interferes(a)) {
		return true
	}
	var before []ast.Stmt
	keep := func(e ast.Expr) ast.Expr {
		if u.Info.Types[e].Value == nil {
			before = append(before, u.keep(&e))
		}
		return e
	}
	for i, e := range a.Lhs {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			n := *x
			if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); !array {
				n.X = keep(x.X)
			}
			n.Index = keep(x.Index)
			a.Lhs[i] = u.as(&n, x)
		case *ast.SelectorExpr:
			if s := u.Info.Selections[x]; s != nil && isPointer(s.Recv()) {
				n := *x
				n.X = keep(x.X)
				u.Info.Selections[&n] = s
				a.Lhs[i] = u.as(&n, x)
			}
		case *ast.StarExpr:
			n := *x
			n.X = keep(x.X)
			a.Lhs[i] = u.as(&n, x)
		}
	}
	if late {
		for i, e := range a.Rhs {
			if tv := u.Info.Types[e]; tv.Value == nil && !tv.IsNil() {
				before = append(before, u.keep(&a.Rhs[i]))
			}
		}
	}
	if spread {
		all := &ast.AssignStmt{TokPos: a.TokPos, Tok: token.DEFINE, Rhs: a.Rhs}
		a.Rhs = nil
		for v := range results.Variables() {
			id := u.temp("r")
			all.Lhs = append(all.Lhs, id)
			a.Rhs = append(a.Rhs, u.typed(ident(id.Name), v.Type()))
		}
		before = append(before, all)
	}
	if split {
		last := len(a.Lhs) - 1
		for i := range last {
			before = append(before, u.part(a, i))
		}
		*a = *u.part(a, last)
	}
	for _, st := range before {
		c.InsertBefore(st)
	}
	return true
}

// appendedResults keeps the results of a return statement in variables if two of them are
// calls of append: Yaegi returns the last one for all.
func (u *Unit) appendedResults() {
	u.each(func(c *astutil.Cursor) {
		r, ok := c.Node().(*ast.ReturnStmt)
		if !ok || c.Index() < 0 {
			return
		}
		appends := 0
		for _, e := range r.Results {
			if x, ok := ast.Unparen(e).(*ast.CallExpr); ok && u.isBuiltin(x.Fun, "append") {
				appends++
			}
		}
		if appends < 2 {
			return
		}
		for i, e := range r.Results {
			if tv := u.Info.Types[e]; tv.Value == nil && !tv.IsNil() {
				c.InsertBefore(u.keep(&r.Results[i]))
			}
		}
	})
}

// part returns the assignment of one of a's values.
func (u *Unit) part(a *ast.AssignStmt, i int) *ast.AssignStmt {
	p := &ast.AssignStmt{Lhs: a.Lhs[i : i+1], TokPos: a.TokPos, Tok: token.ASSIGN, Rhs: a.Rhs[i : i+1]}
	if id, ok := a.Lhs[i].(*ast.Ident); ok && a.Tok == token.DEFINE && u.Info.Defs[id] != nil {
		p.Tok = token.DEFINE
	}
	return p
}

// lost reports whether Yaegi would lose a call's result.
func (u *Unit) lost(list []ast.Expr) bool {
	for _, e := range list {
		switch x := ast.Unparen(e).(type) {
		case *ast.IndexExpr:
			if _, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Map); ok {
				return true
			}
		case *ast.StarExpr:
			if hasCall(x.X) {
				return true
			}
		}
	}
	return false
}

// dropsOthers reports whether Yaegi does not assign the operands next to an expression:
// a call that is not a conversion, or a composite literal.
func (u *Unit) dropsOthers(e ast.Expr) bool {
	x := ast.Unparen(e)
	if a, ok := x.(*ast.UnaryExpr); ok && a.Op == token.AND {
		x = ast.Unparen(a.X)
	}
	switch x := x.(type) {
	case *ast.CallExpr:
		return !u.Info.Types[x.Fun].IsType()
	case *ast.CompositeLit:
		return true
	}
	return false
}

// late reports whether a value would be evaluated after another has been assigned: a
// call may observe that, and Yaegi does not evaluate unused values.
func (u *Unit) late(a *ast.AssignStmt) bool {
	for i, e := range a.Rhs {
		var risks []token.Pos
		if u.risks(e, &risks); len(risks) > 0 && (isBlank(a.Lhs[i]) || u.callsBack(e)) {
			return true
		}
	}
	return false
}

// interferes reports whether an assignment changes a variable that another operand on
// its left uses.
func (u *Unit) interferes(a *ast.AssignStmt) bool {
	set := map[types.Object]bool{}
	for _, e := range a.Lhs {
		if id, ok := ast.Unparen(e).(*ast.Ident); ok {
			if o := u.objectOf(id); o != nil {
				set[o] = true
			}
		}
	}
	found := false
	for _, e := range a.Lhs {
		if _, ok := ast.Unparen(e).(*ast.Ident); ok {
			continue
		}
		ast.Inspect(e, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && set[u.objectOf(id)] {
				found = true
			}
			return !found
		})
	}
	return found
}

// parallelLiterals moves the composite literals of parallel assignments into functions:
// Yaegi's literal clears the results of a call next to it.
func (u *Unit) parallelLiterals() {
	wrap := func(list []ast.Expr) {
		if len(list) < 2 {
			return
		}
		for i, e := range list {
			lit := ast.Unparen(e)
			if a, ok := lit.(*ast.UnaryExpr); ok && a.Op == token.AND {
				lit = ast.Unparen(a.X)
			}
			if _, ok := lit.(*ast.CompositeLit); !ok {
				continue
			}
			f := &ast.FuncLit{
				Type: &ast.FuncType{
					Func: e.Pos(), Params: &ast.FieldList{},
					Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(e, u.typeOf(e))}}},
				},
				Body: block(&ast.ReturnStmt{Results: []ast.Expr{e}}),
			}
			list[i] = u.as(call(f), e)
		}
	}
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			wrap(n.Rhs)
		case *ast.ValueSpec:
			wrap(n.Values)
		}
	})
}
