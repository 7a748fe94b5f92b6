package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// Iface names the support functions for an interface that a compiled package declares:
// To converts a value that implements it, Must asserts that a value does, As asserts
// with a second result.
type Iface struct{ To, Must, As string }

// assert returns x.(t) for a type t that is not an interface; x has type any.
func (u *Unit) assert(at ast.Node, x ast.Expr, t types.Type) ast.Expr {
	pos := at.Pos()
	if a, ok := at.(*ast.TypeAssertExpr); ok {
		pos = a.Lparen
	}
	if u.boxed(t) {
		u.describe(t)
		open := &ast.TypeAssertExpr{X: x, Lparen: pos, Type: u.boxType(at, t)}
		return u.typed(&ast.SelectorExpr{X: open, Sel: ident("V")}, t)
	}
	if st, ok := t.Underlying().(*types.Struct); ok && st.NumFields() == 0 { // Yaegi looks for a field
		lit := &ast.FuncLit{
			Type: &ast.FuncType{
				Func:    pos,
				Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("_")}, Type: emptyInterface()}}},
				Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(at, t)}}},
			},
			Body: block(declare(ident("v__"), u.typeExpr(at, t)), &ast.ReturnStmt{Results: []ast.Expr{ident("v__")}}),
		}
		return u.typed(call(lit, x), t)
	}
	return u.typed(&ast.TypeAssertExpr{X: x, Lparen: pos, Type: u.typeExpr(at, t)}, t)
}

// content returns the expression for the content of an interface.
func (u *Unit) content(x ast.Expr) ast.Expr {
	if u.compiledIface(u.typeOf(x)) {
		return u.typed(Support("Unwrap", x), anyType)
	}
	return x
}

// ambiguous reports whether the back end accepts values of other types as values of t.
func ambiguous(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Basic, *types.Pointer:
		return false
	}
	return true
}

// assertion returns the replacement of x.(T), with one result or two.
func (u *Unit) assertion(n *ast.TypeAssertExpr) ast.Expr {
	t := u.typeOf(n.Type)
	if t == nil {
		return n
	}
	_, two := u.typeOf(n).(*types.Tuple)
	switch {
	case u.compiledIface(t):
		f := u.compiled(n, t)
		if two {
			return u.as(Support(f.As, n.X), n)
		}
		return u.as(Support(f.Must, n.X), n)
	case types.IsInterface(t):
		u.describe(t)
		if two {
			return u.as(Support("AssertOk", u.content(n.X), text(u.id(t))), n)
		}
		return u.as(Support("Assert", u.content(n.X), text(u.id(t))), n)
	}
	static := u.goName(u.typeOf(n.X))
	if two {
		if !u.boxed(t) && !ambiguous(t) {
			n.X = u.content(n.X)
			return n
		}
		return u.as(call(ident(u.asserter(n, t)), u.content(n.X)), n)
	}
	x := Support("Exact", u.content(n.X), u.caseOf(n, t), text(static), text(u.goName(t)))
	x.Lparen, x.Rparen = n.Lparen, n.End()
	return u.as(u.assert(n, u.typed(x, anyType), t), n)
}

// asserter returns a function of the unit that asserts, with a second result, that a
// value is of type t.
func (u *Unit) asserter(at ast.Node, t types.Type) string {
	key := "assert " + u.id(t)
	name := u.dispatchers[key]
	if name != "" {
		return name
	}
	name = fmt.Sprintf("assert__%d_%d", u.Seq, len(u.dispatchers))
	u.dispatchers[key] = name
	v := ident("v__")
	found := &ast.IfStmt{
		Cond: Support("Is", ident("x__"), u.caseOf(at, t)),
		Body: block(assign(v, u.assert(at, ident("x__"), t)), &ast.ReturnStmt{Results: []ast.Expr{ident("v__"), ident("true")}}),
	}
	u.helper(name, &ast.FuncLit{
		Type: &ast.FuncType{
			Func:    at.Pos(),
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("x__")}, Type: emptyInterface()}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(at, t)}, {Type: ident("bool")}}},
		},
		Body: block(declare(ident("v__"), u.typeExpr(at, t)), found, &ast.ReturnStmt{Results: []ast.Expr{ident("v__"), ident("false")}}),
	})
	return name
}

// caseOf returns a variable of the unit that names a type for package dynamic.
func (u *Unit) caseOf(at ast.Node, t types.Type) ast.Expr {
	key := "case " + u.id(t)
	name := u.dispatchers[key]
	if name == "" {
		name = fmt.Sprintf("case__%d_%d", u.Seq, len(u.dispatchers))
		u.dispatchers[key] = name
		var list []ast.Expr = u.caseValue(at, t)
		u.setup = append(u.setup, assign(ident(name), list[0]))
		u.vars = append(u.vars, &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{
			&ast.ValueSpec{Names: []*ast.Ident{ident(name)}, Type: emptyInterface()},
		}})
	}
	return ident(name)
}

// caseValue returns the value that names a type for package dynamic.
func (u *Unit) caseValue(at ast.Node, t types.Type) []ast.Expr {
	if types.IsInterface(t) && !u.compiledIface(t) {
		u.describe(t)
		return []ast.Expr{Support("Interface", text(u.id(t)))}
	}
	e := u.typeExpr(at, t)
	if !types.IsInterface(t) && u.boxed(t) {
		u.describe(t)
		e = u.boxType(at, t)
	}
	return []ast.Expr{call(ident("new"), e)}
}

// typeSwitch turns a type switch into a switch over the case number that package
// dynamic returns.
func (u *Unit) typeSwitch(s *ast.TypeSwitchStmt) ast.Stmt {
	var name *ast.Ident
	var guard ast.Expr
	switch a := s.Assign.(type) {
	case *ast.ExprStmt:
		guard = a.X
	case *ast.AssignStmt:
		name, guard = a.Lhs[0].(*ast.Ident), a.Rhs[0]
	}
	x := ast.Unparen(guard).(*ast.TypeAssertExpr).X
	static := u.typeOf(x)
	v := u.temp("v")
	held := u.typed(ident(v.Name), static)
	out := &ast.SwitchStmt{Switch: s.Switch, Body: &ast.BlockStmt{Lbrace: s.Body.Lbrace, Rbrace: s.Body.Rbrace}}
	var cases []ast.Expr
	for _, st := range s.Body.List {
		cc := st.(*ast.CaseClause)
		n := &ast.CaseClause{Case: cc.Case, Body: cc.Body, Colon: cc.Colon}
		var one types.Type
		for _, e := range cc.List {
			n.List = append(n.List, Int(int64(len(cases))))
			if u.Info.Types[e].IsNil() {
				cases = append(cases, ident("nil"))
				continue
			}
			t := u.typeOf(e)
			cases = append(cases, u.caseOf(e, t))
			if len(cc.List) == 1 {
				one = t
			}
		}
		if name != nil && !isBlank(name) {
			var value ast.Expr = held
			switch {
			case one == nil:
			case u.compiledIface(one):
				value = Support(u.compiled(cc, one).Must, held)
			case types.IsInterface(one):
				value = u.content(held)
			default:
				value = u.assert(cc, u.content(held), one)
			}
			t := one
			if t == nil {
				t = static
			}
			n.Body = append([]ast.Stmt{
				declare(ident(name.Name), u.typeExpr(cc, t)), assign(ident(name.Name), value), assign(ident("_"), ident(name.Name)),
			}, n.Body...)
		}
		out.Body.List = append(out.Body.List, n)
	}
	list := fmt.Sprintf("cases__%d_%d", u.Seq, len(u.dispatchers))
	u.dispatchers[list] = list
	u.vars = append(u.vars, &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{
		&ast.ValueSpec{Names: []*ast.Ident{ident(list)}, Type: &ast.ArrayType{Elt: emptyInterface()}},
	}})
	for _, e := range cases {
		u.setup = append(u.setup, assign(ident(list), call(ident("append"), ident(list), e)))
	}
	k := u.temp("k")
	before := []ast.Stmt{define(v, x), define(k, Support("Case", ident(v.Name), ident(list)))}
	if s.Init != nil {
		before = append([]ast.Stmt{s.Init}, before...)
	}
	out.Tag = u.typed(ident(k.Name), types.Typ[types.Int])
	return u.after(out, before...)
}

// errorsAs finds errors of types and interfaces of the session: compiled code sees only
// their wrappers.
func (u *Unit) errorsAs(x *ast.CallExpr) ast.Expr {
	var wanted ast.Expr = ident("nil") // what an interface refers to is known at run time
	target := orInvalid(u.typeOf(x.Args[1]))
	if !types.IsInterface(target) {
		p, ok := target.Underlying().(*types.Pointer)
		if !ok || u.compiledIface(p.Elem()) {
			return nil
		}
		wanted = u.caseOf(x, p.Elem())
	}
	return u.as(Support("ErrorsAs", u.convert(x.Args[0], types.Universe.Lookup("error").Type()), x.Args[1], wanted), x)
}
