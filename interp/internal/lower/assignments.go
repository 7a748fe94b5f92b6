package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// assignments evaluates the operands of an assignment before it assigns anything, and assigns
// one value at a time. Yaegi lets the right side of an assignment write to its left side, which
// is right for a single number only:
//
//	i, x[i] = 1, f()    o1 := f(); o2 := i; i = 1; x[o2] = o1
//	x[f()] += g()       o1 := f(); o2 := g(); x[o1] += o2
//	p = T{1}            o1 := T{1}; p = o1
//
// An assignment in the head of a statement becomes a call of a literal, because no statement can
// precede it.
func (u *Unit) assignments() {
	u.each(func(c *astutil.Cursor) {
		switch s := c.Node().(type) {
		case *ast.ForStmt:
			u.headAssignment(&s.Init)
			u.headAssignment(&s.Post)
		case *ast.IfStmt:
			u.headAssignment(&s.Init)
			if st := u.entryIf(s); st != nil {
				c.Replace(st)
			}
		case *ast.SwitchStmt:
			u.headAssignment(&s.Init)
			if list := u.entry(s.Init); list != nil {
				s.Init = nil
				c.Replace(u.after(s, list...))
			}
		case *ast.AssignStmt:
			if c.Index() < 0 {
				return
			}
			if list := u.assignment(s, false); list != nil {
				for _, st := range list[:len(list)-1] {
					c.InsertBefore(st)
				}
				c.Replace(list[len(list)-1])
			}
		case *ast.LabeledStmt:
			u.relabel(c, s)
			a, ok := s.Stmt.(*ast.AssignStmt)
			if !ok {
				return
			}
			if list := u.assignment(a, false); list != nil {
				s.Stmt = list[0]
				for i := len(list) - 1; i > 0; i-- {
					c.InsertAfter(list[i])
				}
			}
		case *ast.DeclStmt:
			if a := u.defined(s); a != nil && c.Index() >= 0 {
				if list := u.entry(a); list != nil {
					for _, st := range list[:len(list)-1] {
						c.InsertBefore(st)
					}
					c.Replace(list[len(list)-1])
				}
			}
		case *ast.GenDecl:
			u.separate(s)
		case *ast.IncDecStmt: // Yaegi has no code for it
			if b, ok := orInvalid(u.typeOf(s.X)).Underlying().(*types.Basic); ok && b.Kind() == types.Uintptr {
				op := map[token.Token]token.Token{token.INC: token.ADD_ASSIGN, token.DEC: token.SUB_ASSIGN}[s.Tok]
				c.Replace(&ast.AssignStmt{Lhs: []ast.Expr{s.X}, TokPos: s.TokPos, Tok: op, Rhs: []ast.Expr{Int(1)}})
			}
		}
	})
}

// headAssignment is assignments for the head of a statement.
func (u *Unit) headAssignment(s *ast.Stmt) {
	a, ok := (*s).(*ast.AssignStmt)
	if !ok || a.Tok == token.DEFINE {
		return
	}
	if list := u.assignment(a, true); list != nil {
		*s = expr(calledFrom(a.Pos(), call(&ast.FuncLit{Type: &ast.FuncType{Func: a.Pos(), Params: &ast.FieldList{}}, Body: block(list...)})))
	}
}

// assignment returns the statements that replace an assignment, or nil. In the head of a
// statement, values of basic types may be assigned together.
func (u *Unit) assignment(a *ast.AssignStmt, head bool) []ast.Stmt {
	switch {
	case a.Tok != token.ASSIGN && a.Tok != token.DEFINE:
		switch {
		case isA[*ast.Ident](ast.Unparen(a.Lhs[0])):
			return nil
		case !u.acts(a.Rhs[0]) && !u.acts(a.Lhs[0]):
			return nil
		}
		return append(append(u.keepCalls(&a.Lhs[0]), u.keepCalls(&a.Rhs[0])...), a)
	case len(a.Lhs) == 1:
		return u.single(a)
	case len(a.Rhs) == 1 && a.Tok == token.DEFINE:
		return u.entry(a)
	case len(a.Rhs) == 1:
		return u.spreadAssignment(a)
	case a.Tok == token.DEFINE && !slices.ContainsFunc(a.Rhs, u.makes) && !slices.ContainsFunc(a.Rhs, u.isNil) && !slices.ContainsFunc(a.Lhs, isBlank):
		return nil
	case head && u.together(a):
		return nil
	}
	before, places := u.places(a)
	last := -1 // operand that acts
	for i, e := range a.Rhs {
		if u.acts(e) {
			last = i
		}
	}
	for i := range a.Rhs {
		e := a.Rhs[i]
		if i < last {
			before = append(before, u.keepCalls(&a.Rhs[i])...)
		} else if u.acts(e) {
			before = append(before, u.keepAll(a.Rhs[i:i+1], func(ast.Expr) bool { return true })...)
		}
	}
	before = append(before, places()...)
	before = append(before, u.keepAll(a.Rhs, func(e ast.Expr) bool { return !u.isTemporary(e) })...)
	for i := range a.Lhs {
		before = append(before, u.part(a, i))
	}
	return before
}

func (u *Unit) isNil(e ast.Expr) bool { return u.Info.Types[ast.Unparen(e)].IsNil() }

// isTemporary reports whether an operand is a variable that a rewrite has made.
func (u *Unit) isTemporary(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && u.Info.Uses[id] == nil && !isBlank(e)
}

// together reports whether an assignment to several variables can stay: nothing in it acts, the
// values are of basic types, and none of the places depends on another.
func (u *Unit) together(a *ast.AssignStmt) bool {
	for i, e := range a.Rhs {
		if _, ok := ast.Unparen(a.Lhs[i]).(*ast.Ident); !ok || isBlank(a.Lhs[i]) || u.makes(e) || !isBasic(orInvalid(u.typeOf(e))) || u.isNil(e) {
			return false
		}
	}
	return true
}

// single is assignment for one value.
func (u *Unit) single(a *ast.AssignStmt) []ast.Stmt {
	if a.Tok == token.DEFINE || isBlank(a.Lhs[0]) {
		return nil
	}
	if !u.replaces(a.Lhs[0], a.Rhs[0]) {
		return nil
	}
	return append(u.keepCalls(&a.Lhs[0]), u.keep(&a.Rhs[0]), a)
}

// replaces reports whether Yaegi lets the right side of an assignment write to the place on the left, where that is wrong:
// a struct literal, and a function that a call of compiled code or of a field returns, replace a variable, so that other
// holders keep the old one; an operation does not know that the place is an interface; and a call may change what leads
// to the place.
func (u *Unit) replaces(place, e ast.Expr) bool {
	if u.isStructLiteral(e) || u.isInterface(u.typeOf(place)) && u.operates(e) {
		return true
	}
	if _, variable := ast.Unparen(place).(*ast.Ident); !variable {
		return u.acts(e)
	}
	x, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || u.Info.Types[x.Fun].IsType() {
		return false
	}
	_, ok = orInvalid(u.typeOf(x)).Underlying().(*types.Signature)
	return ok
}

// operates reports whether an expression is an operation whose value is not a constant.
func (u *Unit) operates(e ast.Expr) bool {
	if u.Info.Types[e].Value != nil {
		return false
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.SUB || x.Op == token.XOR || x.Op == token.ADD || x.Op == token.NOT
	}
	return false
}

func (u *Unit) isStructLiteral(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		return false
	}
	_, ok = orInvalid(u.typeOf(x)).Underlying().(*types.Struct)
	return ok
}

// spreadAssignment is assignment for the results of one operation, which go through new
// variables unless those that they are assigned to have the same types.
func (u *Unit) spreadAssignment(a *ast.AssignStmt) []ast.Stmt {
	results, _ := u.typeOf(a.Rhs[0]).(*types.Tuple)
	if results == nil || results.Len() != len(a.Lhs) {
		return nil
	}
	same := u.entryValue(a) == nil
	for i, e := range a.Lhs {
		_, ok := ast.Unparen(e).(*ast.Ident)
		to := u.typeOf(e)
		same = same && (isBlank(e) || ok && (to == nil || types.Identical(to, types.Default(results.At(i).Type()))))
	}
	if same {
		return nil
	}
	before, places := u.places(a)
	all := &ast.AssignStmt{TokPos: a.TokPos, Tok: token.DEFINE, Rhs: a.Rhs}
	a.Rhs = nil
	for i := range a.Lhs {
		t := types.Default(results.At(i).Type())
		v := u.temp("r")
		all.Lhs = append(all.Lhs, u.typed(v, t))
		a.Rhs = append(a.Rhs, u.typed(ident(v.Name), t))
	}
	if list := u.entry(all); list != nil {
		before = append(before, list...)
	} else {
		before = append(before, all)
	}
	before = append(before, places()...)
	for i := range a.Lhs {
		before = append(before, u.part(a, i))
	}
	return before
}

// places keeps the calls on the left of an assignment. The function that it returns keeps the
// operands there that an earlier part of the assignment may change.
func (u *Unit) places(a *ast.AssignStmt) (calls []ast.Stmt, later func() []ast.Stmt) {
	for i := range a.Lhs {
		calls = append(calls, u.keepCalls(&a.Lhs[i])...)
	}
	return calls, func() (list []ast.Stmt) {
		set := map[types.Object]bool{} // variables that are assigned before
		others := false                // whether other places are
		keep := func(e ast.Expr) ast.Expr {
			if u.Info.Types[e].Value != nil || u.isTemporary(e) {
				return e
			}
			needed := false
			ast.Inspect(e, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					needed = needed || set[u.objectOf(n)]
				case *ast.SelectorExpr, *ast.IndexExpr, *ast.StarExpr:
					needed = needed || others
				}
				return !needed
			})
			if needed {
				list = append(list, u.keep(&e))
			}
			return e
		}
		for i, e := range a.Lhs {
			if id, ok := ast.Unparen(e).(*ast.Ident); ok {
				if o := u.objectOf(id); o != nil {
					set[o] = true
				}
				continue
			}
			a.Lhs[i] = u.place(e, keep)
			others = true
		}
		return list
	}
}

// place returns the place that e denotes with the operands that lead to it kept: the pointers,
// slices and maps, and the indexes.
func (u *Unit) place(e ast.Expr, keep func(ast.Expr) ast.Expr) ast.Expr {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		n := *x
		if _, array := orInvalid(u.typeOf(x.X)).Underlying().(*types.Array); array {
			n.X = u.place(x.X, keep)
		} else {
			n.X = keep(x.X)
		}
		n.Index = keep(x.Index)
		return u.as(&n, x)
	case *ast.SelectorExpr:
		n := *x
		u.Info.Selections[&n] = u.Info.Selections[x]
		if isPointer(orInvalid(u.typeOf(x.X))) {
			n.X = keep(x.X)
		} else {
			n.X = u.place(x.X, keep)
		}
		return u.as(&n, x)
	case *ast.StarExpr:
		n := *x
		n.X = keep(x.X)
		return u.as(&n, x)
	}
	return e
}

// part returns the assignment of one of a's values.
func (u *Unit) part(a *ast.AssignStmt, i int) *ast.AssignStmt {
	p := &ast.AssignStmt{Lhs: a.Lhs[i : i+1 : i+1], TokPos: a.TokPos, Tok: token.ASSIGN, Rhs: a.Rhs[i : i+1 : i+1]}
	if id, ok := a.Lhs[i].(*ast.Ident); ok && a.Tok == token.DEFINE && (u.Info.Defs[id] != nil || u.isTemporary(id)) {
		p.Tok = token.DEFINE
	}
	return p
}

// separate gives each variable of a declaration its own value: Yaegi's literal clears the results
// of a call next to it.
func (u *Unit) separate(g *ast.GenDecl) {
	var specs []ast.Spec
	for _, s := range g.Specs {
		v, ok := s.(*ast.ValueSpec)
		if g.Tok != token.VAR || !ok || len(v.Values) < 2 || !slices.ContainsFunc(v.Values, u.makes) {
			specs = append(specs, s)
			continue
		}
		for i, id := range v.Names {
			specs = append(specs, &ast.ValueSpec{Names: []*ast.Ident{id}, Type: v.Type, Values: v.Values[i : i+1 : i+1]})
		}
	}
	g.Specs = specs
}
