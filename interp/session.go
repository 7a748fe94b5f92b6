package interp

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"io/fs"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"halfnote/display"
	"halfnote/display/widget"
	"halfnote/interp/engine"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/ixgo"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/symbols"
	"halfnote/kernel"
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
	// MaxDepth is the maximum depth of calls in a cell; 0 means 10000.
	MaxDepth int
	// Memory is the size of the heap in bytes at which a cell is stopped; 0 means no
	// limit. Mapped returns the bytes in use outside the heap, which also count; it may
	// be nil.
	Memory int64
	Mapped func() int64
	// Grace is the time in which an interrupted cell must stop before it is left
	// behind; 0 means 2 s.
	Grace time.Duration
	// Leave, if set, runs in each goroutine of cells when it ends, to close the resources
	// that the goroutine has left open. The lines that it returns go to the cell's stderr.
	Leave func() (lines []string)
}

// Session is the state shared by the cells of one notebook. It implements
// kernel.Evaluator, kernel.CommUser, kernel.Completer, kernel.Debugger and
// kernel.VariableLister.
type Session struct {
	opts     Options
	binary   types.ImporterFrom // importer of compiled packages
	importer types.ImporterFrom // importer of compiled packages and packages from source
	engine   engine.Engine
	live     *live.Registry
	types    *dynamic.Space // types of cells at run time

	mu   sync.Mutex // guards env and its names against completion while a cell runs
	env  *env
	snap *snapshot // the visible part of env; nil after a change
	// checking is held while packages are read and type-checked, which changes data
	// that the checker and other packages share.
	checking *sync.Mutex
	// running is held while a cell runs, and while values are read from outside.
	running sync.Mutex

	placing  sync.Mutex // held while marks change or lines are looked up
	ground   token.Pos  // a permanent position in the engine's files
	seq      int
	slots    map[string]bool   // names known to the engine
	bound    map[string]bool   // support symbols of package variables
	marks    []mark            // places in cells that may fail, by number
	sources  map[[2]int]string // texts of Source, by cell and line
	places   []declPlace       // places of declarations, by position
	labels   map[string]string
	generics *generics
	included map[string]bool // standard library source that the engine has
	std      *std
	packages *packages
	code     map[int]string // source of In[n]
	history  []int          // numbers of the cells in code, oldest first
	asides   int            // number of uncounted cells, which have negative numbers
	outs     outputs
	shown    []shownValue // kept values visible to cells being written; guarded by mu
	stdio    *stdio
	screen   *display.Screen // screen that package display draws on from cells
	comms    *transport
	kept     keptOutputs // nil if outputs are not kept
	debugger *debugger
	// runsCells reports whether a function of the program, by its full name, runs functions of cells.
	runsCells func(function string) bool
	widgets   *widget.Manager // widgets known to front ends
	lastDir   string          // working folder before the last %cd
	ran       []ExecutedCell  // cells for %export
	runs      []string        // files that %run is running, outermost first
}

var (
	_ kernel.Evaluator      = (*Session)(nil)
	_ kernel.CommUser       = (*Session)(nil)
	_ kernel.Completer      = (*Session)(nil)
	_ kernel.Debugger       = (*Session)(nil)
	_ kernel.VariableLister = (*Session)(nil)
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
		opts: o, checking: new(sync.Mutex), binary: exports.Importer(), live: live.NewRegistry(o.MaxDepth, ixgo.Goroutine),
	}
	s.live.Memory, s.live.Mapped = o.Memory, o.Mapped
	s.live.Leave = o.Leave
	s.screen = display.NewScreen(func() display.Sink { return s.live.Current().Out })
	if o := s.opts.Theme; o != "" {
		s.screen.SetTheme(o)
	}
	if o := s.opts.Charts; o != "" {
		s.screen.SetForm(o)
	}
	s.debugger = newDebugger(s)
	s.comms = &transport{live: s.live, targets: map[string]kernel.CommOpened{}}
	s.widgets = widget.NewManager(s.comms)
	s.screen.Before = s.widgets.Connect
	s.screen.Present = s.presented
	if err := s.reset(); err != nil {
		return nil, err
	}
	return s, nil
}

// reset starts again with an empty environment.
func (s *Session) reset() error {
	e, err := s.newEngine()
	if err != nil {
		return err
	}
	if s.engine != nil {
		s.widgets.Close()
		s.debugger.reset()
		s.engine.Close()
	}
	s.live.Recovered = e.Recovered
	s.engine = e
	s.ground = token.Pos(e.Files().AddFile("earlier", -1, 0).Base())
	s.slots, s.bound, s.labels = map[string]bool{}, map[string]bool{}, map[string]string{}
	s.unmark(0)
	s.places = nil
	s.outs = outputs{}
	s.generics, s.included = newGenerics(), map[string]bool{}
	s.std, s.packages = newStd(e.Files()), newPackages(e.Files(), s.binary)
	if s.types != nil {
		s.types.Close()
	}
	s.types = dynamic.NewSpace()
	if s.code == nil {
		s.code = map[int]string{}
	}
	s.mu.Lock()
	s.env, s.importer = newEnv(), s.packages.loader
	s.snap = nil
	s.mu.Unlock()
	s.noteOutputs()
	s.bindSupport()
	return nil
}

// Language implements kernel.Evaluator.
func (s *Session) Language() kernel.Language {
	version := strings.TrimPrefix(runtime.Version(), "go")
	return kernel.Language{
		Name: "go", Version: version, MIMEType: "text/x-go", FileExtension: ".go",
		// Joined cells are not a Go program: nbconvert refuses to export without the package that package install brings.
		PygmentsLexer: "go", CodeMirrorMode: "go", Exporter: "halfnote_jupyter.script.GoExporter",
		Banner:         fmt.Sprintf("halfnote %s (Go %s). Type %%help for commands, tensor? for documentation", s.opts.Release, version),
		Implementation: "halfnote", Release: s.opts.Release,
	}
}

// Eval implements kernel.Evaluator.
func (s *Session) Eval(ctx context.Context, in kernel.Cell, out kernel.Output) kernel.Result {
	s.running.Lock()
	defer s.running.Unlock()
	in.Count = s.number(in)
	s.remember(in.Count, in.Code)
	missed(in, out)
	r := s.eval(ctx, in, out)
	if !in.Silent {
		c := ExecutedCell{Code: in.Code, Count: in.Count, Shown: r.Value != nil}
		if r.Err != nil {
			c.Failed = r.Err.Name
		}
		s.ran = append(s.ran, c)
	}
	return r
}

// number returns the n of In[n] for a cell. A cell outside the history arrives with the
// number of another cell, so it gets a negative number instead.
func (s *Session) number(in kernel.Cell) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.code[in.Count]; !in.Silent && !taken {
		return in.Count
	}
	s.asides++
	return -s.asides
}

// maxHistory is the number of cell sources kept for tracebacks.
const maxHistory = 2000

// maxAsides is the number of uncounted cells among them.
const maxAsides = 100

// remember keeps the source of a cell for later messages about the cell.
func (s *Session) remember(n int, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < 0 {
		delete(s.code, n+maxAsides)
	} else if _, ok := s.code[n]; !ok {
		s.history = append(s.history, n)
		if len(s.history) > maxHistory {
			delete(s.code, s.history[0])
			s.history = slices.Delete(s.history, 0, 1)
		}
	}
	s.code[n] = code
}

// Close implements kernel.Evaluator. Goroutines of cells stop when they next loop, call
// or wait.
func (s *Session) Close() error {
	s.live.StopAll()
	s.types.Close()
	s.stdio.close()
	return nil
}

// packageVar provides units with a pointer to a variable of a compiled package: Yaegi
// would treat the variable's value at compile time as a constant.
func (s *Session) packageVar(path, name string) (string, bool) {
	symbol := "Var_" + strings.TrimPrefix(alias(path), "p__") + "_" + name
	if s.bound[symbol] {
		return symbol, true
	}
	v, ok := symbols.Table(path)[name]
	if o := s.stdio.variable(path, name); o.IsValid() {
		v, ok = o, true
		s.stdio.used.Store(true)
	}
	if !ok || !v.CanAddr() {
		return "", false
	}
	s.bindSupportSymbols(map[string]reflect.Value{symbol: v.Addr()})
	s.bound[symbol] = true
	return symbol, true
}
