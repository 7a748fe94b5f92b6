package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/failure"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/magic"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// errLeft is the error of a cell that was interrupted and did not stop.
var errLeft = errors.New("left behind")

// errNotRun is the error of a cell that was interrupted while it was compiled.
var errNotRun = errors.New("interrupted before it ran")

// start runs the unit's function.
func (s *Session) start(c *cell) error {
	s.makeRoom(c)
	c.run = &live.Cell{N: c.n, Out: c.out}
	err, left := s.live.Run(c.run, c.ctx.Done(), s.opts.Grace, func() error {
		if err := s.front.Packages.Start(c.starts); err != nil {
			return err
		}
		err := c.program.Run()
		if p, ok := err.(*engine.Panic); ok {
			s.debugger.Panicked(p)
		}
		return err
	})
	s.stdio.Flush()
	s.comms.widgets.Flush()
	s.debugger.CellEnds()
	if left {
		if cause := c.run.Cause(); cause != nil {
			p, ok := cause.(*engine.Panic)
			if !ok {
				p = &engine.Panic{Value: cause}
			}
			return errors.Join(errLeft, p)
		}
		return errLeft
	}
	if p, ok := c.run.Cause().(*engine.Panic); ok && err == nil { // a goroutine panicked too late to stop the cell
		return p
	}
	return err
}

// panicked describes the panic that ended a cell.
func (s *Session) panicked(c *cell, p *engine.Panic) *eval.Error {
	if _, ok := p.Value.(live.Interrupted); ok {
		cause := c.run.Cause()
		if cause == nil {
			return s.describer().Interrupted(timeLimit(c.ctx), p)
		}
		if other, ok := cause.(*engine.Panic); ok { // one of the cell's goroutines panicked
			p = other
		} else {
			p.Value = cause
		}
	}
	switch p.Value.(type) {
	case symbols.Exit, mapaccess.Conflict:
		s.live.Stop(c.run) // also stops its goroutines
	}
	return s.described(c, p)
}

// described describes a panic. The methods that give its value a text are code of the cell: they run as the cell did, and can be interrupted.
func (s *Session) described(c *cell, p *engine.Panic) *eval.Error {
	d, done := s.describer(), make(chan *eval.Error, 1)
	err := s.calling(c, func() { done <- d.Panic(p) })
	why := "its method does not return"
	halted := false // the methods have then returned, without a text
	if failed, ok := err.(*engine.Panic); ok {
		var deep live.TooDeep
		if deep, halted = failed.Value.(live.TooDeep); halted {
			why = deep.Error()
		}
	}
	select {
	case e := <-done:
		if !halted {
			return e
		}
	default:
	}
	without := *p
	without.Value = failure.NoText(why)
	return d.Panic(&without)
}

// Interrupt implements eval.Interrupter. The second interrupt within two seconds stops the goroutines of all cells. If no cell is running, the
// first one tells the reader of a cell that has left some how to stop them.
func (s *Session) Interrupt() {
	if s.live.Again() {
		s.live.StopAll()
		return
	}
	c := s.live.Latest()
	if s.evaluating.Load() > 0 || c == nil {
		return
	}
	var cells []string
	for _, n := range s.live.Busy() {
		cells = append(cells, syntax.Label(n))
	}
	go fmt.Fprintf(c.Stderr(), "note: goroutines of %s still run. A second interrupt within two seconds stops them, %%stop %d those of %s, and %%goroutines lists them.\n",
		strings.Join(cells, ", "), c.N, syntax.Label(c.N)) // front ends may be slow to read
}

// timeLimit returns the reason for which a cell was stopped, or "" if its reader stopped it.
func timeLimit(ctx context.Context) string {
	if limit, ok := context.Cause(ctx).(magic.TimeLimit); ok {
		return limit.Error()
	}
	return ""
}

// describer describes failures of the session's cells.
func (s *Session) describer() failure.Describer {
	return failure.Describer{Places: s.places, Env: s.env, Engine: s.engine, Others: s.live.Others}
}
