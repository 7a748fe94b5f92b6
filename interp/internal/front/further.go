package front

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"

	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/syntax"
)

// maxFixes is the number of times that a cell is fixed: a mistake may hide another, which hides a third.
const maxFixes = 6

// further returns the errors of an attempt and those that the checker finds once the cell is fixed as their hints say. An error
// about fixed code adds to the hint that fixed it.
func (c *checker) further(a *attempt) []syntax.Problem {
	list := slices.Clone(a.errs)
	for n := 0; n < maxFixes && len(a.fixes) > 0; n++ {
		c.fix(a)
		a = &attempt{decls: a.decls, vars: a.vars, missing: a.missing, env: a.env}
		c.typecheck(a)
		for _, p := range a.errs {
			i := slices.IndexFunc(list, func(q syntax.Problem) bool {
				return p.Cell == q.Cell && p.Line == q.Line && (p.Col == q.Col || hints.Builds(p.Hint, q.Hint))
			})
			if i < 0 {
				list = append(list, p)
			} else {
				list[i].Hint = hints.Join(list[i].Hint, p.Hint)
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

// fix replaces the pieces of the cell for which hints of an attempt have other code, and imports the packages that this names.
func (c *checker) fix(a *attempt) {
	isPackage := func(name string) bool { return c.importPath(name) != "" && c.Env.Named(name) == nil }
	for _, f := range append([]*DeclFile{c.Stmts}, a.decls...) {
		if f.Dependant {
			continue
		}
		for name := range a.fixes.Apply(f.File, isPackage) {
			f.Decls = append([]ast.Decl{&ast.GenDecl{Tok: token.IMPORT, Specs: []ast.Spec{importSpec(name, c.importPath(name))}}}, f.Decls...)
		}
	}
}
