package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// entry takes v, ok := m[k] or v, ok := x.(T), and returns the statements that replace it; nil for other statements. Yaegi
// keeps the variables and their values of the previous iteration of a loop. So v is set to zero where ok is false, and
// variables that a function literal or a pointer holds are defined by others, once for each execution:
//
//	v, ok := m[k]    o1, o2 := m[k]; if !o2 { var zero T; o1 = zero }; v, ok := o1, o2
func (u *Unit) entry(st ast.Stmt) []ast.Stmt {
	a, ok := st.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || u.entryValue(a) == nil {
		return nil
	}
	if _, entry := ast.Unparen(a.Rhs[0]).(*ast.IndexExpr); entry && isBlank(a.Lhs[1]) {
		return []ast.Stmt{&ast.AssignStmt{Lhs: a.Lhs[:1], TokPos: a.TokPos, Tok: a.Tok, Rhs: a.Rhs}}
	}
	if isBlank(a.Lhs[1]) {
		a.Lhs[1] = u.temp("ok")
	}
	v, found := a.Lhs[0].(*ast.Ident), a.Lhs[1].(*ast.Ident)
	t := u.entryValue(a)
	first, last := a, []ast.Stmt(nil)
	if u.held[u.objectOf(v)] || u.held[u.objectOf(found)] {
		o, ok := u.temp("o"), u.temp("o")
		first = &ast.AssignStmt{Lhs: []ast.Expr{u.typed(o, t), u.typed(ok, types.Typ[types.Bool])}, TokPos: a.TokPos, Tok: token.DEFINE, Rhs: a.Rhs}
		a.Rhs = []ast.Expr{u.typed(ident(o.Name), t), u.typed(ident(ok.Name), types.Typ[types.Bool])}
		v, found, last = o, ok, []ast.Stmt{u.part(a, 0), u.part(a, 1)} // each may be defined before
	}
	zero := u.temp("zero")
	clear := assign(u.typed(ident(v.Name), t), u.typed(ident(zero.Name), t))
	return append([]ast.Stmt{first, &ast.IfStmt{
		Cond: &ast.UnaryExpr{Op: token.NOT, X: ident(found.Name)}, Body: block(declare(zero, u.typeExpr(a, t)), clear),
	}}, last...)
}

// entryValue returns the type of the entry or content that an assignment with two results sets a
// variable to, or nil.
func (u *Unit) entryValue(a *ast.AssignStmt) types.Type {
	if len(a.Lhs) != 2 || len(a.Rhs) != 1 || isBlank(a.Lhs[0]) {
		return nil
	}
	switch x := ast.Unparen(a.Rhs[0]).(type) {
	case *ast.IndexExpr:
		if m, ok := orInvalid(u.typeOf(x.X)).Underlying().(*types.Map); ok {
			return m.Elem()
		}
	case *ast.TypeAssertExpr:
		return u.typeOf(x.Type)
	}
	return nil
}

// entryIf replaces an if statement that begins with v, ok := m[k] or v, ok := x.(T) and may use v where ok is
// false or holds a variable. It returns nil for other statements.
func (u *Unit) entryIf(s *ast.IfStmt) ast.Stmt {
	a, ok := s.Init.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || u.entryValue(a) == nil {
		return nil
	}
	uses := []ast.Node{s.Cond, s.Body, s.Else}
	cond := ast.Unparen(s.Cond)
	for {
		x, ok := cond.(*ast.BinaryExpr)
		if !ok || x.Op != token.LAND {
			break
		}
		cond = ast.Unparen(x.X)
	}
	if id, ok := cond.(*ast.Ident); ok && id.Name == a.Lhs[1].(*ast.Ident).Name {
		uses = uses[2:] // nothing before the else uses it
	} else if x, ok := cond.(*ast.UnaryExpr); ok && cond == ast.Unparen(s.Cond) && Print(x.X) == Print(a.Lhs[1]) {
		uses = uses[1:2]
	}
	o := u.objectOf(a.Lhs[0].(*ast.Ident))
	held := u.held[o] || u.held[u.objectOf(a.Lhs[1].(*ast.Ident))]
	for _, n := range uses {
		if held || !isNilNode(n) && u.mentions(o, n) {
			list := u.entry(a)
			s.Init = nil
			return u.after(s, list...)
		}
	}
	return nil
}

// defined returns the definition that a declaration of two variables with one value is, or nil.
func (u *Unit) defined(d *ast.DeclStmt) *ast.AssignStmt {
	g := d.Decl.(*ast.GenDecl)
	if g.Tok != token.VAR || len(g.Specs) != 1 {
		return nil
	}
	v := g.Specs[0].(*ast.ValueSpec)
	if v.Type != nil || len(v.Names) != 2 || len(v.Values) != 1 {
		return nil
	}
	return &ast.AssignStmt{Lhs: []ast.Expr{v.Names[0], v.Names[1]}, TokPos: v.Pos(), Tok: token.DEFINE, Rhs: v.Values}
}
