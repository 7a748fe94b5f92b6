package live

import "time"

// Go runs f in a new goroutine of the calling cell. A panic in it ends it alone.
func (r *Registry) Go(f func()) {
	c := r.Current()
	started := make(chan struct{})
	go r.as(c, func() { close(started); f() })
	<-started // so that an interrupt finds it
}

// Callback returns f for compiled code to call in a goroutine that this starts,
// which belongs to the cell that calls Callback. It does nothing when that has been
// stopped.
func (r *Registry) Callback(f func()) func() {
	c := r.Current()
	return func() {
		if !c.stopped.Load() {
			r.as(c, f)
		}
	}
}

// as makes the calling goroutine one of c while it runs f.
func (r *Registry) as(c *Cell, f func()) {
	id := ID()
	c.alive.Add(1)
	r.others.Add(1)
	r.add(id, c)
	defer func() {
		if v := recover(); v != nil {
			p := r.Recovered(v)
			if _, ok := p.Value.(Interrupted); !ok && r.Report != nil {
				r.Report(c, p)
			}
		}
		r.remove(id, c)
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
