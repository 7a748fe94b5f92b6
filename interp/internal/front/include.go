package front

import (
	"cmp"
	"go/ast"
	"maps"

	"halfnote/interp/internal/clone"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
)

// unpackage drops the package qualifier of names that are run from source.
func (c *Lowering) unpackage(u *lower.Unit) {
	if !c.flat {
		return
	}
	for id, o := range u.Info.Uses {
		if o.Pkg() != u.Pkg && cmp.Or(c.Session.Std.Name(o), c.Session.Packages.name(o)) != "" {
			delete(u.Info.Uses, id)
		}
	}
}

// include adds the source of the standard library's generics that the unit uses,
// unchanged, for an engine that instantiates them itself. The source that earlier units
// included is already there.
func (c *Lowering) include(u *lower.Unit) error {
	if !c.flat {
		return nil
	}
	c.Included = maps.Clone(c.to.Included)
	todo := []ast.Node{u.File}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		var failed error
		ast.Inspect(n, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || c.Included[id.Name] {
				return failed == nil
			}
			if path := library.Aliased(id.Name); path != "" {
				c.UnitPaths[path] = true
				return true
			}
			d, err := c.Session.Std.decl(id.Name)
			if err != nil || d == nil {
				failed = err
				return err == nil
			}
			c.Included[id.Name] = true
			for _, n := range d.Nodes {
				n = clone.Tree(n, nil)
				u.File.Decls = append(u.File.Decls, n)
				todo = append(todo, n)
			}
			return true
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}
