package lower

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// functionValues puts declared functions that are returned, or that define a variable, into
// variables of their type first: Yaegi would use its own tree as the value.
func (u *Unit) functionValues() {
	u.each(func(c *astutil.Cursor) {
		switch n := c.Node().(type) {
		case *ast.ReturnStmt:
			u.liftFunctions(c, n.Results)
			u.liftAppended(c, n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				u.liftFunctions(c, n.Rhs)
			}
			u.liftAppended(c, n.Rhs)
		}
	})
}

// liftAppended is liftFunctions for the arguments of calls of append in list.
func (u *Unit) liftAppended(c *astutil.Cursor, list []ast.Expr) {
	for _, e := range list {
		if x, ok := ast.Unparen(e).(*ast.CallExpr); ok && u.isBuiltin(x.Fun, "append") && len(x.Args) > 1 {
			u.liftFunctions(c, x.Args[1:])
		}
	}
}

// liftFunctions replaces the declared functions in list by variables, which it declares before the statement at c.
func (u *Unit) liftFunctions(c *astutil.Cursor, list []ast.Expr) {
	for i, e := range list {
		if !u.isDeclared(e) || c.Index() < 0 {
			continue
		}
		f := u.Info.Uses[ast.Unparen(e).(*ast.Ident)]
		v := u.temp("f")
		c.InsertBefore(&ast.DeclStmt{Decl: &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{
			Names: []*ast.Ident{v}, Type: u.typeExpr(e, f.Type()), Values: []ast.Expr{e},
		}}}})
		list[i] = u.typed(ident(v.Name), f.Type())
	}
}

// isDeclared reports whether an expression is the name of a declared function.
func (u *Unit) isDeclared(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	f, isFunc := u.Info.Uses[id].(*types.Func)
	return ok && isFunc && f.Pkg() == u.Pkg && f.Signature().TypeParams().Len() == 0
}

// newValues replaces new(x) of a value by a call of a function that returns the address of a
// variable.
func (u *Unit) newValues() {
	u.eachOf(u.callsBuiltin("new"), func(c *astutil.Cursor) {
		x, ok := c.Node().(*ast.CallExpr)
		if !ok || len(x.Args) != 1 || !u.isBuiltin(x.Fun, "new") || u.Info.Types[x.Args[0]].IsType() {
			return
		}
		p := u.typeOf(x).Underlying().(*types.Pointer)
		c.Replace(u.as(u.addressOf(x, x.Args[0], p.Elem(), p), x))
	})
}

// addressOf returns a call that returns the address of a new variable with a value.
func (u *Unit) addressOf(at ast.Node, value ast.Expr, t, pointer types.Type) ast.Expr {
	lit := &ast.FuncLit{
		Type: &ast.FuncType{
			Func:    at.Pos(),
			Params:  &ast.FieldList{List: []*ast.Field{{Names: []*ast.Ident{ident("v__")}, Type: u.typeExpr(at, t)}}},
			Results: &ast.FieldList{List: []*ast.Field{{Type: u.typeExpr(at, pointer)}}},
		},
		Body: block(&ast.ReturnStmt{Results: []ast.Expr{&ast.UnaryExpr{Op: token.AND, X: ident("v__")}}}),
	}
	return call(lit, value)
}
