package hints

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
)

// undefinedHint suggests declared names that are similar to an undefined one.
func (a *Attempt) undefinedHint(m Mistake) string {
	path := m.path
	if sel, ok := within[*ast.SelectorExpr](path); ok && sel.Sel.Pos() == m.Pos {
		if id, ok := sel.X.(*ast.Ident); ok {
			if p, ok := a.Info.Uses[id].(*types.PkgName); ok {
				return cmp.Or(foreignMembers[p.Imported().Name()+"."+sel.Sel.Name], constructor(p.Imported(), sel.Sel.Name), a.packageHint(p.Imported(), sel, path), a.qualifiedHint(sel.Sel.Name), meant(sel.Sel.Name, exportedNames(p.Imported().Scope())))
			}
		}
	}
	name, ok := strings.CutPrefix(m.Msg, "undefined: ")
	if !ok {
		return ""
	}
	if h := cmp.Or(a.failedHint(name), a.beforeHint(name), foreignNames[name], a.packageNameHint(name, path), a.importHint(name, path), a.qualifiedHint(name)); h != "" {
		return h
	}
	call, ok := within[*ast.CallExpr](path)
	called := false
	if id, isName := path[0].(*ast.Ident); isName && ok {
		called = call.Fun == ast.Expr(id)
	}
	selected := false // new has no members
	if sel, ok := within[*ast.SelectorExpr](path); ok {
		selected = sel.X == path[0]
	}
	var names []string
	for s := a.Pkg.Scope().Innermost(m.Pos); s != nil; s = s.Parent() {
		for _, n := range s.Names() {
			if _, builtin := s.Lookup(n).(*types.Builtin); (!called || callable(s.Lookup(n))) && !(selected && builtin) {
				names = append(names, n)
			}
		}
	}
	for n, what := range a.Names {
		if !called || what.Callable {
			names = append(names, n)
		}
	}
	if !called {
		names = slices.AppendSeq(names, maps.Keys(exports.Preloaded))
		names = slices.AppendSeq(names, maps.Keys(a.Imports))
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "__") })
	if d, ok := within[*ast.FuncDecl](path); ok {
		names = slices.DeleteFunc(names, func(n string) bool { return n == d.Name.Name })
	}
	h := meant(name, names)
	if id, ok := path[0].(*ast.Ident); ok && h == "" {
		if st, ok := within[*ast.AssignStmt](path); ok && st.Tok == token.ASSIGN && slices.Contains(st.Lhs, ast.Expr(id)) {
			h = name + " := … declares it"
		}
	}
	if called && m.Fset.File(m.Pos) != a.Statements {
		h += fmt.Sprintf("\nfunctions that call each other belong in one cell: declare %s in this one", name)
	}
	return strings.TrimPrefix(h, "\n")
}

// constructor names the function of a package that makes a value of the type name, or returns "".
func constructor(pkg *types.Package, name string) string {
	if pkg.Scope().Lookup("New"+name) == nil {
		return ""
	}
	return fmt.Sprintf("%s.New%s is the constructor", pkg.Name(), name)
}

// constructorHint names the constructor of a type that is called like a function, or returns "".
func (a *Attempt) constructorHint(m Mistake) string {
	for _, n := range m.path {
		call, ok := n.(*ast.CallExpr)
		if !ok || !a.Info.Types[call.Fun].IsType() {
			continue
		}
		named, ok := types.Unalias(a.Info.TypeOf(call.Fun)).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == a.Pkg {
			return ""
		}
		return constructor(named.Obj().Pkg(), named.Obj().Name())
	}
	return ""
}

// callable reports whether an object can be called.
func callable(o types.Object) bool {
	switch o := o.(type) {
	case *types.TypeName, *types.Builtin:
		return true
	case *types.Var, *types.Func:
		_, ok := o.Type().Underlying().(*types.Signature)
		return ok
	}
	return false
}

// exportedNames returns the exported names of a package.
func exportedNames(s *types.Scope) []string {
	return slices.DeleteFunc(s.Names(), func(n string) bool { return !token.IsExported(n) })
}

// importHint suggests the packages that an undefined name could denote. Where the name is
// followed by a selector, these are the packages that export it.
func (a *Attempt) importHint(name string, path []ast.Node) string {
	sel, isSel := within[*ast.SelectorExpr](path)
	if id, ok := path[0].(*ast.Ident); !ok || !isSel || sel.X != ast.Expr(id) {
		return "" // net := …; net alone is a variable
	}
	var found []string
	for _, p := range exports.Packages() {
		if exports.Name(p) != name {
			continue
		}
		if pkg, err := a.Importer.Import(p); err == nil && pkg.Scope().Lookup(sel.Sel.Name) != nil {
			found = append(found, fmt.Sprintf("import %q", p))
		}
	}
	return strings.Join(found, " or ")
}

// qualifiedHint names the preloaded packages that export an undefined name, or returns "".
func (a *Attempt) qualifiedHint(name string) string {
	if !token.IsExported(name) {
		return ""
	}
	var found []string
	for short, path := range exports.Preloaded {
		if pkg, err := a.Importer.Import(path); err == nil && pkg.Scope().Lookup(name) != nil {
			found = append(found, short+"."+name)
		}
	}
	slices.Sort(found)
	if len(found) == 0 || len(found) > 3 {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", strings.Join(found, " or "))
}

// failedHint names the latest cell that declares name but did not run, or returns "".
func (a *Attempt) failedHint(name string) string {
	if n := a.Failed(name); n != 0 {
		return fmt.Sprintf("In[%d], which declares it, did not run: fix it and run it again", n)
	}
	return ""
}

// beforeHint names the latest cell of the kernel before this one that declares name, or returns "".
func (a *Attempt) beforeHint(name string) string {
	if n := a.Before(name); n != 0 {
		return fmt.Sprintf("In[%d] of the kernel before this one declares it: %%rerun ~1/%d runs that cell again, %%rerun ~1 all of them", n, n)
	}
	return ""
}
