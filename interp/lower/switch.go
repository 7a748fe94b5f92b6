package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// switches replaces a switch over values other than numbers and strings by comparisons with
// each case, and joins the conditions of one case: Yaegi compares other types by their
// reflected values, and evaluates only the last condition of a case.
func (u *Unit) switches() {
	u.each(func(c *astutil.Cursor) {
		if l, ok := c.Node().(*ast.LabeledStmt); ok {
			if b, ok := l.Stmt.(*ast.BlockStmt); ok && u.opened[b] { // the label is the switch's
				last := len(b.List) - 1
				l.Stmt, b.List[last] = b.List[last], l
				c.Replace(b)
			}
			return
		}
		s, ok := c.Node().(*ast.SwitchStmt)
		if !ok {
			return
		}
		if s.Tag != nil && u.compares(s) {
			if b := u.caseByCase(s); b != nil {
				c.Replace(b)
			}
		}
		if s.Tag == nil {
			joinConditions(s)
		}
	})
}

// compares reports whether a switch must be rewritten.
func (u *Unit) compares(s *ast.SwitchStmt) bool {
	t := u.typeOf(s.Tag)
	if !isPlain(t) {
		return true
	}
	for _, st := range s.Body.List {
		for _, e := range st.(*ast.CaseClause).List {
			if x := u.typeOf(e); x == nil || !isPlain(x) {
				return true
			}
		}
	}
	return false
}

func isPlain(t types.Type) bool {
	b, ok := orInvalid(t).Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsString) != 0
}

// caseByCase turns the cases of a switch into conditions. It returns a block that holds
// the switch if its value needs a statement before it.
func (u *Unit) caseByCase(s *ast.SwitchStmt) *ast.BlockStmt {
	t := types.Default(u.typeOf(s.Tag))
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
	if s.Init == nil {
		s.Init = keep
		return nil
	}
	b := block(s.Init, keep, s)
	s.Init = nil
	if u.opened == nil {
		u.opened = map[*ast.BlockStmt]bool{}
	}
	u.opened[b] = true
	return b
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
