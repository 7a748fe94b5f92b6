package lower

import (
	"go/ast"

	"golang.org/x/tools/go/ast/astutil"
)

// closures gives every function literal that is not called immediately a separate
// frame, by a literal around it. When a call of a closure ends, Yaegi locks the frame
// that made it and restores the closure's slot: deferred calls wait for ever for that
// lock, which their frame holds, and in loops that start goroutines a closure that ends
// replaces the one just made.
func (u *Unit) closures() {
	u.makers, u.around = map[*ast.CallExpr]bool{}, map[*ast.FuncLit]*ast.FuncLit{}
	for i, d := range u.File.Decls {
		u.File.Decls[i] = astutil.Apply(d, nil, func(c *astutil.Cursor) bool {
			lit, ok := c.Node().(*ast.FuncLit)
			if !ok {
				return true
			}
			if x, ok := c.Parent().(*ast.CallExpr); ok && x.Fun == lit {
				return true
			}
			around := &ast.FuncLit{
				Type: &ast.FuncType{Func: lit.Pos(), Params: &ast.FieldList{}, Results: &ast.FieldList{List: []*ast.Field{{Type: signatureOf(lit)}}}},
				Body: block(&ast.ReturnStmt{Results: []ast.Expr{lit}}),
			}
			maker := call(around)
			u.makers[maker], u.made[around], u.around[lit] = true, true, around
			c.Replace(u.as(maker, lit))
			return true
		}).(ast.Decl)
	}
}

// signatureOf returns a literal's type without the parameters' names.
func signatureOf(lit *ast.FuncLit) *ast.FuncType {
	list := func(l *ast.FieldList) *ast.FieldList {
		if l == nil {
			return nil
		}
		out := &ast.FieldList{}
		for _, f := range l.List {
			for range max(1, len(f.Names)) {
				out.List = append(out.List, &ast.Field{Type: f.Type})
			}
		}
		return out
	}
	return &ast.FuncType{Func: lit.Pos(), Params: list(lit.Type.Params), Results: list(lit.Type.Results)}
}
