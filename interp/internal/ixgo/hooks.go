package ixgo

import (
	"go/ast"
	"go/token"
	"strconv"

	"halfnote/interp/engine"
)

// hooks is the import path of the functions that units call for the engine's own use.
const hooks = "engine__"

// hook makes the unit's function, and those of its goroutines, report their calls. Calls
// get the position of the function's name; ixgo would report that of the parenthesis.
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
	var around []token.Pos // positions of the enclosing nodes
	ast.Inspect(u.File, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		at := token.NoPos
		if len(around) > 0 {
			at = around[len(around)-1]
		}
		switch n := n.(type) {
		case *ast.BlockStmt:
		case *ast.FuncLit:
			at = n.Body.Lbrace // invalid if a rewrite has made it
		default:
			if n.Pos().IsValid() {
				at = n.Pos()
			}
		}
		around = append(around, at)
		x, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch p := called(x.Fun); {
		case p.IsValid():
			x.Lparen = p
		case !x.Lparen.IsValid(): // made by a rewrite
			x.Lparen = at
		}
		if len(x.Args) == 1 {
			sel, ok := x.Fun.(*ast.SelectorExpr)
			if lit, is := x.Args[0].(*ast.FuncLit); ok && is && sel.Sel.Name == "Go" && !sel.Sel.Pos().IsValid() {
				enter(lit.Body)
			}
		}
		return true
	})
	if f := reach(u.File); f != nil {
		u.File.Decls = append(u.File.Decls, f)
	}
	u.File.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{
		&ast.ImportSpec{Name: ast.NewIdent(hooks), Path: &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(hooks)}},
	}}}, u.File.Decls...)
}

// reached is the name of the function that reach returns. It is never called.
const reached = "reached__"

// reach returns a function that puts the types of a unit into interfaces; nil if there
// are none. ixgo compiles the methods of a type only if it sees that happen, and a
// later unit may do it.
func reach(file *ast.File) *ast.FuncDecl {
	var list []ast.Stmt
	add := func(e ast.Expr) {
		list = append(list, &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, Tok: token.ASSIGN, Rhs: []ast.Expr{
			&ast.CallExpr{Fun: &ast.ParenExpr{X: &ast.InterfaceType{Methods: &ast.FieldList{}}}, Args: []ast.Expr{e}},
		}})
	}
	methods := map[string]bool{} // types with methods
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
			t := f.Recv.List[0].Type
			if p, ok := t.(*ast.StarExpr); ok {
				t = p.X
			}
			if id, ok := t.(*ast.Ident); ok {
				methods[id.Name] = true
			}
		}
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				_, promoted := spec.Type.(*ast.StructType)
				if spec.TypeParams == nil && (promoted || methods[spec.Name.Name]) && spec.Name.Name != "_" {
					add(&ast.CallExpr{Fun: &ast.ParenExpr{X: &ast.StarExpr{X: ast.NewIdent(spec.Name.Name)}}, Args: []ast.Expr{ast.NewIdent("nil")}})
				}
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					if g.Tok == token.VAR && id.Name != "_" {
						add(&ast.UnaryExpr{Op: token.AND, X: ast.NewIdent(id.Name)})
					}
				}
			}
		}
	}
	if list == nil {
		return nil
	}
	return &ast.FuncDecl{Name: ast.NewIdent(reached), Type: &ast.FuncType{Params: &ast.FieldList{}}, Body: &ast.BlockStmt{List: list}}
}

// called returns the position of the function name in a call.
func called(f ast.Expr) token.Pos {
	switch f := ast.Unparen(f).(type) {
	case *ast.SelectorExpr:
		return f.Sel.Pos()
	case *ast.FuncLit, *ast.Ident:
		return f.Pos()
	}
	return token.NoPos
}
