package lower

import (
	"go/ast"
	"go/token"
)

// namedResults gives a function its own named results. Yaegi keeps them in the variable
// of the caller that receives them, and does not set them to zero: n = f() starts with
// the old n, and a call in a loop with the results of the previous iteration. Without
// deferred calls the results become variables of the body; with them, which may change
// results after the return statement, the body sets them to zero first.
func (u *Unit) namedResults() {
	u.funcs(func(_ ast.Node, t *ast.FuncType, body *ast.BlockStmt) {
		switch {
		case len(u.resultVars(t)) == 0:
		case defers(body):
			u.zeroResults(t, body)
		default:
			u.localResults(t, body)
		}
	})
}

// zeroResults sets the named results to zero at the start of the body.
func (u *Unit) zeroResults(t *ast.FuncType, body *ast.BlockStmt) {
	var list []ast.Stmt
	for _, f := range t.Results.List {
		for _, id := range f.Names {
			if id.Name == "_" {
				continue
			}
			typ := u.Info.Defs[id].Type()
			zero := u.temp("zero")
			list = append(list, declare(zero, u.typeExpr(id, typ)), &ast.AssignStmt{
				Lhs: []ast.Expr{u.use(id)}, Tok: token.ASSIGN, Rhs: []ast.Expr{u.typed(ident(zero.Name), typ)},
			})
		}
	}
	body.List = append(list, body.List...)
}

// localResults declares the named results in the body, and returns them explicitly.
func (u *Unit) localResults(t *ast.FuncType, body *ast.BlockStmt) {
	var list []ast.Stmt
	var results []func() ast.Expr
	fields := &ast.FieldList{Opening: t.Results.Opening, Closing: t.Results.Closing}
	for _, f := range t.Results.List {
		typ := u.typeOf(f.Type)
		for i, id := range f.Names {
			field := &ast.Field{Type: f.Type}
			if i > 0 {
				field.Type = u.typeExpr(id, typ)
			}
			fields.List = append(fields.List, field)
			name := id
			if id.Name == "_" {
				name = u.temp("result")
			}
			list = append(list, declare(name, u.typeExpr(id, typ)))
			results = append(results, func() ast.Expr {
				if name == id {
					return u.use(id)
				}
				return u.typed(ident(name.Name), typ)
			})
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				for _, result := range results {
					n.Results = append(n.Results, result())
				}
			}
		}
		return true
	})
	t.Results = fields
	body.List = append(list, body.List...)
}

// use returns an identifier that denotes the same object as the one that id declares.
func (u *Unit) use(id *ast.Ident) ast.Expr {
	x := ast.NewIdent(id.Name)
	u.Info.Uses[x] = u.Info.Defs[id]
	return u.typed(x, u.Info.Defs[id].Type())
}
