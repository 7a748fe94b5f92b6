package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/types"
	"maps"
	"slices"

	"halfnote/interp/internal/exports/list"
	"halfnote/interp/internal/exports/load"
)

// met returns tables of the packages whose types cells see but which they cannot import. The
// tables refer to each type by the name that an importable package gives it, because package
// symbols may import only those.
func met(pkgs []*load.Package) map[string][]byte {
	type alias struct{ path, pkg, name string }
	found := map[string]map[string]alias{} // by package met and type
	for _, p := range pkgs {
		for _, name := range p.Types.Scope().Names() {
			o, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok || !o.Exported() || !o.IsAlias() || isGeneric(o) {
				continue
			}
			n, ok := types.Unalias(o.Type()).(*types.Named)
			if !ok || n.Obj().Pkg() == nil || !slices.Contains(list.Met, n.Obj().Pkg().Path()) {
				continue
			}
			path := n.Obj().Pkg().Path()
			if found[path] == nil {
				found[path] = map[string]alias{}
			}
			if _, ok := found[path][n.Obj().Name()]; !ok {
				found[path][n.Obj().Name()] = alias{p.Path, p.Name, name}
			}
		}
	}
	files := map[string][]byte{}
	for path, names := range found {
		w := writer{imports: map[string]string{}}
		var entries bytes.Buffer
		for _, name := range slices.Sorted(maps.Keys(names)) {
			a := names[name]
			pkg := w.qualify(types.NewPackage(a.path, a.pkg))
			fmt.Fprintf(&entries, "{%q, (*%s.%s)(nil)},\n", name, pkg, a.name)
		}
		src, err := format.Source(w.file(path, entries.Bytes(), nil))
		if err != nil {
			panic(err) // no outside input is involved
		}
		files[path] = src
	}
	return files
}
