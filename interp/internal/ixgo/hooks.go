package ixgo

import (
	"go/ast"
	"go/token"
	"strconv"

	"halfnote/interp/engine"
)

// hooks is the import path of what units call for the engine's own sake.
const hooks = "engine__"

// hook makes the unit's function, and those of its goroutines, say when they are
// called. Calls get the position of the function's name, which is what a reader
// looks for: ixgo would tell where the parenthesis is.
func hook(u *engine.Unit) {
	enter := func(body *ast.BlockStmt) {
		call := &ast.CallExpr{Fun: &ast.SelectorExpr{X: ast.NewIdent(hooks), Sel: ast.NewIdent("Enter")}}
		body.List = append([]ast.Stmt{&ast.ExprStmt{X: call}}, body.List...)
	}
	for _, d := range u.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == u.Entry {
			enter(f.Body)
		}
	}
	ast.Inspect(u.File, func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if p := called(x.Fun); p.IsValid() {
			x.Lparen = p
		}
		if len(x.Args) == 1 {
			sel, ok := x.Fun.(*ast.SelectorExpr)
			if lit, is := x.Args[0].(*ast.FuncLit); ok && is && sel.Sel.Name == "Go" && !sel.Sel.Pos().IsValid() {
				enter(lit.Body)
			}
		}
		return true
	})
	u.File.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{
		&ast.ImportSpec{Name: ast.NewIdent(hooks), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(hooks)}},
	}}}, u.File.Decls...)
}

// called is where a call's function is named.
func called(f ast.Expr) token.Pos {
	switch f := ast.Unparen(f).(type) {
	case *ast.SelectorExpr:
		return f.Sel.Pos()
	case *ast.FuncLit, *ast.Ident:
		return f.Pos()
	}
	return token.NoPos
}
