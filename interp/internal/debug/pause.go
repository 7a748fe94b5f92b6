package debug

import (
	"maps"
	"runtime"
	"slices"
	"strings"

	"halfnote/interp/internal/engine"
	"halfnote/kernel/eval"
)

// Pass is called by code that passes a stop. vars are pointers to the variables in
// scope.
func (d *Debugger) Pass(n int, vars ...any) {
	d.mu.Lock()
	o, debugging := d.observer, d.event != nil || d.postMortem != nil
	if n >= len(d.stops) || o == nil && !debugging {
		d.mu.Unlock()
		return
	}
	x := d.stops[n]
	d.mu.Unlock()
	if o != nil {
		o.At(n, x)
	}
	if !debugging {
		return
	}
	id, depth := d.live.ID(), stackDepth()
	d.mu.Lock()
	t := d.threads[id]
	if t == nil {
		t = &thread{}
		d.threads[id] = t
	}
	for len(t.calls) > 0 && t.calls[len(t.calls)-1].depth >= depth {
		t.calls = t.calls[:len(t.calls)-1]
	}
	t.calls = append(t.calls, activeCall{depth, n, vars})
	reason := d.reason(t, d.stops[n], depth)
	d.mu.Unlock()
	if reason != "" {
		d.wait(id, t, eval.DebugEvent{Reason: reason})
	}
}

// Panicked stops the calling goroutine, which p is about to end, if a front end stops at
// panics, and records the variables for %debug. It shows the calls that were active at the panic.
func (d *Debugger) Panicked(p *engine.Panic) {
	if _, ok := p.Value.(interface{ StopsCell() }); ok { // an interrupt, not an error of the cell
		return
	}
	id := d.live.ID()
	d.mu.Lock()
	t := d.threads[id]
	if t == nil || !d.panics && d.postMortem == nil {
		d.mu.Unlock()
		return
	}
	n := 0 // number of calls that the panic left, outermost first
	for _, f := range slices.Backward(d.session.Named(p.Frames)) {
		if n < len(t.calls) && d.stops[t.calls[n].stop].isIn(f) {
			n++
		}
	}
	t.calls = t.calls[:n]
	post, panics := d.postMortem, d.panics
	d.mu.Unlock()
	if post != nil {
		d.record(post, t.calls, p)
	}
	if n > 0 && panics {
		d.wait(id, t, eval.DebugEvent{Reason: "exception", Text: d.session.Message(p)})
	}
}

// isIn reports whether the stop is in the function of a frame.
func (x Stop) isIn(f engine.Frame) bool {
	base, _, literal := strings.Cut(f.Func, ".func")
	return base == x.Func && literal == x.Literal
}

// reason returns the reason for a goroutine to stop, or "".
func (d *Debugger) reason(t *thread, at Stop, depth int) string {
	if !at.begins {
		return ""
	}
	switch {
	case d.pausing:
		return "pause"
	case t.step == "stepIn", t.step == "next" && depth <= t.depth, t.step == "stepOut" && depth < t.depth:
		return "step"
	}
	for _, line := range d.breakpoints[at.Code] {
		if at.Line <= line && line <= at.to {
			return "breakpoint"
		}
	}
	return ""
}

// wait stops the calling goroutine, for the reason in why, until a front end resumes it
// or its cell is told to stop.
func (d *Debugger) wait(id uint64, t *thread, why eval.DebugEvent) {
	c := d.live.Current()
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-c.Stopping():
		d.live.Poll()
		return
	}
	d.mu.Lock()
	event := d.event
	if event == nil {
		d.mu.Unlock()
		return
	}
	resume := make(chan string, 1)
	t.resume, t.step, d.pausing = resume, "", false
	d.mu.Unlock()
	d.halted(true)
	why.Thread = int(id)
	event(why)
	how, interrupted := "", false
	select {
	case how = <-resume:
	case <-c.Stopping():
		interrupted = true
	}
	d.halted(false)
	d.mu.Lock()
	t.resume = nil
	if how == "continue" {
		how = ""
	}
	t.step, t.depth = how, t.calls[len(t.calls)-1].depth
	d.watch()
	d.mu.Unlock()
	event(eval.DebugEvent{Thread: int(id)})
	if interrupted {
		d.live.Poll()
	}
}

func (d *Debugger) halted(yes bool) {
	d.looking.Lock()
	defer d.looking.Unlock()
	d.stopped = yes
}

// Look calls f if the running cell has stopped, and keeps it stopped meanwhile.
func (d *Debugger) Look(f func()) (ok bool) {
	d.looking.Lock()
	defer d.looking.Unlock()
	if d.stopped {
		f()
	}
	return d.stopped
}

// CellEnds forgets the goroutines that are not stopped, which can no longer be stepped
// through.
func (d *Debugger) CellEnds() {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.threads, func(_ uint64, t *thread) bool { return t.resume == nil })
	d.watch()
}

// stackDepth returns the depth of the host's stack: it is the same for all statements
// of one call of an interpreted function, and greater in the calls it makes.
func stackDepth() int {
	const room = 128
	var pcs [room]uintptr
	for n := 0; ; n += room {
		if got := runtime.Callers(n, pcs[:]); got < room {
			return n + got
		}
	}
}
