package interp

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"

	"halfnote/interp/lower"
)

// ownDecls parses the cell's declarations and leaves out those that repeat a
// declaration in force.
func (c *cell) ownDecls() ([]*declFile, error) {
	if err := c.parseStatements(); err != nil {
		return nil, &rejected{"CompileError", c.asPython(c.diagnose())}
	}
	var own []*declFile
	for _, it := range c.items {
		if it.kind != itemDecl {
			continue
		}
		src := &source{cell: c.n, item: it}
		f, err := c.parse(src)
		if err != nil {
			return nil, &rejected{"CompileError", c.asPython(c.diagnose())}
		}
		src.norm = normal(f)
		own = append(own, f)
	}
	c.repeated = c.unchanged(own)
	return slices.DeleteFunc(own, func(f *declFile) bool { return c.repeated[f.src] != nil }), nil
}

// unchanged finds declarations of the cell that are already in force word for word,
// along with everything they use: running a cell again keeps its types and functions.
func (c *cell) unchanged(own []*declFile) map[*source]*source {
	same := map[*source]*source{}
	if len(own) == 0 {
		return same
	}
	sources := c.env.sources()
	for _, f := range own {
		for _, old := range sources {
			if old.norm == f.src.norm && old.inForce(c.env) && c.sameImports(f, old) && !c.force[old] {
				same[f.src] = old
			}
		}
	}
	for again := true; again; {
		again = false
		changed := map[string]bool{}
		for _, f := range own {
			if same[f.src] == nil {
				for _, name := range f.names() {
					changed[name] = true
				}
			}
		}
		for src, old := range same {
			for b := range old.uses {
				if c.env.cur[b.name] != b || changed[b.name] || c.superseded[b] {
					delete(same, src)
					again = true
					break
				}
			}
		}
	}
	return same
}

// inForce reports whether everything that the source declares still has that meaning.
func (src *source) inForce(e *env) bool {
	for _, b := range src.binds {
		if e.cur[b.name] != b {
			return false
		}
	}
	for _, m := range src.methods {
		if e.cur[m.typ.name] != m.typ || m.typ.methods[m.name] != m {
			return false
		}
	}
	return len(src.binds)+len(src.methods) > 0
}

func (c *cell) sameImports(f *declFile, old *source) bool {
	for name, path := range old.names {
		if c.importPath(name) != path || c.env.cur[name] != nil {
			return false
		}
	}
	return true
}

// names lists the file's declarations, with methods as "T.M".
func (f *declFile) names() []string { return declNames(f.Decls) }

func declNames(decls []ast.Decl) []string {
	var list []string
	for _, d := range decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				list = append(list, d.Name.Name)
			} else {
				list = append(list, lower.Receiver(d)+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					list = append(list, spec.Name.Name)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						list = append(list, id.Name)
					}
				}
			}
		}
	}
	return list
}

// redeclare supersedes the bindings whose names the cell declares.
func (c *cell) redeclare(own []*declFile) {
	for _, f := range own {
		for _, name := range f.names() {
			if b := c.env.cur[name]; b != nil {
				c.superseded[b] = true
			}
		}
	}
}

// dependants parses again the declarations of earlier cells that use, directly or not,
// something that the cell redeclares.
func (c *cell) dependants(own []*declFile) ([]*declFile, error) {
	if len(c.superseded)+len(c.force) == 0 {
		return nil, nil
	}
	taken := map[string]bool{}
	for _, f := range own {
		for _, name := range f.names() {
			taken[name] = true
		}
	}
	stale := maps.Clone(c.superseded)
	chosen := map[*source]bool{}
	sources := c.env.sources()
	for again := true; again; {
		again = false
		for _, src := range sources {
			if chosen[src] || c.pinned[src] != "" || !c.live(src, taken) || !src.usesAny(stale) && !c.force[src] {
				continue
			}
			chosen[src] = true
			again = true
			for _, b := range src.binds {
				if c.env.cur[b.name] == b && !taken[b.name] {
					stale[b] = true
				}
			}
		}
	}
	var deps []*declFile
	for _, src := range sources {
		if !chosen[src] {
			continue
		}
		f, err := c.parse(src)
		if err != nil {
			return nil, fmt.Errorf("cell In[%d] cannot be parsed again: %w", src.cell, err)
		}
		f.dependant = true
		f.keep(func(name string) bool { return !taken[name] && c.holds(src, name) })
		deps = append(deps, f)
	}
	return deps, nil
}

// live reports whether some declaration of src is in force and the cell itself does not
// redeclare it.
func (c *cell) live(src *source, taken map[string]bool) bool {
	for _, b := range src.binds {
		if c.env.cur[b.name] == b && !taken[b.name] {
			return true
		}
	}
	for _, m := range src.methods {
		if c.env.cur[m.typ.name] == m.typ && m.typ.methods[m.name] == m && !taken[m.typ.name+"."+m.name] {
			return true
		}
	}
	return false
}

// holds reports whether name, T.M for methods, is in force as src declared it.
func (c *cell) holds(src *source, name string) bool {
	for _, b := range src.binds {
		if b.name == name {
			return c.env.cur[name] == b
		}
	}
	for _, m := range src.methods {
		if m.typ.name+"."+m.name == name {
			return m.typ.methods[m.name] == m
		}
	}
	return false
}

func (src *source) usesAny(set map[*binding]bool) bool {
	for b := range src.uses {
		if set[b] {
			return true
		}
	}
	return false
}

// keep drops the names that the file no longer owns: types of a group are removed,
// constants become blank, which preserves iota.
func (f *declFile) keep(own func(name string) bool) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(spec ast.Spec) bool {
			t, ok := spec.(*ast.TypeSpec)
			return ok && !own(t.Name.Name)
		})
		for _, spec := range g.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, id := range v.Names {
					if !own(id.Name) {
						id.Name = "_"
					}
				}
			}
		}
	}
}
