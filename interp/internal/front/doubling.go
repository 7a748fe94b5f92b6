package front

import (
	"fmt"
	"go/ast"
	"go/token"

	"halfnote/interp/internal/syntax"
)

// doubling refuses a declaration of a type that holds too many types by value.
func (c *checker) doubling(decls []*DeclFile) error {
	var files []*ast.File
	for _, f := range append(decls[:len(decls):len(decls)], c.Stmts) {
		files = append(files, f.File)
	}
	t := syntax.Doubling(files, c.Env.typeNamed)
	if t == nil {
		return nil
	}
	at := c.Session.Fset.Position(t.Pos())
	return &syntax.Rejected{Name: "CompileError", Problems: []syntax.Problem{{Cell: c.N, Line: at.Line, Col: at.Column, Msg: fmt.Sprintf(
		"type %s holds more than %d types in its fields, counted as often as they occur; hold some of them by pointer", t.Name.Name, syntax.MaxParts)}}}
}

// typeNamed returns what a type of the session is, or nil.
func (e *Env) typeNamed(name string) ast.Expr {
	b := e.byCheck(name)
	if b == nil || b.Kind != KindType {
		return nil
	}
	for _, d := range e.Of(b).Header.Decls(token.NoPos) {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			return g.Specs[0].(*ast.TypeSpec).Type
		}
	}
	return nil
}
