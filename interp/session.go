package interp

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
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

// Options configure a session. The zero value is a session of the default
// engine.
type Options struct {
	// Engine names what executes cells: one of Engines; "" means the first.
	Engine string
	// Release is the version of this program that front ends are told.
	Release string
	// MaxDepth bounds how deep calls of a cell's functions nest; 0 means 10000.
	MaxDepth int
	// Memory is how many bytes the heap may hold before a cell is stopped; 0 means
	// any number. Mapped returns those to be counted that are in use beside the heap; nil
	// means none.
	Memory int64
	Mapped func() int64
	// Grace is how long an interrupted cell may take to stop before it is left
	// behind; 0 means 2 s.
	Grace time.Duration
	// Leave, if set, runs at the end of each goroutine of cells, in it, to end what they
	// have left open. The lines that it returns go to the cell's stderr.
	Leave func() (lines []string)
}

// Session is what the cells of one notebook share. It implements
// kernel.Evaluator, kernel.CommUser, kernel.Completer,
// kernel.Debugger and kernel.VariableLister.
type Session struct {
	opts     Options
	binary   types.ImporterFrom // of the packages that are compiled
	importer types.ImporterFrom // of these and of those from source
	engine   engine.Engine
	live     *live.Registry
	types    *dynamic.Space // what cells declare, while they run

	mu     sync.Mutex // guards env and the names in it against completion while a cell runs
	env    *env
	around *surroundings // what can be seen of env; nil when it has changed
	// checking is held while packages are read and checked against: that changes
	// what the checker and other packages hold of them.
	checking *sync.Mutex
	// running is held while a cell runs, and by who looks at values meanwhile.
	running sync.Mutex

	placing  sync.Mutex // held while marks change, and by who looks for a line meanwhile
	ground   token.Pos  // a place in the engine's files that stays
	seq      int
	slots    map[string]bool   // names that the engine has seen
	bound    map[string]bool   // support symbols of package variables
	marks    []mark            // where cells may fail, by number
	sources  map[[2]int]string // how Source names lines, by cell and line
	places   []declPlace       // where declarations are, by position
	labels   map[string]string
	generics *generics
	included map[string]bool // source of the standard library that the engine has
	std      *std
	packages *packages
	code     map[int]string // source of In[n]
	history  []int          // which of them there are, oldest first
	asides   int            // how many cells were not counted; their numbers are below 0
	outs     outputs
	shown    []shownValue // those of them that cells being written can see; under mu
	stdio    *stdio
	screen   *display.Screen // what package display draws on when a cell calls it
	comms    *transport
	debugger *debugger
	widgets  *widget.Manager // those that front ends know
	lastDir  string          // the working folder before %cd
	ran      []Ran           // the cells that %export writes
}

var (
	_ kernel.Evaluator      = (*Session)(nil)
	_ kernel.CommUser       = (*Session)(nil)
	_ kernel.Completer      = (*Session)(nil)
	_ kernel.Debugger       = (*Session)(nil)
	_ kernel.VariableLister = (*Session)(nil)
)

// NewSession returns a session without any cells.
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
	s.debugger = newDebugger(s)
	s.comms = &transport{live: s.live, targets: map[string]kernel.CommOpened{}}
	s.widgets = widget.NewManager(s.comms)
	s.screen.Before = s.widgets.Connect
	if err := s.reset(); err != nil {
		return nil, err
	}
	return s, nil
}

// reset starts anew with an empty environment.
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
	s.around = nil
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
		PygmentsLexer: "go", CodeMirrorMode: "go",
		Banner:         fmt.Sprintf("halfnote %s: Go %s that makes mixed precision visible. %%help describes what cells can do.", s.opts.Release, version),
		Implementation: "halfnote", Release: s.opts.Release,
	}
}

// Eval implements kernel.Evaluator.
func (s *Session) Eval(ctx context.Context, in kernel.Cell, out kernel.Output) kernel.Result {
	s.running.Lock()
	defer s.running.Unlock()
	in.Count = s.number(in)
	s.remember(in.Count, in.Code)
	r, ok := s.magic(ctx, in, out)
	if !ok {
		r = s.run(ctx, in, out)
	}
	if !in.Silent {
		c := Ran{Code: in.Code, Count: in.Count, Shown: r.Value != nil}
		if r.Err != nil {
			c.Failed = r.Err.Name
		}
		s.ran = append(s.ran, c)
	}
	return r
}

// number returns the n of In[n] for a cell. Cells that are left out of the history
// come with the number of another, which must not be taken for them: they get
// numbers below 0.
func (s *Session) number(in kernel.Cell) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.code[in.Count]; !in.Silent && !taken {
		return in.Count
	}
	s.asides++
	return -s.asides
}

// maxHistory is how many cells' sources are kept for tracebacks.
const maxHistory = 2000

// maxAsides is how many of those are kept that are not counted.
const maxAsides = 100

// remember keeps the source of a cell for messages about it.
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

// Close implements kernel.Evaluator. Goroutines of cells stop when they next loop,
// call or wait.
func (s *Session) Close() error {
	s.live.StopAll()
	s.types.Close()
	s.stdio.close()
	return nil
}

// packageVar gives units a pointer to a variable of a compiled package: Yaegi
// takes the variable's value at compile time for a constant.
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
