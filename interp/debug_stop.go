package interp

import (
	"go/token"
	"maps"
	"runtime"
	"slices"
	"strings"

	"halfnote/interp/engine"
	"halfnote/interp/lower"
	"halfnote/kernel"
)

// addStops inserts stops into the cell's unit.
func (s *Session) addStops(c *cell, u *lower.Unit) {
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	type line struct {
		file, line int
		function   string
		literal    bool
	}
	seen := map[line]bool{}
	u.Stops(func(at lower.Stop) int {
		m := s.markAt(c, lower.Mark{Pos: at.Pos})
		cell, n, _ := m.place()
		here := line{cell, n, at.Func, at.Literal}
		function := c.labels[at.Func]
		if at.Literal {
			function += " (function literal)"
		}
		if at.Func == c.entry() {
			function = strings.TrimSpace(inLabel(cell) + function)
		}
		x := stop{
			cell: cell, line: n, to: n + c.lines(at.Pos, at.End), begins: !seen[here], engine: at.Func, literal: at.Literal, outer: at.Func == c.entry() && !at.Literal,
			function: function, vars: at.Vars, pkg: u.Pkg,
		}
		s.mu.Lock()
		x.code = s.code[cell]
		s.mu.Unlock()
		seen[here] = true
		d.stops = append(d.stops, x)
		return len(d.stops) - 1
	})
}

// lines returns the number of lines between two positions.
func (c *cell) lines(from, to token.Pos) int {
	return max(0, c.fset.Position(to).Line-c.fset.Position(from).Line)
}

// stop is called by code that passes a stop. vars are pointers to the variables in
// scope.
func (d *debugger) stop(n int, vars ...any) {
	d.mu.Lock()
	p, debugging := d.profiler, d.event != nil || d.postMortem != nil
	if n >= len(d.stops) || p == nil && !debugging {
		d.mu.Unlock()
		return
	}
	x := d.stops[n]
	d.mu.Unlock()
	if p != nil {
		p.at(n, x)
	}
	if !debugging {
		return
	}
	id, depth := d.session.live.ID(), stackDepth()
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
		d.wait(id, t, kernel.DebugEvent{Reason: reason})
	}
}

// panicked stops the calling goroutine, which p is about to end, if a front end stops at
// panics, and records the variables for %debug. It shows the calls that were active at the panic.
func (d *debugger) panicked(p *engine.Panic) {
	if _, ok := p.Value.(interface{ StopsCell() }); ok { // an interrupt, not an error of the cell
		return
	}
	id := d.session.live.ID()
	d.mu.Lock()
	t := d.threads[id]
	if t == nil || !d.panics && d.postMortem == nil {
		d.mu.Unlock()
		return
	}
	n := 0 // number of calls that the panic left, outermost first
	for _, f := range slices.Backward(d.session.named(p.Frames)) {
		if n < len(t.calls) && d.stops[t.calls[n].stop].isIn(f) {
			n++
		}
	}
	t.calls = t.calls[:n]
	post, panics := d.postMortem, d.panics
	d.mu.Unlock()
	if post != nil {
		d.session.record(post, t.calls, p)
	}
	if n > 0 && panics {
		d.wait(id, t, kernel.DebugEvent{Reason: "exception", Text: d.session.describe(p).Value})
	}
}

// named returns frames with the names of their functions, also of those that are known by
// their marks.
func (s *Session) named(frames []engine.Frame) []engine.Frame {
	s.placing.Lock()
	defer s.placing.Unlock()
	frames = slices.Clone(frames)
	for i, f := range frames {
		if f.Func == "" && f.Mark > 0 && f.Mark <= len(s.marks) {
			frames[i].Func = s.marks[f.Mark-1].fn
		}
	}
	return frames
}

// isIn reports whether the stop is in the function of a frame.
func (x stop) isIn(f engine.Frame) bool {
	base, _, literal := strings.Cut(f.Func, ".func")
	return base == x.engine && literal == x.literal
}

// reason returns the reason for a goroutine to stop, or "".
func (d *debugger) reason(t *thread, at stop, depth int) string {
	if !at.begins {
		return ""
	}
	switch {
	case d.pausing:
		return "pause"
	case t.step == "stepIn", t.step == "next" && depth <= t.depth, t.step == "stepOut" && depth < t.depth:
		return "step"
	}
	for _, line := range d.breakpoints[at.code] {
		if at.line <= line && line <= at.to {
			return "breakpoint"
		}
	}
	return ""
}

// wait stops the calling goroutine, for the reason in why, until a front end resumes it
// or its cell is told to stop.
func (d *debugger) wait(id uint64, t *thread, why kernel.DebugEvent) {
	c := d.session.live.Current()
	select {
	case d.turn <- struct{}{}:
		defer func() { <-d.turn }()
	case <-c.Stopping():
		d.session.live.Poll()
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
	event(kernel.DebugEvent{Thread: int(id)})
	if interrupted {
		d.session.live.Poll()
	}
}

func (d *debugger) halted(yes bool) {
	d.looking.Lock()
	defer d.looking.Unlock()
	d.stopped = yes
}

// look calls f if the running cell has stopped, and keeps it stopped meanwhile.
func (d *debugger) look(f func()) (ok bool) {
	d.looking.Lock()
	defer d.looking.Unlock()
	if d.stopped {
		f()
	}
	return d.stopped
}

// cellEnds forgets the goroutines that are not stopped, which can no longer be stepped
// through.
func (d *debugger) cellEnds() {
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
