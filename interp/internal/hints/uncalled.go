package hints

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"

	"halfnote/internal/near"
)

// uncalledHint explains an error about a method that is not called, such as p.Grad == 0, or returns "".
func (a *Attempt) uncalledHint(m Mistake) string {
	if !strings.Contains(m.Msg, "func(") {
		return ""
	}
	for _, n := range m.path {
		for _, x := range operandsOf(n) {
			sel, ok := ast.Unparen(x).(*ast.SelectorExpr)
			if !ok {
				continue
			}
			s := a.Info.Selections[sel]
			if s == nil || s.Kind() != types.MethodVal {
				continue
			}
			sig := s.Obj().(*types.Func).Signature()
			if sig.Results().Len() == 0 {
				continue
			}
			call := callOf(sel)
			what := sel.Sel.Name + " is a method: "
			if n := sig.Params().Len(); n > 1 || n == 1 && !sig.Variadic() {
				return what + code(callOf(sel, ast.NewIdent("…")))
			}
			h := a.write(sel, call)
			switch n := n.(type) {
			case *ast.SelectorExpr:
				h = "write " + code(&ast.SelectorExpr{X: call, Sel: n.Sel})
			case *ast.IndexExpr:
				h = "write " + code(&ast.IndexExpr{X: call, Index: n.Index})
			}
			return what + h
		}
		if _, ok := n.(ast.Stmt); ok {
			break
		}
	}
	return ""
}

// operandsOf returns the expressions whose values an expression or statement uses.
func operandsOf(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return []ast.Expr{n.X, n.Y}
	case *ast.UnaryExpr:
		return []ast.Expr{n.X}
	case *ast.IndexExpr:
		return []ast.Expr{n.X, n.Index}
	case *ast.SliceExpr:
		return []ast.Expr{n.X}
	case *ast.SelectorExpr:
		return []ast.Expr{n.X}
	case *ast.CallExpr:
		return n.Args
	case *ast.RangeStmt:
		return []ast.Expr{n.X}
	case *ast.AssignStmt:
		return n.Rhs
	case *ast.ValueSpec:
		return n.Values
	case *ast.ReturnStmt:
		return n.Results
	case *ast.IfStmt:
		return []ast.Expr{n.Cond}
	}
	return nil
}

// otherCase matches the member that the checker names because only its case differs.
var otherCase = regexp.MustCompile(`, but does have (?:method|field) (\w+)\)`)

// otherCaseHint says what to write where the name of a member has the wrong case, or returns "".
func (a *Attempt) otherCaseHint(m Mistake) string {
	found := otherCase.FindStringSubmatch(m.Msg)
	sel, ok := within[*ast.SelectorExpr](m.path)
	if found == nil || !ok {
		return ""
	}
	return a.renamed(sel, found[1], m.path)
}

// renamed mends a selector with a name that its type does not have. A method that takes no arguments is called.
func (a *Attempt) renamed(sel *ast.SelectorExpr, name string, path []ast.Node) string {
	new := &ast.SelectorExpr{X: sel.X, Sel: &ast.Ident{NamePos: sel.Sel.Pos(), Name: name}}
	o, _, _ := types.LookupFieldOrMethod(a.Info.TypeOf(sel.X), true, a.Pkg, name)
	if call, ok := within[*ast.CallExpr](path); ok && ast.Unparen(call.Fun) == ast.Expr(sel) {
		hint := *call
		hint.Fun = new
		a.Fixes[sel] = new
		return "write " + code(&hint)
	}
	if fn, ok := o.(*types.Func); ok && fn.Signature().Params().Len() == 0 {
		return a.write(sel, callOf(new))
	}
	return a.write(sel, new)
}

// respelled returns the name among names that differs only in case and underscores, or "".
func respelled(name string, names []string) string {
	for _, n := range names {
		if n != name && near.Fold(n) == near.Fold(name) {
			return n
		}
	}
	return ""
}
