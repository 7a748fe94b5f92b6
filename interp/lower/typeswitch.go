package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// typeSwitches turns a type switch over an interface of a compiled package that
// has cases of interpreted types into assertions and a switch over their results:
// Yaegi's own type switch finds no such case.
func (u *Unit) typeSwitches() {
	u.each(func(c *astutil.Cursor) {
		s, ok := c.Node().(*ast.TypeSwitchStmt)
		if !ok {
			return
		}
		var name *ast.Ident
		var guard ast.Expr
		switch a := s.Assign.(type) {
		case *ast.ExprStmt:
			guard = a.X
		case *ast.AssignStmt:
			name, guard = a.Lhs[0].(*ast.Ident), a.Rhs[0]
		}
		x := ast.Unparen(guard).(*ast.TypeAssertExpr).X
		if !u.compiledInterface(u.typeOf(x)) || !u.hasOwnCase(s) {
			return
		}
		c.Replace(u.assertions(s, name, x))
	})
}

// compiledInterface tells whether t is an interface with methods that compiled
// code declares.
func (u *Unit) compiledInterface(t types.Type) bool {
	if t == nil || !hasMethods(t) {
		return false
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != u.Pkg
}

func (u *Unit) hasOwnCase(s *ast.TypeSwitchStmt) bool {
	for _, st := range s.Body.List {
		for _, e := range st.(*ast.CaseClause).List {
			if t := u.typeOf(e); t != nil && u.own(t) {
				return true
			}
		}
	}
	return false
}

func (u *Unit) assertions(s *ast.TypeSwitchStmt, name *ast.Ident, x ast.Expr) ast.Stmt {
	v := u.temp("v")
	list := []ast.Stmt{define(v, x)}
	if s.Init != nil {
		list = append([]ast.Stmt{s.Init}, list...)
	}
	out := &ast.SwitchStmt{Switch: s.Switch, Body: &ast.BlockStmt{Lbrace: s.Body.Lbrace, Rbrace: s.Body.Rbrace}}
	for _, st := range s.Body.List {
		cc := st.(*ast.CaseClause)
		n := &ast.CaseClause{Case: cc.Case, Body: cc.Body}
		value := ident(v.Name)
		for _, e := range cc.List {
			if u.Info.Types[e].IsNil() {
				n.List = append(n.List, &ast.BinaryExpr{X: ident(v.Name), Op: token.EQL, Y: ident("nil")})
				continue
			}
			w, ok := u.temp("v"), u.temp("ok")
			list = append(list, &ast.AssignStmt{
				Lhs: []ast.Expr{w, ok}, Tok: token.DEFINE, TokPos: e.Pos(),
				Rhs: []ast.Expr{&ast.TypeAssertExpr{X: ident(v.Name), Type: e}},
			}, assign(ident("_"), ident(w.Name)))
			n.List = append(n.List, ident(ok.Name))
			if len(cc.List) == 1 {
				value = ident(w.Name)
			}
		}
		if name != nil {
			n.Body = append([]ast.Stmt{define(ident(name.Name), value), assign(ident("_"), ident(name.Name))}, n.Body...)
		}
		out.Body.List = append(out.Body.List, n)
	}
	if len(list) == 0 {
		return out
	}
	return block(append(list, out)...)
}
