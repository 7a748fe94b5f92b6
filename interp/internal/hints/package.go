package hints

import (
	"go/ast"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
)

// packageHint says where a package's members are listed.
func packageHint(name string) string { return name + " is a package: " + name + "? lists what it has" }

// packageValueHint explains an error about a package that is used as a value.
func (a *Attempt) packageValueHint(m Mistake) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(m.Msg, "use of package "), " ")
	return a.packageNameHint(name, m.path)
}

// packageNameHint explains the name of a package that is used as a value, as in nn(x), and names the session's modules that the call may
// be meant for. It returns "" for other names.
func (a *Attempt) packageNameHint(name string, path []ast.Node) string {
	id, ok := path[0].(*ast.Ident)
	if sel, isSel := within[*ast.SelectorExpr](path); !ok || id.Name != name || exports.Preloaded[name] == "" && a.Imports[name] == "" || isSel && sel.X == ast.Expr(id) {
		return ""
	}
	h := packageHint(name)
	call, ok := within[*ast.CallExpr](path)
	if !ok || call.Fun != ast.Expr(id) {
		return h
	}
	var calls []string
	for n, what := range a.Names {
		if strings.HasPrefix(what.Variable, "*nn.") {
			calls = append(calls, code(callOf(&ast.SelectorExpr{X: ast.NewIdent(n), Sel: ast.NewIdent("Forward")}, call.Args...)))
		}
	}
	slices.Sort(calls)
	if len(calls) == 0 || len(calls) > 3 {
		return h
	}
	return h + "; did you mean " + strings.Join(calls, " or ") + "?"
}
