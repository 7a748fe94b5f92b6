package native

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"strings"
	"sync"

	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/native/loader"
	"halfnote/interp/internal/native/object"
	"halfnote/interp/internal/native/toolchain"
)

// Engine holds the units compiled so far.
type Engine struct {
	fset     *token.FileSet
	tools    *toolchain.Toolchain
	compiler *toolchain.Compiler
	loader   *loader.Loader
	alias    func(path string) string
	label    func(name string, argument bool) string
	paths    map[string]string // of packages that are in the program, by alias
	seq      int

	known map[string]*earlier // declarations of units, by name
	bound map[string]binding  // by alias and name, with a dot between
	// shared are variables that functions assign, or whose address is taken.
	shared map[string]bool

	mu    sync.Mutex // code that runs asks for slots and places
	slots map[string]loader.Var
	code  map[uintptr]placed // of the functions of units, by their addresses
}

// Options configures an engine.
type Options struct {
	// Symbols holds the symbols of compiled packages by path and name.
	Symbols map[string]map[string]reflect.Value
	// Alias is the name under which units import a package.
	Alias func(path string) string
	// Label returns the name that users see for a type, with its package, by its name in the unit that declares it, alone or in a type
	// argument.
	Label func(name string, argument bool) string
}

// New returns an engine without units. An error says why cells cannot be compiled here.
func New(o Options) (*Engine, error) {
	tools, err := Available()
	if err != nil {
		return nil, err
	}
	e := &Engine{
		fset: token.NewFileSet(), tools: tools, alias: o.Alias, label: o.Label, paths: map[string]string{o.Alias("unsafe"): "unsafe"},
		known: map[string]*earlier{}, bound: map[string]binding{}, shared: map[string]bool{}, slots: map[string]loader.Var{}, code: map[uintptr]placed{},
	}
	for path := range tools.Packages {
		e.paths[o.Alias(path)] = path
	}
	if e.loader, err = loader.New(loader.Options{Symbols: o.Symbols, Addresses: tools.Addresses, Names: e.names}); err != nil {
		return nil, err
	}
	if e.compiler, err = tools.NewCompiler(); err != nil {
		return nil, err
	}
	for _, name := range []string{"os.Exit", "runtime.Goexit"} { // the program's own end the process, or the session
		path, name, _ := strings.Cut(name, ".")
		e.Bind(path, map[string]reflect.Value{name: o.Symbols[path][name]})
	}
	return e, nil
}

// Available returns what the engine needs, or an error that says why cells cannot be compiled
// here. After the first call it takes no time.
func Available() (*toolchain.Toolchain, error) { return available() }

var available = sync.OnceValues(func() (*toolchain.Toolchain, error) {
	if err := loader.Permitted(); err != nil {
		return nil, err
	}
	return toolchain.Find(context.Background())
})

// names returns the names of the symbols of a package of the program.
func (e *Engine) names(path string) (object.Names, error) {
	a, err := e.tools.Archive(path)
	if err != nil {
		return object.Names{}, err
	}
	return object.ReadNames(a)
}

// Needs implements engine.Engine.
func (e *Engine) Needs() engine.Needs { return needs }

// Files implements engine.Engine.
func (e *Engine) Files() *token.FileSet { return e.fset }

// Declare implements engine.Engine.
func (e *Engine) Declare(ctx context.Context, u *engine.Unit) (engine.Program, error) {
	e.seq++
	s := e.source(u)
	m, err := e.link(ctx, s, true)
	var missing *loader.MissingError
	if errors.As(err, &missing) { // bodies of functions may use what the program does not have
		m, err = e.link(ctx, s, false)
	}
	if err != nil {
		return nil, err
	}
	m.Init()
	for name, d := range s.declares {
		e.known[name] = d
	}
	for name, d := range s.methods {
		e.known[name] = e.known[name].and(d)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var functions []uintptr
	for entry, p := range m.Positions(s.lines.file) {
		e.code[entry] = placed{s.lines, p}
		functions = append(functions, entry)
	}
	for _, name := range s.variables {
		if v, ok := m.Var(unitPrefix + name); ok {
			e.slots[name] = v
		}
	}
	e.loader.Forget(unitPrefix + u.Entry)
	run, ok := m.Func(unitPrefix + u.Entry)
	if !ok {
		return nil, fmt.Errorf("the unit has no function %s", u.Entry)
	}
	return &program{e: e, run: run, functions: functions, gone: s.ends}, nil
}

// unitPrefix begins the names of symbols of units.
const unitPrefix = "main."

// link compiles a unit and makes it part of the program.
func (e *Engine) link(ctx context.Context, s *source, inline bool) (*loader.Module, error) {
	a, err := e.compiler.Compile(ctx, s.text, inline)
	if err != nil {
		return nil, err
	}
	o, err := object.Read(a)
	if err != nil {
		return nil, err
	}
	s.own.restore(o, s.lines.file)
	showNames(o, e.label)
	return e.loader.Load(o, "main", s.wrappers, e.shownLine(s.lines))
}

// Compiled returns the number of units that the compiler has compiled. The objects of the others were in
// the cache.
func (e *Engine) Compiled() int { return e.compiler.Compiled() }

// Slot implements engine.Engine.
func (e *Engine) Slot(name string) (reflect.Value, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.slots[name]
	if !ok {
		return reflect.Value{}, false
	}
	return v.Value(), true
}

// Remove implements engine.Engine.
func (e *Engine) Remove(names ...string) {
	engine.Clear(e, names...)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range names {
		delete(e.slots, name)
		delete(e.known, name)
		e.loader.Forget(unitPrefix + name)
	}
}

// Close implements engine.Engine.
func (e *Engine) Close() error { return e.compiler.Close() }

// program is a unit that is part of the program.
type program struct {
	e         *Engine
	run       func()
	functions []uintptr
	gone      bool
}

// Run implements engine.Program.
func (p *program) Run() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = p.e.Recovered(r)
		}
	}()
	p.run()
	return nil
}

// Free implements engine.Program. The code stays in memory.
func (p *program) Free() (gone bool) {
	if p.gone {
		p.e.mu.Lock()
		defer p.e.mu.Unlock()
		for _, entry := range p.functions {
			delete(p.e.code, entry)
		}
	}
	return p.gone
}

// ends reports whether no code of a unit can run after its entry function: it declares only
// that function and variables, and has no function literals.
func ends(u *engine.Unit) bool {
	ends := true
	ast.Inspect(u.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.TypeSpec:
			ends = false
		case *ast.FuncDecl:
			ends = ends && n.Name.Name == u.Entry
		}
		return ends
	})
	return ends
}

// Size returns the number of bytes of code and data of the units.
func (e *Engine) Size() int { return e.loader.Size() }
