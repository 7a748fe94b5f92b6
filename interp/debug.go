package interp

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"halfnote/kernel"
)

// debugger stops cells at breakpoints and steps through them. Only cells that run while a
// front end debugs contain stops. A stop costs one load per statement while none is
// requested; other cells have no cost.
type debugger struct {
	session *Session

	flag    uint32 // tested by stops: non-zero while a stop may be requested
	refused bool   // the engine does not accept the current cell with stops
	leaving bool   // functions are being compiled without the stops of a profile or of %debug

	mu          sync.Mutex
	event       func(kernel.DebugEvent) // nil when no front end debugs
	stops       []stop
	breakpoints map[string][]int   // line numbers, by the source of the cell
	threads     map[uint64]*thread // threads by goroutine ID
	pausing     bool               // stop at the next statement
	panics      bool               // stop at panics
	profiler    *profiler          // nil unless a profile is being made
	postMortem  *postMortem        // nil unless %debug runs a cell

	turn    chan struct{} // token of the stopped goroutine: only one stops at a time
	looking sync.Mutex    // held while values are read during a stop, and to continue
	stopped bool          // guarded by looking
}

// stop is a place where a cell can stop.
type stop struct {
	cell     int
	code     string // source of the cell
	line, to int    // the lines of the statement
	begins   bool   // first statement on its line
	engine   string // the engine's name of the function
	literal  bool   // in a literal of the function
	outer    bool   // in the statements of the cell
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

// lacking lists the functions and methods that need stops but were compiled without them, before
// a front end debugged: those with breakpoints or, for a profile and %debug, all.
func (d *debugger) lacking(e *env) (list []*source) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session.mu.Lock()
	defer d.session.mu.Unlock()
	for _, src := range e.sources() {
		isFunc := len(src.methods) > 0 || slices.ContainsFunc(src.binds, func(b *binding) bool { return b.kind == kindFunc })
		if isFunc && !src.stops && (d.profiler != nil || d.postMortem != nil || len(d.breakpoints[d.session.code[src.cell]]) > 0) {
			list = append(list, src)
		}
	}
	return list
}

// on reports whether cells are compiled with stops.
func (d *debugger) on() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.event != nil || d.profiler != nil || d.postMortem != nil
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
	if d.pausing || d.panics || d.profiler != nil || d.postMortem != nil || len(d.breakpoints) > 0 {
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
	snap := s.snapshot()
	snap.session = s
	p := &probe{snapshot: snap, pkg: at.pkg}
	for i, v := range at.vars {
		list = append(list, p.part(v.Name(), reflect.ValueOf(vars[i]).Elem(), v.Type()))
	}
	return list
}
