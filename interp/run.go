package interp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"

	"halfnote/interp/internal/ansi"
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

// start runs the unit's function.
func (s *Session) start(c *declared) error {
	s.makeRoom(c)
	err := s.under(c.request, c.live(), func() error {
		if err := s.front.Packages.Start(c.starts); err != nil {
			return err
		}
		s.hashes.Begin()
		err := c.program.Run()
		if p, ok := err.(*engine.Panic); ok {
			s.debugger.Panicked(p)
		}
		return err
	})
	s.comms.widgets.Flush()
	s.debugger.CellEnds()
	return err
}

// live returns a part of the cell that is to run.
func (q request) live() *live.Cell { return &live.Cell{N: q.n, Out: q.out} }

// under runs f as code of a cell, which can be interrupted. If something else than an interrupt stopped it, that is the error.
func (s *Session) under(q request, c *live.Cell, f func() error) error {
	err, left := s.live.Run(c, q.ctx.Done(), s.opts.Grace, f)
	s.stdio.Flush()
	p, _ := err.(*engine.Panic)
	stopped := left
	if p != nil {
		_, interrupted := p.Value.(live.Interrupted)
		stopped = stopped || interrupted
	}
	switch cause := c.Cause().(type) {
	case nil:
	case *engine.Panic: // of one of the cell's goroutines
		if stopped || err == nil {
			p = cause
		}
	default:
		if stopped && p != nil {
			p.Value = cause
		} else if stopped {
			p = &engine.Panic{Value: cause}
		}
	}
	if p != nil {
		switch err = p; p.Value.(type) {
		case symbols.Exit, mapaccess.Conflict:
			s.live.Stop(c) // also stops its goroutines
		}
	}
	if left {
		return errors.Join(errLeft, err)
	}
	return err
}

// calling runs f as code of a cell: f can be interrupted, and may panic.
func (s *Session) calling(q request, f func()) error {
	c := q.live()
	err := s.under(q, c, func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = s.live.Recovered(r)
			}
		}()
		f()
		return nil
	})
	if err == nil {
		select {
		case <-c.Stopping(): // package fmt has recovered from the interrupt in a String method
			return &engine.Panic{Value: live.Interrupted{}}
		default:
		}
	}
	return err
}

// panicked describes the panic that ended a cell.
func (s *Session) panicked(q request, p *engine.Panic) *eval.Error {
	if _, ok := p.Value.(live.Interrupted); ok {
		return s.describer().Interrupted(timeLimit(q.ctx), p)
	}
	return s.described(q, p)
}

// described describes a panic. The methods that give its value a text are code of the cell: they run as the cell did, and can be interrupted.
func (s *Session) described(q request, p *engine.Panic) *eval.Error {
	d, done := s.describer(), make(chan *eval.Error, 1)
	err := s.calling(q, func() { done <- d.Panic(p) })
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

// reportGoroutine prints the panic of a cell's goroutine to the cell.
func (s *Session) reportGoroutine(c *live.Cell, p *engine.Panic) {
	var cause any // cause for ending the cell, where a program would end
	switch v := p.Value.(type) {
	case symbols.Exit:
		cause = v
	case mapaccess.Conflict:
		cause = p
	}
	if cause != nil {
		running := s.live.Running(c)
		s.live.StopFor(c, cause)
		if running {
			return // the cell's error reports it
		}
	}
	s.debugger.Panicked(p)
	e := s.describer().Panic(p)
	fmt.Fprintln(c.Stderr(), strings.Join(append(e.Traceback, ansi.Dim("in a goroutine, which has ended")), "\n"))
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

// Poll ends the calling goroutine, by a panic, if its cell has been told to stop.
// Long-running compiled code should call it every few milliseconds; it costs one load.
func (s *Session) Poll() {
	if engine.OneThread || atomic.LoadUint32(s.live.Flag()) != 0 {
		s.live.PollOften(0)
	}
}

// CaptureProcessOutput directs the output of compiled code to os.Stdout and os.Stderr
// to the running cell, before it ends, and that of packages log and log/slog to the
// cell that logs, until restore is called. It changes variables of the process, so it
// serves only one session: a kernel's.
func CaptureProcessOutput(s *Session) (restore func(), err error) { return s.stdio.Capture() }

// trimAbove is the number of allocated bytes above which garbage is collected at the
// end of a cell.
const trimAbove = 32 << 20

// allocated returns the total bytes that the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// trim returns unused memory to the system if the process has allocated more than trimAbove
// bytes after allocated returned since. A notebook stays open for hours and is mostly idle.
// The garbage collector alone would wait for more allocation, and other programs could not
// use the memory meanwhile.
func trim(since uint64) {
	if allocated()-since > trimAbove {
		debug.FreeOSMemory()
	}
}
