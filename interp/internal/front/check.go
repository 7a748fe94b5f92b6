package front

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/hints"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
)

// attempt is one run of the type checker over the cell and the session's declarations.
type attempt struct {
	decls []*DeclFile // declarations of the cell and of dependants
	// vars overrides the declarations of session variables that the cell declares and
	// its functions use.
	vars    map[string][]ast.Decl
	pkg     *types.Package
	info    *types.Info
	checker *types.Checker
	errs    []syntax.Problem     // errors in the cell
	fixes   hints.Fixes          // by the hints of these errors
	depErrs map[*Source][]string // errors in dependants
	missing map[string]bool      // names unknown to the checker because their declarations are wrong
	files   []*ast.File          // input of the checker
	env     *Env                 // the environment that the checker sees: types that the attempt declares are retired
}

// checker runs the type checker over a cell and what it affects.
type checker struct {
	Checked
	force map[*Source]bool // sources to compile again although nothing they use changed
	paths map[string]bool  // packages mentioned by the stand-ins for the cell's variables
}

// Check type-checks a cell and what it affects. The checker runs again as long as more
// turns out to depend on the cell: functions that use a new type, methods that no longer
// fit. Sources in force are compiled again in any case.
func (p *Parsed) Check(force map[*Source]bool) (*Checked, error) {
	c := &checker{force: force, paths: map[string]bool{}, Checked: Checked{Parsed: p, Superseded: map[*Binding]bool{}, Pinned: map[*Source]string{}}}
	if err := c.check(); err != nil {
		return nil, err
	}
	return &c.Checked, nil
}

func (c *checker) check() error {
	for range 20 { // each round adds or removes a declaration; real cells need far fewer
		own, err := c.ownDecls()
		if err != nil {
			return err
		}
		if err := c.longConstants(); err != nil {
			return err
		}
		if list := c.useOutputs(own); len(list) > 0 {
			return &syntax.Rejected{Name: "CompileError", Problems: list}
		}
		c.redeclare(own)
		c.keepTypeUsers()
		deps, err := c.dependants(own)
		if err != nil {
			return err
		}
		if err := c.doubling(own); err != nil {
			return err
		}
		a := c.attempt(slices.Concat(own, deps))
		switch {
		case len(a.depErrs) > 0:
			for src, msgs := range a.depErrs {
				c.Pinned[src] = msgs[0]
			}
		case len(a.errs) > 0 && c.autoImport(a):
		case len(a.errs) > 0:
			return &syntax.Rejected{Name: "CompileError", Problems: listed(c.further(a))}
		case !c.more(a):
			c.Pkg, c.Info, c.Decls, c.Known, c.Find = a.pkg, a.info, a.decls, a.env, c.finder(a)
			c.newVars = c.hoisted(a)
			c.standIns = map[string]bool{}
			for name := range a.vars {
				c.standIns[name] = true
			}
			return nil
		}
	}
	return &syntax.Rejected{Name: "CompileError", Problems: []syntax.Problem{{Cell: c.N, Line: 1, Col: 1, Msg: "internal error: redeclaration did not converge; split the cell or run %reset"}}}
}

// more adds superseded declarations that the attempt has found: variables whose type has
// changed, and methods whose signature has changed. It reports whether it added any.
func (c *checker) more(a *attempt) bool {
	grown := false
	mark := func(b *Binding) {
		if b != nil && !c.Superseded[b] {
			c.Superseded[b] = true
			grown = grown || c.hasUsers(b)
		}
	}
	for _, v := range c.hoisted(a) {
		b := c.Env.Named(v.Name())
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
			b := c.Env.Named(lower.Receiver(fd))
			if b == nil || b.Kind != KindType || c.Superseded[b] {
				continue
			}
			fn, _ := a.info.Defs[fd.Name].(*types.Func)
			m := c.Env.Of(b).Method(fd.Name.Name)
			if fn != nil && lower.IsGenericMethod(fn) && (m == nil || m.Fn != nil) {
				continue // the type does not change
			}
			if fn == nil || m == nil && !(b.Generic && c.Session.Instances) && !c.Session.Tainted[b] {
				continue
			}
			if m != nil && m.sig == signature(fn) && m.Hook != "" {
				continue
			}
			// The engine cannot change a method's type, so the type gets a new version.
			c.Superseded[b] = true
			c.force[b.Src] = true
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
func (c *checker) sameVar(a *attempt, b *Binding, v *types.Var) bool {
	if b.Kind != KindVar {
		return false
	}
	if was, ok := a.pkg.Scope().Lookup(c.Env.Of(b).Check).(*types.Var); ok && a.vars[b.Name] == nil {
		return types.Identical(was.Type(), v.Type())
	}
	return b.Typ == exports.TypeString(v.Type(), a.pkg) && !a.renames(b.Typ)
}

// renames reports whether the text of an earlier type mentions a name that the attempt declares.
func (a *attempt) renames(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(a.decls, func(f *DeclFile) bool {
		return slices.ContainsFunc(f.names(), func(name string) bool { return slices.Contains(words, name) })
	})
}

func (c *checker) hasUsers(b *Binding) bool {
	for src := range c.Env.users(b) {
		if c.Pinned[src] == "" {
			return true
		}
	}
	return false
}
