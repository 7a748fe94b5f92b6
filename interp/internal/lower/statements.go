package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// returning is the function that a return statement leaves.
type returning struct {
	results []types.Type
	named   []types.Object // nil for a result without a name
	defers  bool
}

// returning finds the functions of return statements.
func (u *Unit) returning(fd *ast.FuncDecl) map[*ast.ReturnStmt]returning {
	all := map[*ast.ReturnStmt]returning{}
	funcsOf(fd, func(_ ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
		f := returning{results: u.fieldTypes(t.Results), defers: defers(body)}
		if t.Results != nil {
			f.named = make([]types.Object, len(f.results))
			for o, i := range u.resultVars(t) {
				f.named[i] = o
			}
		}
		ast.Inspect(body, func(n ast.Node) bool {
			if s, ok := n.(*ast.ReturnStmt); ok {
				all[s] = f
			}
			return !isA[*ast.FuncLit](n)
		})
	})
	return all
}

// mixed reports whether later rewrites compute the operands of a statement in another order: those of deferred and concurrent calls, of
// several places, and of several results some of which they keep.
func (u *Unit) mixed(s ast.Stmt) bool {
	switch s := s.(type) {
	case *ast.DeferStmt, *ast.GoStmt:
		return true
	case *ast.AssignStmt:
		return len(s.Lhs) > 1 && slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { return !isA[*ast.Ident](ast.Unparen(e)) })
	case *ast.ReturnStmt:
		return len(s.Results) > 1 && slices.ContainsFunc(s.Results, u.makes)
	}
	return false
}

// statement lists the operations of a statement in the order of the Go compiler, apart from the last.
func (q *sequence) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		if x, ok := ast.Unparen(s.X).(*ast.CallExpr); ok {
			q.orderCall(x)
			q.finishCall(x)
		} else {
			q.value(&s.X, nil)
		}
	case *ast.DeferStmt:
		q.laterCall(s.Call)
	case *ast.GoStmt:
		q.laterCall(s.Call)
	case *ast.SendStmt:
		elem := channelElem(q.u.typeOf(s.Chan))
		q.order(&s.Chan)
		q.orderAs(&s.Value, elem)
		if !q.u.addressable(s.Value) {
			q.finishAs(&s.Value, elem)
		}
		q.walkAs(&s.Value, elem)
		q.run(&s.Chan)
		q.run(&s.Value)
	case *ast.IncDecStmt:
		q.operation(&s.X, nil, s.Tok)
	case *ast.AssignStmt:
		switch {
		case s.Tok != token.ASSIGN && s.Tok != token.DEFINE:
			q.operation(&s.Lhs[0], &s.Rhs[0], s.Tok)
		case len(s.Rhs) == 1 && len(s.Lhs) == 1 && q.u.isEntry(s.Lhs[0]):
			q.entry(ast.Unparen(s.Lhs[0]).(*ast.IndexExpr), &s.Rhs[0])
		case len(s.Rhs) == len(s.Lhs):
			q.assign(s.Lhs, s.Rhs)
		default:
			q.several(s.Lhs, &s.Rhs[0])
		}
	case *ast.ReturnStmt:
		q.results(s)
	case *ast.RangeStmt:
		q.value(&s.X, nil)
	case *ast.IfStmt:
		q.value(&s.Cond, nil)
	case *ast.ForStmt:
		if s.Cond != nil {
			q.value(&s.Cond, nil)
		}
	case *ast.SwitchStmt:
		if s.Tag != nil {
			q.value(&s.Tag, nil)
		}
	case *ast.TypeSwitchStmt:
		q.value(switched(s), nil)
	case *ast.DeclStmt:
		if v := soleVar(s); v != nil && len(v.Values) == len(v.Names) {
			var names []ast.Expr
			for _, id := range v.Names {
				names = append(names, id)
			}
			q.assign(names, v.Values)
		} else if v != nil && len(v.Values) == 1 {
			q.several(nil, &v.Values[0])
		}
	}
}

// naturalStatement lists the operations of a statement, apart from the last, as Yaegi computes them.
func (q *sequence) naturalStatement(s ast.Stmt) {
	list := func(list []ast.Expr, to func(int) types.Type) {
		for i := range list {
			q.natural(&list[i])
			q.naturalAs(&list[i], to(i))
		}
	}
	switch s := s.(type) {
	case *ast.ExprStmt:
		q.naturalParts(s.X)
	case *ast.DeferStmt:
		q.naturalLater(s.Call)
	case *ast.GoStmt:
		q.naturalLater(s.Call)
	case *ast.SendStmt:
		q.natural(&s.Chan)
		q.natural(&s.Value)
		q.naturalAs(&s.Value, channelElem(q.u.typeOf(s.Chan)))
	case *ast.IncDecStmt:
		q.naturalPlace(&s.X)
	case *ast.AssignStmt:
		late := !q.computedEarly(s.Lhs[0])
		if len(s.Lhs) == 1 && s.Tok != token.DEFINE {
			q.naturalPlace(&s.Lhs[0])
			if !late || s.Tok != token.ASSIGN && isA[*ast.SelectorExpr](ast.Unparen(s.Lhs[0])) {
				late = false
				q.place(s.Lhs[0])
			}
		}
		if len(s.Lhs) != len(s.Rhs) {
			q.naturalParts(s.Rhs[0])
			return
		}
		list(s.Rhs, func(i int) types.Type { return q.u.typeOf(s.Lhs[i]) })
		if x, ok := ast.Unparen(s.Lhs[0]).(*ast.IndexExpr); ok && q.u.isMap(x.X) {
			q.variable(&x.Index)
		}
		q.divides(&s.Lhs[0], s.Rhs[0], s.Tok)
	case *ast.ReturnStmt:
		results := q.returns[s].results
		list(s.Results, func(i int) types.Type {
			if len(results) != len(s.Results) {
				return nil
			}
			return results[i]
		})
	case *ast.RangeStmt:
		q.natural(&s.X)
	case *ast.IfStmt:
		q.natural(&s.Cond)
	case *ast.ForStmt:
		if s.Cond != nil {
			q.natural(&s.Cond)
		}
	case *ast.SwitchStmt:
		if s.Tag != nil {
			q.natural(&s.Tag)
		}
	case *ast.TypeSwitchStmt:
		q.natural(switched(s))
	case *ast.DeclStmt:
		if v := soleVar(s); v != nil && len(v.Values) == len(v.Names) {
			list(v.Values, func(i int) types.Type { return q.u.typeOf(v.Names[i]) })
		} else if v != nil && len(v.Values) == 1 {
			q.naturalParts(v.Values[0])
		}
	}
}

func (q *sequence) naturalPlace(e *ast.Expr) {
	for _, o := range q.u.placeParts(e) {
		q.natural(o)
	}
	q.arrayPointer(ast.Unparen(*e))
}

// value lists the operations of an operand that is computed alone.
func (q *sequence) value(e *ast.Expr, to types.Type) {
	q.orderAs(e, to)
	q.finishAs(e, to)
}

// laterCall lists the operands of a deferred or concurrent call.
func (q *sequence) laterCall(x *ast.CallExpr) {
	q.orderCall(x)
	for _, o := range q.u.calleeParts(x) {
		q.finish(o)
	}
	q.calleeVariable(x)
	q.receiver(x)
	for i := range x.Args {
		q.finishAs(&x.Args[i], q.u.argType(x, i))
		q.variable(&x.Args[i])
	}
	q.missing(x)
}

// naturalLater is laterCall in the order of Yaegi, for which each operand gets a variable.
func (q *sequence) naturalLater(x *ast.CallExpr) {
	q.later = x
	q.calleeVariable(x)
	q.naturalParts(x)
}

// calleeVariable lists the use of a variable that holds the function of a call, or the receiver unless the method has its address.
func (q *sequence) calleeVariable(x *ast.CallExpr) {
	switch f := ast.Unparen(x.Fun).(type) {
	case *ast.Ident:
		q.variable(&x.Fun)
	case *ast.SelectorExpr:
		s := q.u.Info.Selections[f]
		if s == nil || s.Kind() != types.MethodVal {
			break
		}
		if recv := s.Obj().(*types.Func).Signature().Recv().Type(); !isPointer(recv) || isPointer(orInvalid(q.u.typeOf(f.X))) {
			q.variable(&f.X)
		}
	}
}

// operation lists the operations of x op= y.
func (q *sequence) operation(x, y *ast.Expr, op token.Token) {
	parts := q.u.placeParts(x)
	q.orderPlace(x)
	if y != nil {
		q.order(y)
	}
	if q.u.isEntry(*x) {
		division := op == token.QUO_ASSIGN || op == token.REM_ASSIGN
		if !division && y != nil {
			q.finish(y)
		}
		for _, o := range parts {
			q.finish(o)
		}
		if division {
			q.finish(y)
			q.divides(x, *y, op)
		}
		q.place(*x)
		return
	}
	for _, o := range parts {
		q.safe(o, true)
	}
	if y != nil {
		q.walk(y)
	}
	for _, o := range parts {
		q.run(o)
	}
	q.place(*x)
	if y != nil {
		q.run(y)
		q.divides(x, *y, op)
	}
}

// divides lists the division or shift that is part of an assignment.
func (q *sequence) divides(x *ast.Expr, y ast.Expr, op token.Token) {
	add := func(token.Pos) { q.steps = append(q.steps, step{nil, doesPanic, computes}) }
	switch op {
	case token.QUO_ASSIGN, token.REM_ASSIGN:
		q.u.division(*x, y, y.Pos(), add)
	case token.SHL_ASSIGN, token.SHR_ASSIGN:
		q.u.shift(*x, y, y.Pos(), add)
	}
}

// orderPlace is order for what leads to a place.
func (q *sequence) orderPlace(e *ast.Expr) {
	if x, ok := ast.Unparen(*e).(*ast.IndexExpr); ok && q.u.isMap(x.X) {
		q.order(&x.X)
		q.orderKey(&x.Index, q.u.typeOf(x.X))
		return
	}
	for _, o := range q.u.placeParts(e) {
		q.order(o)
	}
}

// entry lists the operations of the assignment to an entry of a map, whose key comes after the value.
func (q *sequence) entry(x *ast.IndexExpr, y *ast.Expr) {
	m := orInvalid(q.u.typeOf(x.X)).Underlying().(*types.Map)
	q.order(&x.X)
	q.orderKey(&x.Index, m)
	q.value(y, m.Elem())
	q.finish(&x.X)
	q.finishAs(&x.Index, m.Key())
	q.place(x)
}

// several lists the operations of an assignment of several values of one operation.
func (q *sequence) several(places []ast.Expr, e *ast.Expr) {
	for i := range places {
		q.orderPlace(&places[i])
	}
	e = operandPlace(e)
	if x, ok := (*e).(*ast.CallExpr); ok {
		q.orderCall(x)
		q.finishCall(x)
	} else {
		for _, o := range q.u.parts(*e) {
			q.order(o)
		}
		if x, ok := (*e).(*ast.IndexExpr); ok {
			q.orderKey(&x.Index, q.u.typeOf(x.X))
		}
		for _, o := range q.u.parts(*e) {
			q.finish(o)
		}
	}
	if !slices.ContainsFunc(places, func(e ast.Expr) bool { return !isA[*ast.Ident](ast.Unparen(e)) }) {
		return
	}
	q.steps = append(q.steps, step{nil, q.effects(*e), stays})
	for i := range places {
		for _, o := range q.u.placeParts(&places[i]) {
			q.finish(o)
		}
		q.place(places[i])
	}
}

// assign lists the operations of an assignment of values to as many places.
func (q *sequence) assign(places, values []ast.Expr) {
	for i := range places {
		q.orderPlace(&places[i])
	}
	for i := range values {
		q.orderAs(&values[i], q.u.typeOf(places[i]))
	}
	set := written{vars: map[types.Object]bool{}}
	for i := range places {
		for _, o := range q.u.placeParts(&places[i]) {
			if q.affected(o, set) {
				q.finish(o)
			}
		}
		if q.affected(&values[i], set) {
			q.finishAs(&values[i], q.u.typeOf(places[i]))
		}
		id, ok := ast.Unparen(places[i]).(*ast.Ident)
		switch {
		case !ok || q.varies(places[i]):
			set.memory = true
		case !isBlank(id):
			set.vars[q.u.objectOf(id)] = true
		}
	}
	for i := range places {
		parts := q.u.placeParts(&places[i])
		for _, o := range parts {
			q.safe(o, true)
		}
		q.finishAs(&values[i], q.u.typeOf(places[i]))
		for j, o := range parts {
			q.run(o)
			if j == 0 {
				q.arrayPointer(ast.Unparen(places[i]))
			}
		}
		if len(places) > 1 || !q.failsBefore(places[0]) {
			q.place(places[i])
		}
	}
}

// failsBefore reports whether the first operation that shows fails where a place does not exist, in the same line: then their order does not show.
//
//	xs[i] = xs[i] + 1    p.x = p.y
func (q *sequence) failsBefore(place ast.Expr) bool {
	i := slices.IndexFunc(q.steps, func(s step) bool { return s.does&(doesPanic|doesShow|doesChange) != 0 })
	if i < 0 || q.steps[i].kind != computes || q.steps[i].place == nil {
		return false
	}
	e := *q.steps[i].place
	if u := q.u; u.Fset.Position(e.Pos()).Line != u.Fset.Position(place.Pos()).Line {
		return false
	}
	switch x := ast.Unparen(place).(type) {
	case *ast.IndexExpr:
		y, ok := ast.Unparen(e).(*ast.IndexExpr)
		return ok && !q.u.isMap(x.X) && q.stays(x.X, y.X) && q.stays(x.Index, y.Index)
	case *ast.SelectorExpr:
		y, ok := ast.Unparen(e).(*ast.SelectorExpr)
		return ok && q.pointsToField(x) && q.pointsToField(y) && q.stays(x.X, y.X)
	}
	return false
}

// pointsToField reports whether a selector is a field of what a pointer points to.
func (q *sequence) pointsToField(x *ast.SelectorExpr) bool {
	s := q.u.Info.Selections[x]
	return s != nil && s.Kind() == types.FieldVal && s.Indirect() && len(s.Index()) == 1
}

// stays reports whether two operands are one variable that calls do not change, or equal constants.
func (q *sequence) stays(x, y ast.Expr) bool {
	if a, b := q.u.Info.Types[x].Value, q.u.Info.Types[y].Value; a != nil && b != nil {
		return a.ExactString() == b.ExactString()
	}
	a, ok := ast.Unparen(x).(*ast.Ident)
	b, ok2 := ast.Unparen(y).(*ast.Ident)
	return ok && ok2 && q.u.objectOf(a) != nil && q.u.objectOf(a) == q.u.objectOf(b) && !q.varies(a)
}

// results lists the operations of a return statement: after the first result, a function that defers computes the others before it.
func (q *sequence) results(s *ast.ReturnStmt) {
	f := q.returns[s]
	if len(f.results) != len(s.Results) {
		if len(s.Results) == 1 {
			q.several(nil, &s.Results[0])
		}
		return
	}
	for i := range s.Results {
		q.orderAs(&s.Results[i], f.results[i])
	}
	set := written{vars: map[types.Object]bool{}}
	for i := range s.Results {
		id, ok := ast.Unparen(s.Results[i]).(*ast.Ident)
		if ok && f.named[i] != nil && q.u.Info.Uses[id] == f.named[i] {
			continue
		}
		if q.affected(&s.Results[i], set) {
			q.finishAs(&s.Results[i], f.results[i])
		}
		switch o := f.named[i]; {
		case f.defers:
			set.all = true
		case o != nil && q.vars[o]:
			set.memory = true
		case o != nil:
			set.vars[o] = true
		}
	}
	for i := range s.Results {
		q.finishAs(&s.Results[i], f.results[i])
	}
}

// written is what the first parts of an assignment have changed.
type written struct {
	vars        map[types.Object]bool
	memory, all bool
}

// affected reports whether the Go compiler computes an operand before the first parts of the assignment change what it reads.
func (q *sequence) affected(e *ast.Expr, set written) bool {
	e = operandPlace(e)
	if set.all {
		return true
	}
	if q.done[e] {
		return false // a temporary
	}
	switch x := (*e).(type) {
	case *ast.Ident:
		o := q.u.objectOf(x)
		return o != nil && set.vars[o] || set.memory && q.varies(x)
	case *ast.StarExpr, *ast.IndexExpr, *ast.CompositeLit:
		if set.memory && !q.u.simple(*e) {
			return true
		}
	case *ast.SelectorExpr:
		if s := q.u.Info.Selections[x]; s != nil && s.Indirect() && set.memory {
			return true
		}
	}
	return !q.u.simple(*e) && slices.ContainsFunc(q.u.parts(*e), func(o *ast.Expr) bool { return q.affected(o, set) })
}

// switched returns the place of the value of a type switch.
func switched(s *ast.TypeSwitchStmt) *ast.Expr {
	switch a := s.Assign.(type) {
	case *ast.AssignStmt:
		return &a.Rhs[0].(*ast.TypeAssertExpr).X
	case *ast.ExprStmt:
		return &ast.Unparen(a.X).(*ast.TypeAssertExpr).X
	}
	panic("lower: a type switch has another form")
}

// soleVar returns the variables of a declaration of one line, or nil.
func soleVar(s *ast.DeclStmt) *ast.ValueSpec {
	d := s.Decl.(*ast.GenDecl)
	if d.Tok != token.VAR || len(d.Specs) != 1 {
		return nil
	}
	return d.Specs[0].(*ast.ValueSpec)
}

func channelElem(t types.Type) types.Type {
	if c, ok := orInvalid(t).Underlying().(*types.Chan); ok {
		return c.Elem()
	}
	return nil
}
