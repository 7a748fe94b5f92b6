package interp

import (
	"context"
	"errors"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/failure"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/magic"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/symbols"
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
	return s.describer().Panic(p)
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
