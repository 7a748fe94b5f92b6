package interp

import (
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"halfnote/display"
	"halfnote/display/widget"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/debug"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/fatal"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/hashes"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/lower/core"
	"halfnote/interp/internal/magic"
	"halfnote/interp/internal/places"
	"halfnote/interp/internal/render"
	"halfnote/interp/internal/stdio"
	"halfnote/interp/internal/support"
	"halfnote/interp/internal/symbols"
	"halfnote/interp/internal/words"
	"halfnote/kernel/eval"
)

// Options configure a session. The zero value selects the default engine.
type Options struct {
	// Engine is the name of the engine that executes cells: one of Engines; "" means
	// the first.
	Engine string
	// Theme is the theme of charts until a cell sets another with %theme: one of
	// display.Themes; "" means the colours that the charts were made with.
	Theme string
	// Charts is the form of charts until a cell sets another with %charts: one of
	// display.Forms; "" means the form that the charts were made with.
	Charts string
	// Release is the version of this program for front ends.
	Release string
	// Sources holds the source of halfnote's packages, in folders such as "tensor/nn", for
	// the pages of "name??"; nil means that these show none.
	Sources fs.FS
	// Lessons holds notebooks with the outputs of their authors, which %receipt shows next to others; nil means none.
	Lessons fs.FS
	// MaxDepth is the maximum depth of calls in a cell; 0 means 10000.
	MaxDepth int
	// Memory is the size of the heap in bytes at which a cell is stopped; 0 means no
	// limit. MemorySetBy is what set it, for messages, such as "ulimit -v"; "" means GOMEMLIMIT. Mapped returns the
	// bytes in use outside the heap, which also count; it may be nil.
	Memory      int64
	MemorySetBy string
	Mapped      func() int64
	// Grace is the time in which an interrupted cell must stop before it is left
	// behind; 0 means 2 s.
	Grace time.Duration
	// Leave, if set, runs in each goroutine of cells when it ends, to close the resources
	// that the goroutine has left open. The lines that it returns go to the cell's stderr.
	Leave func() (lines []string)
}

// Session is the state shared by the cells of one notebook. It implements
// eval.Evaluator, eval.CommUser, eval.Completer, eval.Debugger, eval.Interrupter, eval.RankUser and
// eval.VariableLister.
type Session struct {
	note  string // for the next cell, on how the session runs
	label string // how cells run, for front ends
	// uncompiled says why cells are not compiled, although the options want that; else "".
	uncompiled string
	opts       Options
	engine     engine.Engine
	core       func(*lower.Unit) error // checks what is handed to the engine; may be nil
	live       *live.Registry
	types      *dynamic.Space // types of cells at run time
	front      *front.State

	mu   sync.Mutex // guards env and its names against completion while a cell runs
	env  *front.Env
	snap *assist.Snapshot // the visible part of env; nil after a change
	// checking is held while packages are read and type-checked, which changes data
	// that the checker and other packages share.
	checking  *sync.Mutex
	compiling chan struct{} // holds an element while a cell is compiled
	// running is held while a cell runs, and while values are read from outside.
	running sync.Mutex
	// evaluating is the number of calls of Eval that have not returned.
	evaluating atomic.Int32

	support  *support.Symbols
	places   *places.Places
	history  *history.History
	stdio    *stdio.Streams
	screen   *display.Screen // screen that package display draws on from cells
	comms    *transport
	kept     magic.Outputs // nil if outputs are not kept
	explicit bool          // whether cells must import packages of the standard library
	ranks    eval.Ranks    // nil if the kernel has one rank
	magics   *magic.Magics
	release  func() // ends the guard against fatal errors
	join     func() // ends what keeps recordings of other sessions from observing the cells
	debugger *debug.Debugger
	hashes   hashes.Recorder
}

var (
	_ eval.Evaluator      = (*Session)(nil)
	_ eval.CommUser       = (*Session)(nil)
	_ eval.Completer      = (*Session)(nil)
	_ eval.Debugger       = (*Session)(nil)
	_ eval.Interrupter    = (*Session)(nil)
	_ eval.RankUser       = (*Session)(nil)
	_ eval.VariableLister = (*Session)(nil)
)

// NewSession returns a session without cells.
func NewSession(o Options) (*Session, error) {
	if o.MaxDepth == 0 {
		o.MaxDepth = 10000
	}
	if o.Grace == 0 {
		o.Grace = 2 * time.Second
	}
	s := &Session{
		opts: o, checking: new(sync.Mutex), compiling: make(chan struct{}, 1), history: history.New(), live: live.NewRegistry(o.MaxDepth),
	}
	s.live.Memory, s.live.MemorySetBy, s.live.Mapped, s.live.Addresses = o.Memory, o.MemorySetBy, o.Mapped, fatal.AddressesLeft
	s.live.Stacks = fatal.LimitStacks
	s.live.Leave = o.Leave
	s.screen = display.NewScreen(func() display.Sink { return s.live.Current().Out })
	if o := s.opts.Theme; o != "" {
		s.screen.SetTheme(o)
	}
	if o := s.opts.Charts; o != "" {
		s.screen.SetForm(o)
	}
	s.live.Words = func(v any) any { return dynamic.Worded(words.Of(v)) }
	s.live.Report = s.reportGoroutine
	s.stdio = stdio.New(s.live)
	s.live.Before = s.stdio.Flush
	s.places = places.New(s.history)
	s.debugger = debug.New(debugHost{s}, s.live, s.history)
	s.comms = &transport{live: s.live, targets: map[string]eval.CommOpened{}}
	s.comms.widgets = widget.NewManager(s.comms)
	s.screen.Before = func(v any) {
		s.comms.widgets.Connect(v)
		s.hashes.Shown(v)
	}
	s.screen.Present = render.Presented
	s.magics = s.newMagics()
	if err := s.reset(); err != nil {
		return nil, err
	}
	s.join = s.live.Separate()
	s.release, _ = fatal.Guard(support.Keeper{Live: s.live}) // where this fails, errors that end a program end the process
	s.label = s.engineLabel()
	return s, nil
}

// reset starts again with an empty environment.
func (s *Session) reset() error {
	e, err := s.newEngine()
	if err != nil {
		return err
	}
	if s.engine != nil {
		s.comms.widgets.Close()
		s.debugger.Reset()
		s.engine.Close()
	}
	s.engine, s.core = e, nil
	if e.Needs().Core {
		s.core = core.Check
	}
	if s.types != nil {
		s.types.Close()
	}
	s.types = support.NewTypes(s.live)
	binary := symbols.Importer()
	if s.front != nil {
		binary = s.front.Binary
	}
	f := front.NewState(e.Files(), e.Needs(), binary)
	f.Failed, f.Before, f.AutoImport = s.refusedIn, s.declaredBefore, !s.explicit
	s.places.Reset(f.Fset, f.Packages)
	s.mu.Lock()
	s.front, s.env, s.snap = f, front.NewEnv(), nil
	s.mu.Unlock()
	s.live.Attach(e)
	s.support = support.Bind(e, support.Parts{
		Live: s.live, Types: s.types, Debugger: s.debugger, History: s.history, Streams: s.stdio, Screen: s.screen, Widgets: s.comms.widgets,
	})
	return nil
}

// Language implements eval.Evaluator.
func (s *Session) Language() eval.Language {
	version := strings.TrimPrefix(runtime.Version(), "go")
	banner := fmt.Sprintf("halfnote %s (Go %s, %s). Type %%help for commands, tensor? for documentation", s.opts.Release, version, s.label)
	if s.uncompiled != "" {
		banner += "\nNote: " + s.uncompiled
	}
	return eval.Language{
		Name: "go", Version: version, MIMEType: "text/x-go", FileExtension: ".go",
		// Joined cells are not a Go program: nbconvert refuses to export without the package that package install brings.
		PygmentsLexer: "go", CodeMirrorMode: "go", Exporter: "halfnote_jupyter.script.GoExporter",
		Banner: banner, Implementation: "halfnote", Release: s.opts.Release, Engine: s.label,
	}
}

// Eval implements eval.Evaluator.
func (s *Session) Eval(ctx context.Context, in eval.Cell, out eval.Output) eval.Result {
	s.evaluating.Add(1)
	defer s.evaluating.Add(-1)
	s.running.Lock()
	defer s.running.Unlock()
	in.Count = s.history.Begin(in.Code, in.Count, in.Silent)
	s.missed(in, out)
	if s.note != "" && !in.Silent { // front ends do not show what a silent cell prints
		fmt.Fprintln(out.Stderr(), s.note)
		s.note = ""
	}
	r := s.magics.Eval(ctx, in, out)
	if !in.Silent {
		c := ExecutedCell{Code: in.Code, Count: in.Count, Shown: r.Value != nil}
		if r.Err != nil {
			c.Failed = r.Err.Name
		}
		s.history.End(c)
	}
	return r
}

// Close implements eval.Evaluator. Goroutines of cells stop when they next loop, call
// or wait.
func (s *Session) Close() error {
	s.live.StopAll()
	s.release()
	s.join()
	s.hashes.Off()
	s.types.Close()
	s.stdio.Close()
	return s.engine.Close()
}
