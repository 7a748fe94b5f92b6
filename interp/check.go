package interp

import (
	"go/ast"
	"go/types"
	"slices"

	"halfnote/interp/lower"
)

// attempt is one run of the type checker over the cell and the session's declarations.
type attempt struct {
	decls []*declFile // declarations of the cell and of dependants
	// vars overrides the declarations of session variables that the cell declares and
	// its functions use.
	vars    map[string][]ast.Decl
	pkg     *types.Package
	info    *types.Info
	errs    []problem            // errors in the cell
	depErrs map[*source][]string // errors in dependants
	missing map[string]bool      // names unknown to the checker because their declarations are wrong
	files   []*ast.File          // input of the checker
}

// check type-checks the cell and what it affects. Nothing has reached the engine yet,
// so a rejected cell leaves no trace. The checker runs again as long as more turns out
// to depend on the cell: functions that use a new type, methods that no longer fit.
func (s *Session) check(c *cell) error {
	c.superseded, c.force = map[*binding]bool{}, map[*source]bool{}
	c.pinned = map[*source]string{}
	if c.debug {
		for _, src := range s.debugger.lacking(c.env) {
			c.force[src] = true
		}
	}
	for _, src := range c.env.sources() {
		for _, path := range src.names {
			if s.packages.pending[path] {
				c.force[src] = true
			}
		}
	}
	if s.debugger.leaving {
		for _, src := range c.env.sources() {
			if src.stops {
				c.force[src] = true
			}
		}
	}
	for range 20 { // each round adds or removes a declaration; real cells need far fewer
		own, err := c.ownDecls()
		if err != nil {
			return err
		}
		if list := s.useOutputs(c, own); len(list) > 0 {
			return &rejected{"CompileError", list}
		}
		c.redeclare(own)
		deps, err := c.dependants(own)
		if err != nil {
			return err
		}
		a := s.attempt(c, slices.Concat(own, deps))
		switch {
		case len(a.depErrs) > 0:
			for src, msgs := range a.depErrs {
				c.pinned[src] = msgs[0]
			}
		case len(a.errs) > 0:
			return &rejected{"CompileError", a.errs}
		case !c.whole && c.usesGenerics(a): // instances may mention any declaration
			c.whole = true
		case !c.more(a):
			c.pkg, c.info, c.decls = a.pkg, a.info, a.decls
			c.newVars = c.hoisted(a)
			c.standIns = map[string]bool{}
			for name := range a.vars {
				c.standIns[name] = true
			}
			return nil
		}
	}
	return &rejected{"CompileError", []problem{{cell: c.n, line: 1, col: 1, msg: "internal error: redeclaration did not converge; split the cell or run %reset"}}}
}

// usesGenerics reports whether the attempt declares or instantiates generics.
func (c *cell) usesGenerics(a *attempt) bool {
	return len(a.info.Instances) > 0 || slices.ContainsFunc(a.decls, func(f *declFile) bool {
		return slices.ContainsFunc(f.Decls, lower.IsGeneric)
	})
}

// more adds superseded declarations that the attempt has found: variables whose type has
// changed, and methods whose signature has changed. It reports whether it added any.
func (c *cell) more(a *attempt) bool {
	grown := false
	mark := func(b *binding) {
		if b != nil && !c.superseded[b] {
			c.superseded[b] = true
			grown = grown || c.hasUsers(b)
		}
	}
	for _, v := range c.hoisted(a) {
		b := c.env.cur[v.Name()]
		if b == nil || c.sameVar(a, b, v) {
			continue
		}
		mark(b)
	}
	for _, f := range a.decls {
		for _, d := range f.Decls {
			fd, ok := d.(*ast.FuncDecl)
			if !ok || fd.Recv == nil {
				continue
			}
			b := c.env.cur[lower.Receiver(fd)]
			if b == nil || b.kind != kindType || c.superseded[b] {
				continue
			}
			fn, _ := a.info.Defs[fd.Name].(*types.Func)
			m := b.methods[fd.Name.Name]
			if fn == nil || m == nil && !b.generic && !b.tainted && !c.complete {
				continue
			}
			if m != nil && m.sig == signature(fn) && m.hook != "" && !(c.complete && callsRecover(fd)) {
				continue
			}
			// The engine cannot change a method's type, so the type gets a new version.
			c.superseded[b] = true
			c.force[b.src] = true
			grown = true
		}
	}
	return grown
}

// signature returns a method's type, including the kind of its receiver, for
// comparison.
func signature(fn *types.Func) string {
	kind := ""
	if _, ok := fn.Signature().Recv().Type().(*types.Pointer); ok {
		kind = "*"
	}
	return kind + types.TypeString(fn.Signature(), (*types.Package).Path)
}

// sameVar reports whether v can use the slot of b.
func (c *cell) sameVar(a *attempt, b *binding, v *types.Var) bool {
	if b.kind != kindVar {
		return false
	}
	if was, ok := a.pkg.Scope().Lookup(b.check).(*types.Var); ok && a.vars[b.name] == nil {
		return types.Identical(was.Type(), v.Type())
	}
	return b.typ == typeString(v.Type(), a.pkg)
}

func (c *cell) hasUsers(b *binding) bool {
	for _, src := range c.env.sources() {
		if src.uses[b] && c.pinned[src] == "" {
			return true
		}
	}
	return false
}
