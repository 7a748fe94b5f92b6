package live

import (
	"context"
	"time"

	"halfnote/kernel"
)

// Go runs f in a new goroutine of the calling cell. A panic in f ends only that
// goroutine.
func (r *Registry) Go(f func()) {
	c := r.Current()
	started := make(chan struct{})
	go r.as(c, func() { close(started); f() })
	<-started // from now on an interrupt stops the goroutine
}

// Callback returns f for compiled code to call in a goroutine that the compiled code
// starts. The goroutine belongs to the cell that calls Callback. The call does nothing
// if that cell has been stopped.
func (r *Registry) Callback(f func()) func() {
	c := r.Current()
	return func() {
		if !c.root().stopped.Load() {
			r.as(c, f)
		}
	}
}

// as makes the calling goroutine belong to c while it runs f.
func (r *Registry) as(c *Cell, f func()) {
	id := r.id()
	c.root().alive.Add(1)
	r.others.Add(1)
	r.add(id, c)
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

// Beside calls f in the calling goroutine, as code of a cell that runs concurrently
// with the others: its output goes to out, and it is told to stop when ctx ends.
// stopped reports whether it was.
func (r *Registry) Beside(ctx context.Context, out kernel.Output, f func()) (stopped bool) {
	c := &Cell{Out: out, stop: make(chan struct{})}
	c.Ctx, c.end = context.WithCancel(ctx)
	defer c.end()
	defer context.AfterFunc(ctx, func() { r.Stop(c) })()
	r.as(c, f)
	return c.stopped.Load()
}

// Redirect calls f; the output of f and of the goroutines that it starts goes to out.
// Otherwise they belong to the cell of the calling goroutine.
func (r *Registry) Redirect(out kernel.Output, f func()) {
	outer := r.Current()
	c := &Cell{N: outer.N, Out: out, Ctx: outer.Ctx, stop: outer.stop, outer: outer}
	id := r.id()
	r.others.Add(1) // makes Current identify the calling goroutine
	r.mu.Lock()
	before := r.cells[id]
	r.cells[id] = c
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		r.cells[id] = before
		if before == nil {
			delete(r.cells, id)
		}
		r.mu.Unlock()
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
