package front

import (
	"go/ast"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
)

// autoImport imports the packages of the standard library that the cell names without an import: those of which one package of the
// name exports all that the cell selects from it. It reports whether it has imported any.
func (c *checker) autoImport(a *attempt) bool {
	if !c.Session.AutoImport {
		return false
	}
	members := map[string][]string{} // what the cell selects from names that nothing declares
	for _, p := range a.errs {
		if name, ok := strings.CutPrefix(p.Msg, "undefined: "); ok && p.Cell == c.N {
			members[name] = nil
		}
	}
	for _, f := range append([]*DeclFile{c.Stmts}, a.decls...) {
		if f.Dependant {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && a.info.Uses[id] == nil {
					if _, unknown := members[id.Name]; unknown {
						members[id.Name] = append(members[id.Name], sel.Sel.Name)
					}
				}
			}
			return true
		})
	}
	found := false
	for name, selected := range members {
		if len(selected) == 0 {
			continue
		}
		fit := slices.DeleteFunc(slices.Clone(exports.Named(name)), func(path string) bool { return !c.exportsAll(path, selected) })
		if len(fit) == 1 {
			c.Env.Imports[name] = fit[0]
			c.AutoImported = append(c.AutoImported, fit[0])
			found = true
		}
	}
	slices.Sort(c.AutoImported)
	return found
}

// exportsAll reports whether a package is one of the standard library that exports all the names.
func (c *checker) exportsAll(path string, names []string) bool {
	if root, _, _ := strings.Cut(path, "/"); root == "halfnote" || strings.Contains(root, ".") {
		return false
	}
	pkg, err := c.Session.Importer.Import(path)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		o := pkg.Scope().Lookup(name)
		return o == nil || !o.Exported()
	})
}
