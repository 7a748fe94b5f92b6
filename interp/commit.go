package interp

import (
	"go/ast"
	"maps"
	"slices"
)

// commit makes the cell's environment the session's.
func (s *Session) commit(c *cell) {
	for _, m := range c.newMethods {
		m.typ.methods[m.name] = m.method
	}
	for b, hook := range c.newFuncHooks {
		b.hook = hook
	}
	for again, src := range c.repeated { // its place is now the latest run
		src.cell, src.item = again.cell, again.item
		for _, b := range src.binds {
			b.cell = src.cell
		}
		for _, m := range src.methods {
			m.cell = src.cell
		}
	}
	for _, f := range c.decls {
		f.src.stops = c.debug
	}
	s.env = c.env
	clear(s.packages.pending)
	if c.generics != nil {
		s.generics = c.generics
	}
	if c.included != nil {
		s.included = c.included
	}
	c.retired = map[*binding]bool{} // they stay retired
	for b := range c.superseded {
		if s.env.cur[b.name] != b && !s.used(b) && (b.kind == kindFunc || b.kind == kindVar && !b.captured) {
			s.engine.Remove(b.slot)
		}
	}
	s.sweep()
}

func (s *Session) used(b *binding) bool {
	for _, src := range s.env.sources() {
		if src.uses[b] {
			return true
		}
	}
	return false
}

// sweep forgets versions of types that are no longer mentioned.
func (s *Session) sweep() {
	if len(s.env.old) == 0 {
		return
	}
	used := map[string]bool{}
	note := func(owner *binding, d ast.Node) {
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && (owner == nil || id.Name != owner.check) {
				used[id.Name] = true
			}
			return true
		})
	}
	for _, b := range append(slices.Collect(maps.Values(s.env.cur)), s.env.old...) {
		for _, d := range b.decls {
			note(b, d)
		}
		for _, m := range b.methods {
			note(b, m.header)
		}
	}
	for _, b := range s.env.old {
		b.onlyShown = !used[b.check]
	}
	for _, o := range s.outs.kept {
		for _, d := range o.decls {
			note(nil, d)
		}
	}
	s.env.old = slices.DeleteFunc(s.env.old, func(b *binding) bool { return !used[b.check] })
}
