package interp

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"runtime/debug"
	"runtime/trace"
	"slices"
	"sync/atomic"
	"time"

	"halfnote/display"
	"halfnote/interp/internal/ansi"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// request is a cell that is to run.
type request struct {
	n   int // its number
	ctx context.Context
	out eval.Output
}

// prepared is a cell that the front end has accepted.
type prepared struct {
	bound   *front.Bound
	lowered *front.Lowered
	starts  []*front.SourceUnit // packages to initialize before the cell runs
}

// declared is a cell that the engine has accepted.
type declared struct {
	request
	*prepared
	program     engine.Program
	marksBefore int              // number of marks in the session before those of the cell
	replaced    []*front.Binding // what the cell replaces and still reads
}

// errNotRun is the error of a cell that was interrupted while it was compiled.
var errNotRun = errors.New("interrupted before it ran")

// run takes a cell through the front end, runs it and shows its value. Its stages are regions of Go's
// execution trace.
func (s *Session) run(ctx context.Context, in eval.Cell, out eval.Output) (r eval.Result) {
	defer trim(allocated())
	q, stops := request{in.Count, ctx, out}, s.debugger.On()
	c, err := s.execute(q, in.Code, stops)
	var no *syntax.Rejected
	if stops && errors.As(err, &no) && no.Name == "Unsupported" { // possibly because of the stops
		c, err = s.execute(q, in.Code, false)
	}
	var value *display.Bundle
	if err == nil {
		trace.WithRegion(ctx, "render", func() { value, err = s.render(c) })
	}
	kept := err == nil && value != nil && s.keepOutput(c)
	s.screen.Settle()
	if err != nil {
		r.Err = s.failed(q, err)
	} else {
		r.Value = value
	}
	if c != nil {
		s.drop(c, kept, errors.Is(err, errLeft))
	}
	return r
}

// execute prepares a cell and runs it, without showing its value. With stops, it stops at breakpoints. The cell is nil if it did not run.
func (s *Session) execute(q request, code string, stops bool) (*declared, error) {
	c, err := s.compile(q, code, stops)
	if err == nil {
		trace.WithRegion(q.ctx, "run", func() { err = s.start(c) })
	}
	return c, err
}

// abandonAfter is the time that an interrupted cell has to finish being compiled.
const abandonAfter = 500 * time.Millisecond

// compile takes a cell through the front end and passes it to the engine. Neither the type checker nor the interpreter's compiler
// can be stopped: when an interrupted cell is not done after abandonAfter, it is compiled to its end and the result is not
// used. The next cell waits for that.
func (s *Session) compile(q request, code string, stops bool) (*declared, error) {
	select {
	case s.compiling <- struct{}{}:
	case <-q.ctx.Done():
		return nil, errNotRun
	}
	var claimed atomic.Bool
	claim := func() bool { return claimed.CompareAndSwap(false, true) }
	type outcome struct {
		cell  *declared
		err   error
		panic any
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		files := &front.Files{}
		defer func() {
			if p := recover(); p != nil {
				o.panic = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
			if o.panic != nil || o.err != nil {
				s.front.Release(files)
			}
			<-s.compiling
			done <- o
		}()
		var p *prepared
		if p, o.err = s.prepare(q, s.front.Input(q.n, code, files, stops)); o.err == nil {
			trace.WithRegion(q.ctx, "declare", func() { o.cell, o.err = s.declare(q, p, claim) })
		}
	}()
	finish := func(o outcome) (*declared, error) {
		if o.panic != nil {
			panic(o.panic)
		}
		return o.cell, o.err
	}
	select {
	case o := <-done:
		return finish(o)
	case <-q.ctx.Done():
	}
	select {
	case o := <-done:
		return finish(o)
	case <-time.After(abandonAfter):
	}
	if claim() { // the session has not taken the cell's names, and will not
		return nil, errNotRun
	}
	return finish(<-done)
}

// prepare takes a cell through the front end.
func (s *Session) prepare(q request, in front.Input) (*prepared, error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	var k *front.Checked
	var err error
	trace.WithRegion(q.ctx, "check", func() { k, err = s.check(in, q.out) })
	if err != nil {
		return nil, err
	}
	var p prepared
	trace.WithRegion(q.ctx, "bind", func() { p.bound, err = k.Bind() })
	if err != nil {
		return nil, err
	}
	if p.starts, err = s.declarePackages(q.ctx, p.bound); err != nil {
		return nil, err
	}
	trace.WithRegion(q.ctx, "lower", func() { p.lowered, err = p.bound.Lower(s.target()) })
	if err != nil {
		return nil, err
	}
	return &p, nil
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
	return k, k.Fits(s.live.Memory, s.live.MemorySetBy)
}

// examine parses and type-checks a cell that is not to run.
func (s *Session) examine(in eval.Cell, out eval.Output) (*front.Checked, error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	files := &front.Files{}
	defer s.front.Release(files)
	return s.check(s.front.Input(in.Count, in.Code, files, false), out)
}

// failed describes the error that ended a cell.
func (s *Session) failed(q request, err error) *eval.Error {
	var r *syntax.Rejected
	var p *engine.Panic
	switch {
	case errors.As(err, &r):
		return s.describer().Mistakes(r)
	case errors.As(err, &p):
		return s.panicked(q, p)
	case errors.Is(err, errLeft):
		return s.describer().Interrupted("", nil)
	case errors.Is(err, errNotRun):
		return s.describer().NotRun(timeLimit(q.ctx))
	}
	return &eval.Error{Name: "InternalError", Value: err.Error(), Traceback: []string{ansi.Bold(err.Error())}}
}

// drop releases the resources that only this cell used, except its value if that is kept. A cell that was left behind is
// still running.
func (s *Session) drop(c *declared, kept, left bool) {
	if !kept {
		s.engine.Remove(c.results()...)
	}
	if left {
		return
	}
	for _, b := range c.replaced {
		s.engine.Remove(b.Slot)
	}
	gone := c.program.Free()
	if in := c.bound.Outs[front.InName]; in != nil && !c.bound.KeepsIn {
		engine.Clear(s.engine, in.Slot)
	}
	for _, f := range c.bound.Files.Parsed {
		if !s.marking() && !gone && !typesOnly(f.File) {
			continue // frames of panics hold positions in the file
		}
		if !slices.ContainsFunc(f.Decls, lower.IsGeneric) { // later instances are made from its text
			c.bound.Session.Fset.RemoveFile(f.Tok)
		}
	}
	if !gone {
		return
	}
	s.places.DropLabel(c.bound.Entry())
	if s.places.Len() == c.marksBefore+len(c.lowered.Marks) {
		s.places.Forget(c.marksBefore)
	}
}

// results returns the engine's names of the cell's values.
func (p *prepared) results() (slots []string) {
	for _, v := range p.lowered.Results {
		slots = append(slots, v.Slot)
	}
	return slots
}

// typesOnly reports whether a file declares types and nothing else, so that no code is at its positions.
func typesOnly(f *ast.File) bool {
	return !slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return !ok || g.Tok != token.TYPE && g.Tok != token.IMPORT
	})
}

// marking reports whether the engine finds places only by marks.
func (s *Session) marking() bool { return slices.Contains(s.engine.Needs().Rewrites, "mark") }
