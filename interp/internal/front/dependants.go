package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"slices"

	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/syntax"
)

// ownDecls parses the cell's declarations and leaves out those that repeat a
// declaration in force.
func (c *checker) ownDecls() ([]*DeclFile, error) {
	if err := c.parseStatements(); err != nil {
		return nil, &syntax.Rejected{Name: "CompileError", Problems: hints.Python(c.Code, c.diagnose())}
	}
	if err := c.shallow(c.Stmts.File); err != nil {
		return nil, err
	}
	var own []*DeclFile
	for _, it := range c.Pieces.Items {
		if it.Kind != syntax.Decl {
			continue
		}
		src := &Source{Cell: c.N, Item: it, Stops: c.Debug}
		f, err := c.parse(src)
		if err != nil {
			return nil, &syntax.Rejected{Name: "CompileError", Problems: hints.Python(c.Code, c.diagnose())}
		}
		if err := cmp.Or(c.shallow(f.File), c.bodies(f)); err != nil {
			return nil, err
		}
		src.norm = normal(f)
		own = append(own, f)
	}
	c.Repeated = c.unchanged(own)
	return slices.DeleteFunc(own, func(f *DeclFile) bool { return c.Repeated[f.Src] != nil }), nil
}

// unchanged finds declarations of the cell that are already in force word for word,
// along with everything they use: running a cell again keeps its types and functions.
func (c *checker) unchanged(own []*DeclFile) map[*Source]*Source {
	same := map[*Source]*Source{}
	for _, f := range own {
		names := f.names()
		if len(names) == 0 {
			continue
		}
		if old, _ := c.Env.Source(names[0]); old != nil && old.norm == f.Src.norm && old.inForce(c.Env) && c.sameImports(f, old) && !c.force[old] {
			same[f.Src] = old
		}
	}
	for again := true; again; {
		again = false
		changed := map[string]bool{}
		for _, f := range own {
			if same[f.Src] == nil {
				for _, name := range f.names() {
					changed[name] = true
				}
			}
		}
		for src, old := range same {
			for b := range old.Uses {
				if !c.Env.current(b) || changed[b.Name] || c.Superseded[b] {
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
func (src *Source) inForce(e *Env) bool {
	for _, b := range src.Binds {
		if e.Named(b.Name) != b {
			return false
		}
	}
	for _, m := range src.Methods {
		if !e.inForce(m) {
			return false
		}
	}
	return len(src.Binds)+len(src.Methods) > 0
}

func (c *checker) sameImports(f *DeclFile, old *Source) bool {
	for name, path := range old.Names {
		if c.importPath(name) != path || c.Env.Named(name) != nil {
			return false
		}
	}
	return true
}

// names lists the file's declarations, with methods as "T.M".
func (f *DeclFile) names() []string { return syntax.Declared(f.Decls) }

// redeclare supersedes the bindings whose names the cell declares.
func (c *checker) redeclare(own []*DeclFile) {
	for _, f := range own {
		for _, name := range f.names() {
			if b := cmp.Or(c.Env.Named(name), c.Env.methodFn(name)); b != nil {
				c.Superseded[b] = true
			}
		}
	}
}

// keepTypeUsers pins the declarations of earlier cells that use a type that the cell replaces by a variable.
func (c *checker) keepTypeUsers() {
	for _, st := range c.Body.Body.List {
		for _, id := range definedBy(st) {
			b := c.Env.Named(id.Name)
			if b == nil || b.Kind != KindType {
				continue
			}
			for src := range c.Env.users(b) {
				c.Pinned[src] = cmp.Or(c.Pinned[src], b.Name+" is a variable now")
			}
		}
	}
}

// dependants parses again the declarations of earlier cells that use, directly or not,
// something that the cell redeclares.
func (c *checker) dependants(own []*DeclFile) ([]*DeclFile, error) {
	if len(c.Superseded)+len(c.force) == 0 {
		return nil, nil
	}
	taken := map[string]bool{}
	for _, f := range own {
		for _, name := range f.names() {
			taken[name] = true
		}
	}
	chosen, stale := map[*Source]bool{}, map[*Binding]bool{}
	var todo []*Binding // whose users are to be chosen
	mark := func(b *Binding) {
		if !stale[b] {
			stale[b] = true
			todo = append(todo, b)
		}
	}
	choose := func(src *Source) {
		if chosen[src] || c.Pinned[src] != "" || !c.live(src, taken) {
			return
		}
		chosen[src] = true
		for _, b := range src.Binds {
			if c.Env.Named(b.Name) == b && !taken[b.Name] {
				mark(b)
			}
		}
		for _, m := range src.Methods {
			if m.Fn != nil && c.Env.current(m.Fn) && !taken[m.Fn.Name] {
				mark(m.Fn)
			}
		}
	}
	for b := range c.Superseded {
		mark(b)
	}
	for src := range c.force {
		choose(src)
	}
	for len(todo) > 0 {
		b := todo[0]
		todo = todo[1:]
		for src := range c.Env.users(b) {
			choose(src)
		}
	}
	var deps []*DeclFile
	for _, src := range inOrder(chosen) {
		f, err := c.parse(src)
		if err != nil {
			return nil, fmt.Errorf("cell In[%d] cannot be parsed again: %w", src.Cell, err)
		}
		f.Dependant = true
		f.keep(func(name string) bool { return !taken[name] && c.holds(src, name) })
		deps = append(deps, f)
	}
	return deps, nil
}

// live reports whether some declaration of src is in force and the cell itself does not
// redeclare it.
func (c *checker) live(src *Source, taken map[string]bool) bool {
	for _, b := range src.Binds {
		if c.Env.Named(b.Name) == b && !taken[b.Name] {
			return true
		}
	}
	for _, m := range src.Methods {
		if c.Env.inForce(m) && !taken[m.Typ.Name+"."+m.Name] {
			return true
		}
	}
	return false
}

// holds reports whether name, T.M for methods, is in force as src declared it.
func (c *checker) holds(src *Source, name string) bool {
	for _, b := range src.Binds {
		if b.Name == name {
			return c.Env.Named(name) == b
		}
	}
	for _, m := range src.Methods {
		if m.Typ.Name+"."+m.Name == name {
			return c.Env.Of(m.Typ).Method(m.Name) == m
		}
	}
	return false
}

// keep drops the names that the file no longer owns: types of a group are removed,
// constants become blank, which preserves iota.
func (f *DeclFile) keep(own func(name string) bool) {
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
