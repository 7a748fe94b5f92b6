package interp

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"halfnote/interp/engine"
	"halfnote/interp/lower"
	"halfnote/kernel"
)

// debugger stops cells at breakpoints and steps through them. Only cells that run while a
// front end debugs contain stops. A stop costs one load per statement while none is
// requested; other cells have no cost.
type debugger struct {
	session *Session

	flag    uint32 // tested by stops: non-zero while a stop may be requested
	refused bool   // the engine does not accept the current cell with stops

	mu          sync.Mutex
	event       func(kernel.DebugEvent) // nil when no front end debugs
	stops       []stop
	breakpoints map[string][]int   // line numbers, by the source of the cell
	threads     map[uint64]*thread // threads by goroutine ID
	pausing     bool               // stop at the next statement
	panics      bool               // stop at panics

	turn    chan struct{} // token of the stopped goroutine: only one stops at a time
	looking sync.Mutex    // held while values are read during a stop, and to continue
	stopped bool          // guarded by looking
}

// stop is a place where a cell can stop.
type stop struct {
	code     string // source of the cell
	line, to int    // the lines of the statement
	begins   bool   // first statement on its line
	engine   string // the engine's name of the function
	literal  bool   // in a literal of the function
	function string // name shown to users
	vars     []*types.Var
	pkg      *types.Package
}

// thread is a goroutine that has passed stops.
type thread struct {
	calls  []activeCall // outermost first
	resume chan string  // non-nil while the thread is stopped
	step   string       // the mode of the last resume: "next", "stepIn", "stepOut", or "" for continue
	depth  int          // call depth at which the step began
}

// activeCall is a call in progress, at the last stop it has passed.
type activeCall struct {
	depth int // depth of the host's stack
	stop  int
	vars  []any // pointers to the variables
}

func newDebugger(s *Session) *debugger {
	return &debugger{session: s, turn: make(chan struct{}, 1), threads: map[uint64]*thread{}, breakpoints: map[string][]int{}}
}

// reset forgets all stops and threads.
func (d *debugger) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stops, d.threads = nil, map[uint64]*thread{}
}

// lacking lists the functions and methods with breakpoints that were compiled without
// stops, before a front end debugged.
func (d *debugger) lacking(e *env) (list []*source) {
	d.session.mu.Lock()
	defer d.session.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, src := range e.sources() {
		isFunc := len(src.methods) > 0 || slices.ContainsFunc(src.binds, func(b *binding) bool { return b.kind == kindFunc })
		if isFunc && !src.stops && len(d.breakpoints[d.session.code[src.cell]]) > 0 {
			list = append(list, src)
		}
	}
	return list
}

// on reports whether cells are compiled with stops.
func (d *debugger) on() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.event != nil
}

// Debug implements kernel.Debugger.
func (s *Session) Debug(event func(kernel.DebugEvent)) {
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	d.event = event
	if event == nil {
		d.breakpoints, d.pausing, d.panics = map[string][]int{}, false, false
		for _, t := range d.threads {
			t.step = ""
			if t.resume != nil {
				t.resume <- ""
				t.resume = nil
			}
		}
	}
	d.watch()
}

// watch updates the flag. mu must be held.
func (d *debugger) watch() {
	var on uint32
	if d.pausing || d.panics || len(d.breakpoints) > 0 {
		on = 1
	}
	for _, t := range d.threads {
		if t.step != "" {
			on = 1
		}
	}
	atomic.StoreUint32(&d.flag, on)
}

// SetBreakpoints implements kernel.Debugger.
func (s *Session) SetBreakpoints(code string, lines []int) []int {
	at := make([]int, len(lines))
	for i, line := range lines {
		at[i] = codeLine(code, line)
	}
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.breakpoints[code] = slices.Clone(at); len(at) == 0 {
		delete(d.breakpoints, code)
	}
	d.watch()
	return at
}

// codeLine returns the first line at or after line that holds code.
func codeLine(code string, line int) int {
	lines := strings.Split(code, "\n")
	for i := max(line, 1); i <= len(lines); i++ {
		if text := strings.TrimSpace(lines[i-1]); text != "" && !strings.HasPrefix(text, "//") {
			return i
		}
	}
	return line
}

// StopAtPanics implements kernel.Debugger.
func (s *Session) StopAtPanics(yes bool) {
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	d.panics = yes && d.event != nil
	d.watch()
}

// Pause implements kernel.Debugger.
func (s *Session) Pause() {
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pausing = d.event != nil
	d.watch()
}

// Stopped implements kernel.Debugger.
func (s *Session) Stopped() []int {
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []int{}
	for id, t := range d.threads {
		if t.resume != nil {
			list = append(list, int(id))
		}
	}
	return list
}

// Resume implements kernel.Debugger.
func (s *Session) Resume(id int, how string) error {
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[uint64(id)]
	if t == nil || t.resume == nil {
		return fmt.Errorf("threadId: thread %d is not stopped", id)
	}
	t.resume <- how
	t.resume = nil
	return nil
}

// Stack implements kernel.Debugger.
func (s *Session) Stack(id int) []kernel.DebugFrame {
	d := s.debugger
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[uint64(id)]
	if t == nil || t.resume == nil {
		return nil
	}
	var list []kernel.DebugFrame
	for _, c := range slices.Backward(t.calls) {
		at := d.stops[c.stop]
		list = append(list, kernel.DebugFrame{
			Function: at.function, Code: at.code, Line: at.line,
			Locals: func() (list []kernel.Variable) {
				s.looking(func() { list = s.locals(at, c.vars) })
				return list
			},
		})
	}
	return list
}

// locals describes the variables of a call.
func (s *Session) locals(at stop, vars []any) (list []kernel.Variable) {
	sur := s.surroundings()
	sur.session = s
	p := &probe{surroundings: sur, pkg: at.pkg}
	for i, v := range at.vars {
		list = append(list, p.part(v.Name(), reflect.ValueOf(vars[i]).Elem(), v.Type()))
	}
	return list
}

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
			line: n, to: n + c.lines(at.Pos, at.End), begins: !seen[here], engine: at.Func, literal: at.Literal,
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
	id, depth := d.session.live.ID(), stackDepth()
	d.mu.Lock()
	if d.event == nil || n >= len(d.stops) {
		d.mu.Unlock()
		return
	}
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
// panics. It shows the calls that were active at the panic.
func (d *debugger) panicked(p *engine.Panic) {
	if _, ok := p.Value.(interface{ StopsCell() }); ok { // an interrupt, not an error of the cell
		return
	}
	id := d.session.live.ID()
	d.mu.Lock()
	t := d.threads[id]
	if !d.panics || t == nil {
		d.mu.Unlock()
		return
	}
	n := 0 // number of calls that the panic left, outermost first
	for _, f := range slices.Backward(p.Frames) {
		if f.Func == "" && f.Mark > 0 && f.Mark <= len(d.session.marks) {
			f.Func = d.session.marks[f.Mark-1].fn
		}
		if n < len(t.calls) && d.stops[t.calls[n].stop].isIn(f) {
			n++
		}
	}
	t.calls = t.calls[:n]
	d.mu.Unlock()
	if n > 0 {
		d.wait(id, t, kernel.DebugEvent{Reason: "exception", Text: d.session.describe(p).Value})
	}
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
