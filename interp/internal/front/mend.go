package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"halfnote/interp/internal/syntax"
)

// mends maps pieces of a cell to the code that hints suggest in their place. The checker has no type for a piece that it
// refuses, so it cannot find mistakes in what depends on that piece. It finds them once the piece is mended.
type mends map[ast.Node]ast.Node

// maxMends is the number of times that a cell is mended: a mistake may hide another, which hides a third.
const maxMends = 6

// write records a mend and returns the hint for it.
func (a *attempt) write(old, new ast.Node) string {
	a.mends[old] = new
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

// further returns the errors of an attempt and those that the checker finds once the cell is mended. An error about mended
// code adds to the hint that mended it.
func (c *checker) further(a *attempt) []syntax.Problem {
	list := slices.Clone(a.errs)
	for n := 0; n < maxMends && len(a.mends) > 0; n++ {
		c.mend(a)
		a = &attempt{decls: a.decls, vars: a.vars, missing: a.missing, env: a.env}
		c.typecheck(a)
		for _, p := range a.errs {
			i := slices.IndexFunc(list, func(q syntax.Problem) bool {
				return p.Cell == q.Cell && p.Line == q.Line && (p.Col == q.Col || builds(p.Hint, q.Hint))
			})
			if i < 0 {
				list = append(list, p)
			} else {
				list[i].Hint = joinHints(list[i].Hint, p.Hint)
			}
		}
	}
	if len(list) > len(a.errs) {
		slices.SortStableFunc(list, func(p, q syntax.Problem) int {
			return cmp.Or(cmp.Compare(p.Cell, q.Cell), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
		})
	}
	return list
}

// mend replaces the pieces of the cell that hints of an attempt replace, and imports the packages that the new code names.
func (c *checker) mend(a *attempt) {
	for _, f := range append([]*DeclFile{c.Stmts}, a.decls...) {
		if f.Dependant {
			continue
		}
		named := map[string]bool{}
		astutil.Apply(f.File, nil, func(at *astutil.Cursor) bool {
			if paren, ok := at.Node().(*ast.ParenExpr); ok {
				if call, ok := paren.X.(*ast.CallExpr); ok && a.isNew(call) {
					at.Replace(call)
				}
				return true
			}
			new, ok := a.mends[at.Node()]
			if !ok {
				return true
			}
			at.Replace(new)
			ast.Inspect(new, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if id, ok := sel.X.(*ast.Ident); ok && c.importPath(id.Name) != "" && c.Env.Cur[id.Name] == nil {
						named[id.Name] = true
					}
				}
				return true
			})
			return true
		})
		for _, d := range f.Decls {
			if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
				for _, spec := range d.Specs {
					if name := spec.(*ast.ImportSpec).Name; name != nil {
						delete(named, name.Name)
					}
				}
			}
		}
		for name := range named {
			f.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{importSpec(name, c.importPath(name))}}}, f.Decls...)
		}
	}
}

// isNew reports whether a call is new code of a mend.
func (a *attempt) isNew(call *ast.CallExpr) bool {
	for _, new := range a.mends {
		if new == ast.Node(call) {
			return true
		}
	}
	return false
}

// builds reports whether the code of a new hint contains that of an old one.
func builds(new, old string) bool {
	code, ok := strings.CutPrefix(new, "write ")
	_, was, written := strings.Cut(old, "write ")
	was, _, _ = strings.Cut(was, "; ")
	return ok && written && strings.Contains(code, was)
}

// joinHints adds a hint for a mended piece to the one that mended it. If the new code contains the old code, it takes its
// place.
func joinHints(old, new string) string {
	if new == "" || strings.Contains(old, new) {
		return old
	}
	if builds(new, old) {
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
