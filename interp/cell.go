package interp

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"runtime/trace"
	"slices"
	"sync/atomic"
	"syscall"

	"halfnote/display"
	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// cell is a cell that the engine runs.
type cell struct {
	*front.Bound
	front.Lowered
	n        int
	ctx      context.Context
	out      eval.Output
	starts   []*front.SourceUnit // packages to initialize before the cell runs
	markBase int                 // number of marks in the session before those of the cell
	program  engine.Program
	run      *live.Cell
	value    *display.Bundle
	taken    atomic.Bool // whether the session has taken its names, or waits for it no longer
}

// run takes a cell through the front end, runs it and shows its value. Its stages are regions of Go's
// execution trace.
func (s *Session) run(ctx context.Context, in eval.Cell, out eval.Output) eval.Result {
	defer trim(allocated())
	stops := s.debugger.On()
	c, err := s.execute(ctx, in, out, stops)
	var no *syntax.Rejected
	if stops && errors.As(err, &no) && no.Name == "Unsupported" { // possibly because of the stops
		c, err = s.execute(ctx, in, out, false)
	}
	if err == nil {
		trace.WithRegion(ctx, "render", func() { err = s.render(c) })
	}
	if err == nil {
		s.keepOutput(c)
	}
	s.screen.Settle()
	r := s.finish(c, err)
	s.drop(c, errors.Is(err, errLeft))
	return r
}

// execute prepares a cell and runs it, without showing its value. With stops, it stops at
// breakpoints.
func (s *Session) execute(ctx context.Context, in eval.Cell, out eval.Output, stops bool) (*cell, error) {
	c, err := s.compile(ctx, in, out, stops)
	if err == nil {
		trace.WithRegion(ctx, "run", func() { err = s.start(c) })
	}
	return c, err
}

// prepare takes a cell through the front end.
func (s *Session) prepare(c *cell, in front.Input) error {
	s.checking.Lock()
	defer s.checking.Unlock()
	var k *front.Checked
	var err error
	trace.WithRegion(c.ctx, "check", func() { k, err = s.check(in, c.out) })
	if err != nil {
		return err
	}
	trace.WithRegion(c.ctx, "bind", func() { c.Bound, err = k.Bind() })
	if err != nil {
		return err
	}
	if c.starts, err = s.declarePackages(c.ctx, c.Bound); err != nil {
		return err
	}
	var l *front.Lowered
	trace.WithRegion(c.ctx, "lower", func() { l, err = c.Bound.Lower(s.target()) })
	if err != nil {
		return err
	}
	c.Lowered = *l
	return nil
}

// check parses and type-checks a cell. checking must be held.
func (s *Session) check(in front.Input, out eval.Output) (*front.Checked, error) {
	s.reload(out)
	p, err := front.Parse(in, s.env)
	if err != nil {
		return nil, err
	}
	k, err := p.Check(s.stale(p.Env, in.Debug))
	if err != nil {
		return nil, err
	}
	return k, k.Fits(s.live.Memory)
}

// examine parses and type-checks a cell that is not to run.
func (s *Session) examine(in eval.Cell, out eval.Output) (*front.Checked, error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	files := &front.Files{}
	defer s.front.Release(files)
	return s.check(s.front.Input(in.Count, in.Code, files, false), out)
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

// target returns what units refer to.
func (s *Session) target() *front.Target {
	return &front.Target{
		Needs: s.engine.Needs(), Generics: s.front.Generics, Included: s.front.Included, Labels: s.places.Labels(), FirstMark: s.places.Len() + 1,
		Types: s.types, Variable: s.packageVar, Iface: s.iface, Compiled: s.compiled, TypeLabel: s.typeLabel, Stops: s.debugger.Insert, Check: s.core,
	}
}

// finish returns the result of a cell.
func (s *Session) finish(c *cell, err error) eval.Result {
	var r *syntax.Rejected
	var p *engine.Panic
	switch {
	case err == nil:
		return eval.Result{Value: c.value}
	case errors.As(err, &r):
		return eval.Result{Err: s.describer().Mistakes(r)}
	case errors.As(err, &p):
		return eval.Result{Err: s.panicked(c, p)}
	case errors.Is(err, errLeft):
		return eval.Result{Err: s.describer().Interrupted("", nil)}
	case errors.Is(err, errNotRun):
		return eval.Result{Err: s.describer().NotRun(timeLimit(c.ctx))}
	}
	return eval.Result{Err: &eval.Error{Name: "InternalError", Value: err.Error(), Traceback: []string{ansi.Bold(err.Error())}}}
}

// drop releases the resources that only this cell used. A cell that was left behind is
// still running.
func (s *Session) drop(c *cell, left bool) {
	for _, v := range c.Results {
		s.engine.Remove(v.Slot)
	}
	if left || c.program == nil {
		return
	}
	gone := c.program.Free()
	if in := c.Outs[front.InName]; in != nil && !c.KeepsIn {
		engine.Clear(s.engine, in.Slot)
	}
	for _, f := range c.Files.Parsed {
		if !s.marking() && !gone && !typesOnly(f.File) {
			continue // frames of panics hold positions in the file
		}
		if !slices.ContainsFunc(f.Decls, lower.IsGeneric) { // later instances are made from its text
			c.Fset.RemoveFile(f.Tok)
		}
	}
	if !gone {
		return
	}
	s.places.DropLabel(c.Entry())
	if s.places.Len() == c.markBase+len(c.Marks) {
		s.places.Forget(c.markBase)
	}
}

// typesOnly reports whether a file declares types and nothing else, so that no code is at its positions.
func typesOnly(f *ast.File) bool {
	return !slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return !ok || g.Tok != token.TYPE && g.Tok != token.IMPORT
	})
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

// marking reports whether the engine finds places only by marks.
func (s *Session) marking() bool { return slices.Contains(s.engine.Needs().Rewrites, "mark") }

// declare passes the unit to the engine and, if the engine accepts it, commits the
// cell's names.
func (s *Session) declare(c *cell) error {
	c.markBase = s.places.Note(c.Checked, c.Marks)
	s.places.NoteDeclarations(c.Checked)
	s.front.Take(c.Slots)
	p, err := s.engine.Declare(c.ctx, c.Unit)
	if err == nil && !c.taken.CompareAndSwap(false, true) { // the session has not waited
		s.engine.Remove(slices.Collect(maps.Keys(c.Slots))...)
		err = errNotRun
	}
	if err != nil {
		s.places.Forget(c.markBase)
		for b := range c.Touched {
			s.front.Tainted[b] = true
		}
		if c.ctx.Err() != nil {
			return errNotRun
		}
		if _, ok := errors.AsType[syscall.Errno](err); ok { // too many files or processes are open
			return fmt.Errorf("the cell could not be compiled, and has not run: %w", err)
		}
		return c.Unsupported(err)
	}
	c.program = p
	s.places.AddLabels(c.Labels)
	before := s.env
	s.commit(c.Bound, &c.Lowered)
	c.notices(before)
	return nil
}

// notices prints a note for each declaration that the cell did not change although it may
// appear to.
func (c *cell) notices(before *front.Env) {
	var list []string
	for src, why := range c.Pinned {
		for _, b := range src.Binds {
			if c.Env.Named(b.Name) == b {
				list = append(list, fmt.Sprintf("note: %s %s of %s still uses the old declarations: %s", b.Kind, b.Name, syntax.Label(b.Cell()), why))
			}
		}
		for _, m := range src.Methods {
			if t := c.Env.Named(m.Typ.Name); t != nil && t != m.Typ && c.Env.Of(t).Method(m.Name) == nil {
				list = append(list, fmt.Sprintf("note: the new %s has no method %s of %s: %s", m.Typ.Name, m.Name, syntax.Label(m.Src.Cell), why))
			}
		}
	}
	known := map[*front.Binding]bool{}
	for _, b := range before.Old {
		known[b] = true
	}
	for _, b := range c.Env.Old {
		if !known[b] && !c.Env.Of(b).OnlyShown {
			list = append(list, fmt.Sprintf("note: type %s is new: existing values keep the %s of %s", b.Name, b.Name, syntax.Label(b.Cell())))
		}
	}
	slices.Sort(list)
	for _, line := range append(list, c.Suspicions...) {
		fmt.Fprintln(c.out.Stderr(), line)
	}
}
