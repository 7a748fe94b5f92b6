package interp

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"
	"syscall"

	"halfnote/interp/internal/front"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// target returns what units refer to.
func (s *Session) target() *front.Target {
	return &front.Target{
		Needs: s.engine.Needs(), Generics: s.front.Generics, Included: s.front.Included, Labels: s.places.Labels(), FirstMark: s.places.Len() + 1,
		Types: s.types, Variable: s.support.Variable, Iface: s.support.Iface, Compiled: s.compiled, TypeLabel: s.front.TypeLabel, Stops: s.debugger.Insert, Check: s.core,
	}
}

// compiled makes a compiled instance of a generic function available to units.
func (s *Session) compiled(instance string, t types.Type) ast.Expr {
	name, f, ok := library.Compiled(instance)
	if !ok {
		return nil
	}
	if s.front.Std.Instances[name] == nil {
		s.support.Add(map[string]any{name: f.Interface()})
		s.front.Std.Instances[name] = t
	}
	return lower.SupportName(name)
}

// declare passes the unit to the engine and, if the engine accepts it and claim returns true, makes the cell's
// environment the session's.
func (s *Session) declare(q request, p *prepared, claim func() bool) (*declared, error) {
	before := s.places.Note(p.bound.Checked, p.lowered.Marks)
	s.places.NoteDeclarations(p.bound.Checked)
	s.front.Take(p.bound.Slots)
	program, err := s.engine.Declare(q.ctx, p.lowered.Unit)
	if err == nil && !claim() { // the session has not waited
		s.engine.Remove(slices.Collect(maps.Keys(p.bound.Slots))...)
		err = errNotRun
	}
	if err != nil {
		s.engine.Remove(p.results()...)
		s.places.Forget(before)
		for b := range p.bound.Touched {
			s.front.Tainted[b] = true
		}
		if q.ctx.Err() != nil {
			return nil, errNotRun
		}
		if _, ok := errors.AsType[syscall.Errno](err); ok { // too many files or processes are open
			return nil, fmt.Errorf("the cell could not be compiled, and has not run: %w", err)
		}
		return nil, p.bound.Unsupported(err)
	}
	s.places.AddLabels(p.lowered.Labels)
	was := s.env
	replaced := s.commit(p)
	for _, line := range notices(p, was) {
		fmt.Fprintln(q.out.Stderr(), line)
	}
	return &declared{q, p, program, before, replaced}, nil
}

// commit makes the cell's environment the session's. It returns what the cell replaces and still reads.
func (s *Session) commit(p *prepared) (replaced []*front.Binding) {
	s.checking.Lock()
	s.mu.Lock()
	unused := s.front.Accept(p.bound, p.lowered)
	s.env, s.snap = p.bound.Env, nil
	s.mu.Unlock()
	s.checking.Unlock()
	for _, b := range unused {
		if p.bound.Reads(b) {
			replaced = append(replaced, b)
		} else {
			s.engine.Remove(b.Slot)
		}
	}
	return replaced
}

// take makes an environment the session's.
func (s *Session) take(e *front.Env) {
	e.Freeze()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.env, s.snap = e, nil
}

// notices returns a note for each declaration of the environment before that the cell did not change although it may appear to.
func notices(p *prepared, before *front.Env) (list []string) {
	c := p.bound
	for _, path := range c.AutoImported {
		list = append(list, fmt.Sprintf("note: imported %q (%%autoimport off ends this)", path))
	}
	if b := c.Env.Named("main"); b != nil && b.Kind == front.KindFunc && b.Cell() == c.N && !c.Pieces.HasStatements() {
		list = append(list, "note: main has not run; main() runs it")
	}
	for src, why := range c.Pinned {
		for _, b := range src.Binds {
			if c.Env.Named(b.Name) == b {
				list = append(list, fmt.Sprintf("note: %s (%s) no longer compiles and keeps its old version: %s", b.Name, syntax.Label(b.Cell()), why))
			}
		}
		for _, m := range src.Methods {
			if t := c.Env.Named(m.Typ.Name); t != nil && t != m.Typ && t.Kind == front.KindType && c.Env.Of(t).Method(m.Name) == nil {
				list = append(list, fmt.Sprintf("note: the new %s has no method %s of %s: %s", m.Typ.Name, m.Name, syntax.Label(m.Src.Cell), why))
			}
		}
	}
	known := map[*front.Binding]bool{}
	for _, b := range before.Old {
		known[b] = true
	}
	for _, b := range c.Env.Old {
		if b.Kind == front.KindType && !known[b] && !c.Env.Of(b).OnlyShown {
			list = append(list, fmt.Sprintf("note: %s was redeclared; existing values keep the type from %s", b.Name, syntax.Label(b.Cell())))
		}
	}
	slices.Sort(list)
	return append(list, p.lowered.Suspicions...)
}

// declarePackages passes the cell's imports to the engine, with their dependencies. It returns those
// that are to be initialized before the cell runs.
func (s *Session) declarePackages(ctx context.Context, c *front.Bound) (starts []*front.SourceUnit, err error) {
	var list []*library.Package
	paths := slices.Concat(c.Imported, slices.Sorted(maps.Values(c.Env.Imports)), c.Env.Dots)
	for _, path := range paths {
		if l := s.front.Packages.Loader.Loaded(path); l != nil {
			list = front.Closure(l, list)
		}
	}
	for _, l := range list {
		u := s.front.Packages.Units[l.Types]
		if u == nil {
			continue // only inspected, for completion
		}
		if !u.Declared {
			if err := s.declarePackage(ctx, c.N, u); err != nil {
				delete(s.front.Packages.Units, l.Types)
				if ctx.Err() != nil {
					return nil, errNotRun
				}
				return nil, c.Refused(u, err)
			}
			u.Declared = true
		}
		if u.Program != nil {
			starts = append(starts, u)
		}
	}
	return starts, nil
}

// declarePackage passes a package to the engine.
func (s *Session) declarePackage(ctx context.Context, n int, u *front.SourceUnit) error {
	c, err := u.Lower(s.front.Input(n, "", &front.Files{}, false), s.env, s.target())
	if err != nil {
		return err
	}
	for name, text := range u.Text {
		s.front.Packages.Files[name] = &front.SourceFile{Name: u.Name(name), Text: text}
	}
	base := s.places.Note(c.Checked, c.Marks)
	s.front.Take(c.Slots)
	if u.Program, err = s.engine.Declare(ctx, c.Unit); err != nil {
		s.places.Forget(base)
		return err
	}
	s.places.AddLabels(c.Labels)
	s.front.Adopt(&c.Lowered)
	return nil
}

// stale returns the declarations of earlier cells that are to be compiled again with the next cell
// although nothing that they use changes: those that lack stops or have them for too long, and
// those that use a package that has been read again.
func (s *Session) stale(e *front.Env, stops bool) map[*front.Source]bool {
	force := map[*front.Source]bool{}
	if stops {
		for _, src := range s.debugger.Lacking(e) {
			force[src] = true
		}
	}
	if !s.debugger.Leaving() && len(s.front.Packages.Pending) == 0 {
		return force
	}
	for _, src := range e.Sources() {
		if s.debugger.Leaving() && src.Stops {
			force[src] = true
		}
		for _, path := range src.Names {
			if s.front.Packages.Pending[path] {
				force[src] = true
			}
		}
	}
	return force
}

// reload reads packages again whose files have changed, and says so.
func (s *Session) reload(out eval.Output) {
	retired, changed, err := s.front.Packages.Reload()
	switch {
	case err != nil:
		fmt.Fprintf(out.Stderr(), "note: %s changed on disk and cannot be read again; the notebook keeps the version that it has read: %v\n", namesOf(changed), err)
	case len(changed) > 0:
		e := s.env.Clone()
		for _, r := range retired {
			e.Moved(r.Old.Path, r.Kept.Path)
		}
		s.take(e)
		fmt.Fprintf(out.Stderr(), "note: %s changed on disk and was read again\n", namesOf(changed))
	}
}

// namesOf lists packages for a note.
func namesOf(set map[*library.Package]bool) string {
	var names []string
	for p := range set {
		names = append(names, fmt.Sprintf("%q", p.Path))
	}
	slices.Sort(names)
	if len(names) == 1 {
		return "package " + names[0]
	}
	return "packages " + strings.Join(names, ", ")
}

// declaredBefore returns the number of the latest cell of the kernel before this one that declares a name, or 0.
func (s *Session) declaredBefore(name string) int {
	if s.kept == nil {
		return 0
	}
	cells, err := s.kept.Sources(1)
	if err != nil {
		return 0 // the error about the name needs no history
	}
	for _, c := range slices.Backward(cells) {
		if c.Failed == "" && syntax.Declares(c.Source, name) {
			return c.Count
		}
	}
	return 0
}

// refusedIn returns the number of the latest cell that declares a name but did not run, or 0.
func (s *Session) refusedIn(name string) int {
	for _, c := range slices.Backward(s.history.Ran()) {
		switch c.Failed {
		case "CompileError", "Unsupported", "UnknownMagic":
			if syntax.Declares(c.Code, name) {
				return c.Count
			}
		}
	}
	return 0
}
