package live

import (
	"context"
	"maps"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"weak"

	"halfnote/internal/goid"
	"halfnote/interp/internal/engine"
	"halfnote/kernel/eval"
)

// Go runs f in a new goroutine of the calling cell, started at a mark. A panic in f ends only that
// goroutine.
func (r *Registry) Go(f func(), mark int) {
	c := r.Current()
	r.mayStart(c)
	started := make(chan struct{})
	go r.as(c, mark, func() { close(started); f() })
	r.starting.Add(1)
	defer r.starting.Add(-1)
	<-started // from now on an interrupt stops the goroutine
}

// Callback returns f for compiled code to call in a goroutine that the compiled code
// starts. The goroutine belongs to the cell that calls Callback. The call does nothing
// if that cell has been stopped.
func (r *Registry) Callback(f func()) func() {
	c := r.Current()
	r.leaves(c.root())
	return func() {
		if !c.root().stopped.Load() {
			r.as(c, 0, f)
		}
	}
}

// leaves records that a cell has left a callback, so that it can be stopped although it has no goroutine.
func (r *Registry) leaves(c *Cell) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.callers[weak.Make(c)] = true
	if len(r.callers) > 2*r.collected+8 {
		maps.DeleteFunc(r.callers, func(p weak.Pointer[Cell], _ bool) bool { return p.Value() == nil })
		r.collected = len(r.callers)
	}
}

// as makes the calling goroutine, which was started at a mark, belong to c while it runs f.
func (r *Registry) as(c *Cell, mark int, f func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // a wrong address panics, as nil does
	id := goid.Current()
	c.root().alive.Add(1)
	r.others.Add(1)
	r.add(id, c)
	if mark != 0 {
		r.startedAt(id, mark)
	}
	defer func() {
		if v := recover(); v != nil {
			p := r.Recovered(v)
			if _, ok := p.Value.(Interrupted); !ok && r.Report != nil {
				r.Report(c, p)
			}
		}
		r.leave(c)
		r.remove(id, c)
		r.others.Add(-1)
	}()
	f()
}

// Foreign reports whether the calling goroutine belongs to no cell: compiled code has started it.
func (r *Registry) Foreign() bool { return r.cell(goid.Current()) == nil }

// Guard calls f, and reports a panic in it under the running cell. It returns the panic, or nil.
func (r *Registry) Guard(f func()) (p *engine.Panic) {
	c := r.Current()
	defer func() {
		if v := recover(); v != nil {
			p = r.Recovered(v)
			if _, ok := p.Value.(Interrupted); !ok && r.Report != nil {
				r.Report(c, p)
			}
		}
	}()
	f()
	return nil
}

// Uncaught reports the value of a panic that is about to end the calling goroutine, which compiled code has started. It stops the running
// cell, which may wait for that goroutine.
func (r *Registry) Uncaught(value any) {
	p := r.Recovered(value)
	if _, ok := p.Value.(Interrupted); ok {
		return
	}
	c := r.Current()
	if r.Running(c) {
		r.StopFor(c, p)
	} else if r.Report != nil {
		r.Report(c, p)
	}
}

// Elsewhere calls run with a function that calls f in goroutines that run starts. A panic in f ends its
// goroutine, and is raised again in the calling goroutine after run has returned.
func (r *Registry) Elsewhere(run func(call func(f func()))) {
	c := r.Current()
	var first atomic.Pointer[engine.Panic]
	run(func(f func()) {
		id := goid.Current()
		foreign := r.Foreign()
		if foreign {
			r.add(id, c)
		}
		ended := false
		defer func() {
			if v := recover(); v != nil {
				first.CompareAndSwap(nil, r.Recovered(v))
				ended = true
			}
			if foreign {
				r.remove(id, c)
			}
			if ended {
				runtime.Goexit()
			}
		}()
		f()
	})
	if p := first.Load(); p != nil {
		r.attached.Load().Raise(p)
		panic(p.Value)
	}
}

// Beside calls f in the calling goroutine, as code of a cell that runs concurrently
// with the others: its output goes to out, and it is told to stop when ctx ends.
// stopped reports whether it was.
func (r *Registry) Beside(ctx context.Context, out eval.Output, f func()) (stopped bool) {
	c := &Cell{Out: out, stop: make(chan struct{})}
	c.Ctx, c.end = context.WithCancel(ctx)
	defer c.end()
	defer context.AfterFunc(ctx, func() { r.Stop(c) })()
	r.as(c, 0, f)
	return c.stopped.Load()
}

// Redirect calls f; the output of f and of the goroutines that it starts goes to out.
// Otherwise they belong to the cell of the calling goroutine.
func (r *Registry) Redirect(out eval.Output, f func()) {
	outer := r.Current()
	c := &Cell{N: outer.N, Out: out, Ctx: outer.Ctx, stop: outer.stop, outer: outer}
	id := goid.Current()
	r.others.Add(1) // makes Current identify the calling goroutine
	before, inCell := r.cells.Swap(id, c)
	defer func() {
		if inCell {
			r.cells.Store(id, before)
		} else {
			r.cells.Delete(id)
		}
		r.others.Add(-1)
	}()
	f()
}

// AfterFunc is time.AfterFunc.
func (r *Registry) AfterFunc(d time.Duration, f func()) *time.Timer {
	r.Expect(d)
	return time.AfterFunc(d, r.Callback(f))
}

// ResetTimer is the method Reset of time.Timer.
func (r *Registry) ResetTimer(t *time.Timer, d time.Duration) bool {
	r.Expect(d)
	return t.Reset(d)
}
