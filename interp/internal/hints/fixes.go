package hints

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// Fixes maps pieces of a cell to the code that hints suggest in their place. The checker has no type for a piece that it
// refuses, so it cannot find mistakes in what depends on that piece. It finds them once the piece is fixed.
type Fixes map[ast.Node]ast.Node

// write records a fix and returns the hint for it.
func (a *Attempt) write(old, new ast.Node) string {
	a.Fixes[old] = new
	return "write " + code(new)
}

// literal matches a function literal in the text of an expression.
var literal = regexp.MustCompile(`\((func\([^()]*\)[^()]*) literal\)`)

// code returns the text of an expression or assignment in a line.
func code(n ast.Node) string {
	text := ""
	switch n := n.(type) {
	case ast.Expr:
		text = types.ExprString(n)
	case *ast.AssignStmt:
		text = fmt.Sprintf("%s %s %s", types.ExprString(n.Lhs[0]), n.Tok, types.ExprString(n.Rhs[0]))
	}
	return literal.ReplaceAllString(text, "$1 { … }")
}

// Apply replaces the pieces of a file that have fixes. It returns the names of packages, among those that isPackage
// accepts, that the new code uses and the file does not import.
func (f Fixes) Apply(file *ast.File, isPackage func(name string) bool) (named map[string]bool) {
	named = map[string]bool{}
	astutil.Apply(file, nil, func(at *astutil.Cursor) bool {
		if paren, ok := at.Node().(*ast.ParenExpr); ok {
			if call, ok := paren.X.(*ast.CallExpr); ok && f.isNew(call) {
				at.Replace(call)
			}
			return true
		}
		new, ok := f[at.Node()]
		if !ok {
			return true
		}
		at.Replace(new)
		ast.Inspect(new, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && isPackage(id.Name) {
					named[id.Name] = true
				}
			}
			return true
		})
		return true
	})
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			for _, spec := range d.Specs {
				if name := spec.(*ast.ImportSpec).Name; name != nil {
					delete(named, name.Name)
				}
			}
		}
	}
	return named
}

// isNew reports whether a call is the new code of a fix.
func (f Fixes) isNew(call *ast.CallExpr) bool {
	for _, new := range f {
		if new == ast.Node(call) {
			return true
		}
	}
	return false
}

// Builds reports whether the code of a new hint contains that of an old one.
func Builds(new, old string) bool {
	code, ok := strings.CutPrefix(new, "write ")
	_, was, written := strings.Cut(old, "write ")
	was, _, _ = strings.Cut(was, "; ")
	return ok && written && strings.Contains(code, was)
}

// Join adds a hint for a fixed piece to the one that fixed it. If the new code contains the old code, it takes its
// place.
func Join(old, new string) string {
	if new == "" || strings.Contains(old, new) {
		return old
	}
	if Builds(new, old) {
		before, _, _ := strings.Cut(old, "write ")
		return before + new
	}
	return strings.TrimPrefix(old+"\n"+new, "\n")
}

// methodCall returns the call of a method of x. It stands at x.
func methodCall(x ast.Expr, name string, args ...ast.Expr) *ast.CallExpr {
	switch x.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
		x = &ast.ParenExpr{Lparen: x.Pos(), X: x, Rparen: x.Pos()}
	}
	return callOf(&ast.SelectorExpr{X: x, Sel: &ast.Ident{NamePos: x.Pos(), Name: name}}, args...)
}

// callOf returns a call of f. It stands at f.
func callOf(f ast.Expr, args ...ast.Expr) *ast.CallExpr {
	return &ast.CallExpr{Fun: f, Lparen: f.Pos(), Args: args, Rparen: f.Pos()}
}
