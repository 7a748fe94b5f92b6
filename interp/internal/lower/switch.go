package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/astutil"
)

// switches turns the cases of a switch over a value into conditions, leaves one condition in each
// case, and moves the default clause to the end. Yaegi compares values other than numbers and
// strings by their reflected values, evaluates only one expression of a case, and exchanges the
// default clause with the last one.
//
//	switch v { default: a(); case 1, f(): b() }
//	switch tag := v; { case tag == 1 || tag == f(): b(); default: a() }
func (u *Unit) switches() {
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.LabeledStmt:
			u.relabel(c, n)
		case *ast.SwitchStmt:
			var before []ast.Stmt
			if len(n.Body.List) == 0 { // Yaegi would leave out the switch, and so the value
				n.Body.List = []ast.Stmt{&ast.CaseClause{Case: n.Body.Rbrace}}
			}
			if n.Tag != nil {
				before = u.caseByCase(n)
			}
			joinConditions(n)
			before = append(before, u.defaultLast(n)...)
			switch {
			case len(before) == 0:
			case len(before) == 1 && n.Init == nil:
				n.Init = before[0]
			default:
				if n.Init != nil {
					before = append([]ast.Stmt{n.Init}, before...)
					n.Init = nil
				}
				c.Replace(u.after(n, before...))
			}
		}
	})
}

// caseByCase turns the cases of a switch into conditions. It returns the statement that keeps the
// switch's value.
func (u *Unit) caseByCase(s *ast.SwitchStmt) []ast.Stmt {
	t := types.Default(orInvalid(u.typeOf(s.Tag)))
	v := u.temp("tag")
	keep := define(v, s.Tag)
	keep.TokPos = s.Tag.Pos()
	for _, st := range s.Body.List {
		cc := st.(*ast.CaseClause)
		for i, e := range cc.List {
			if x, ok := e.(*ast.CompositeLit); ok {
				e = u.as(&ast.ParenExpr{Lparen: x.Pos(), X: x, Rparen: x.End()}, x)
			}
			cond := &ast.BinaryExpr{X: u.typed(ident(v.Name), t), OpPos: e.Pos(), Op: token.EQL, Y: e}
			u.alike(cond)
			cc.List[i] = u.typed(cond, types.Typ[types.Bool])
		}
	}
	s.Tag = nil
	return []ast.Stmt{keep}
}

// joinConditions leaves one condition in each case.
func joinConditions(s *ast.SwitchStmt) {
	for _, st := range s.Body.List {
		cc := st.(*ast.CaseClause)
		if len(cc.List) < 2 {
			continue
		}
		all := cc.List[0]
		for _, e := range cc.List[1:] {
			all = &ast.BinaryExpr{X: all, OpPos: e.Pos(), Op: token.LOR, Y: e}
		}
		cc.List = []ast.Expr{all}
	}
}

// defaultLast moves the default clause to the end. If a fallthrough statement before or in it
// prevents that, the switch becomes one over the number of the clause, which the statements that
// it returns find out.
func (u *Unit) defaultLast(s *ast.SwitchStmt) []ast.Stmt {
	clauses := s.Body.List
	last := len(clauses) - 1
	i := slices.IndexFunc(clauses, func(st ast.Stmt) bool { return st.(*ast.CaseClause).List == nil })
	if i < 0 || i == last {
		return nil
	}
	if (i == 0 || !fallsThrough(clauses[i-1])) && !fallsThrough(clauses[i]) {
		s.Body.List = append(slices.Delete(slices.Clone(clauses), i, i+1), clauses[i])
		return nil
	}
	k := u.temp("clause")
	choose := &ast.SwitchStmt{Switch: s.Switch, Body: block()}
	for n, st := range clauses {
		cc := st.(*ast.CaseClause)
		if n != i {
			choose.Body.List = append(choose.Body.List, &ast.CaseClause{Case: cc.Case, List: cc.List, Body: []ast.Stmt{assign(ident(k.Name), Int(int64(n)))}})
		}
		cc.List = []ast.Expr{&ast.BinaryExpr{X: ident(k.Name), Op: token.EQL, Y: Int(int64(n))}}
	}
	clauses[last].(*ast.CaseClause).List = nil
	return []ast.Stmt{define(k, Int(int64(i))), choose}
}

func fallsThrough(st ast.Stmt) bool {
	list := st.(*ast.CaseClause).Body
	if len(list) == 0 {
		return false
	}
	b, ok := list[len(list)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.FALLTHROUGH
}

// emptyStatements removes empty statements from clauses: Yaegi counts them as clauses' bodies.
func (u *Unit) emptyStatements() {
	u.eachOf(isA[*ast.EmptyStmt], func(c *astutil.Cursor) {
		if e, ok := c.Node().(*ast.EmptyStmt); ok && c.Index() >= 0 && e != nil {
			c.Delete()
		}
	})
}
