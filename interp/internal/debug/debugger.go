// Package debug stops cells at breakpoints and panics, steps through them, and shows their
// active calls as values. It knows the stops that lowering inserts into units, and the goroutines that
// have passed them. The session supplies places, names and values through Session.
package debug

import (
	"go/token"
	"go/types"
	"slices"
	"sync"
	"sync/atomic"

	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/live"
	"halfnote/kernel/eval"
)

// Session is what a debugger needs of a session.
type Session interface {
	// Place returns the place of a statement of a unit: its cell and line.
	Place(c *front.Checked, at token.Pos) (cell, line int)
	// Named returns frames with the names of their functions, also of those that are known by
	// their marks.
	Named([]engine.Frame) []engine.Frame
	// Message returns the message of a panic.
	Message(*engine.Panic) string
	// Seen returns the context of the next cell, with the values of the session.
	Seen() assist.Snapshot
	// Variables describes the variables of the session. Only the calling cell may be running.
	Variables() []eval.Variable
}

// Observer is told of the stops that goroutines pass.
type Observer interface {
	// At is called in the goroutine that has passed stop number n.
	At(n int, x Stop)
}

// Debugger stops cells at breakpoints and steps through them. Only cells that run while a
// front end debugs contain stops. A stop costs one load per statement while none is
// requested; other cells have no cost.
type Debugger struct {
	session Session
	live    *live.Registry
	history *history.History

	flag    uint32 // tested by stops: non-zero while a stop may be requested
	leaving bool   // in Leave

	mu          sync.Mutex
	event       func(eval.DebugEvent) // nil when no front end debugs
	stops       []Stop
	breakpoints map[string][]int   // line numbers, by the source of the cell
	threads     map[uint64]*thread // threads by goroutine ID
	pausing     bool               // stop at the next statement
	panics      bool               // stop at panics
	observer    Observer           // nil unless a profile is being made
	postMortem  *PostMortem        // nil unless %debug runs a cell

	turn    chan struct{} // token of the stopped goroutine: only one stops at a time
	looking sync.Mutex    // held while values are read during a stop, and to continue
	stopped bool          // guarded by looking
}

// Stop is a place where a cell can stop.
type Stop struct {
	Cell     int
	Code     string // source of the cell
	Line, to int    // the lines of the statement
	begins   bool   // first statement on its line
	Func     string // the engine's name of the function
	Literal  bool   // in a literal of the function
	Outer    bool   // in the statements of the cell
	Function string // name shown to users
	vars     []*types.Var
	pkg      assist.Package
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

// New returns a debugger without stops for the cells of a registry.
func New(s Session, r *live.Registry, h *history.History) *Debugger {
	return &Debugger{session: s, live: r, history: h, turn: make(chan struct{}, 1), threads: map[uint64]*thread{}, breakpoints: map[string][]int{}}
}

// Reset forgets all stops and threads.
func (d *Debugger) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stops, d.threads = nil, map[uint64]*thread{}
}

// Lacking lists the functions and methods that need stops but were compiled without them, before
// a front end debugged: those with breakpoints or, for a profile and %debug, all.
func (d *Debugger) Lacking(e *front.Env) (list []*front.Source) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, src := range e.Sources() {
		isFunc := len(src.Methods) > 0 || slices.ContainsFunc(src.Binds, func(b *front.Binding) bool { return b.Kind == front.KindFunc })
		code, _ := d.history.Source(src.Cell)
		if isFunc && !src.Stops && (d.observer != nil || d.postMortem != nil || len(d.breakpoints[code]) > 0) {
			list = append(list, src)
		}
	}
	return list
}

// Flag is tested by stops: it is not zero while a stop may be requested.
func (d *Debugger) Flag() *uint32 { return &d.flag }

// Observe starts to tell an observer of stops or, with nil, ends that.
func (d *Debugger) Observe(o Observer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.observer = o
	d.watch()
}

// Leave calls f, which compiles the functions that have stops only for Observe or Examine without them.
// It does nothing while a front end debugs.
func (d *Debugger) Leave(f func()) {
	if d.On() {
		return
	}
	d.leaving = true
	defer func() { d.leaving = false }()
	f()
}

// Leaving reports whether functions are being compiled without their stops.
func (d *Debugger) Leaving() bool { return d.leaving }

// On reports whether cells are compiled with stops.
func (d *Debugger) On() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.event != nil || d.observer != nil || d.postMortem != nil
}

// watch updates the flag. mu must be held.
func (d *Debugger) watch() {
	var on uint32
	if d.pausing || d.panics || d.observer != nil || d.postMortem != nil || len(d.breakpoints) > 0 {
		on = 1
	}
	for _, t := range d.threads {
		if t.step != "" {
			on = 1
		}
	}
	atomic.StoreUint32(&d.flag, on)
}
