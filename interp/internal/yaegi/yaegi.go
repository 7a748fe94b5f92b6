// Package yaegi runs units on the Yaegi interpreter. It is the only package that
// imports Yaegi, and uses it as it is released: what Yaegi lacks is lowered away
// before a unit arrives here.
package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/traefik/yaegi/interp"

	"halfnote/interp/engine"
)

// Engine is an interpreter with the cells compiled so far.
type Engine struct {
	yaegi  *interp.Interpreter
	traces traces
	// asked gives, by function, the interfaces that it looks for in arguments of
	// type any.
	asked map[string][]reflect.Type
	name  func(path string) string
	entry func() // the entry function that the unit being declared registered
	seq   int

	mu    sync.Mutex // marks are read from any goroutine
	slots map[string]reflect.Value
}

// support is the package through which units register their entry functions.
const support = "engine__"

// Options configure an engine.
type Options struct {
	// Symbols holds what units may import, by "import path/package name".
	Symbols map[string]map[string]reflect.Value
	// Extra lists import paths that have no symbols yet: Bind will give them.
	Extra []string
	// Name returns the name under which every unit imports a path.
	Name func(path string) string
	// Stdout takes what units print with print and println.
	Stdout io.Writer
	// Goroutine returns a number for the calling goroutine; it is asked while a
	// panic unwinds, to tell the frames of different goroutines apart.
	Goroutine func() uint64
}

// New returns an engine. Packages are made known to all units at once, because
// Yaegi finds names that a unit itself imports only from nodes whose position is
// in the same file.
func New(o Options) (*Engine, error) {
	e := &Engine{slots: map[string]reflect.Value{}, name: o.Name}
	symbols, goroutine, stdout := o.Symbols, o.Goroutine, o.Stdout
	e.traces.goroutine = goroutine
	e.traces.mark = e.mark
	e.yaegi = interp.New(interp.Options{Stdout: stdout, Stderr: &e.traces, Unrestricted: true})
	if err := e.yaegi.Use(symbols); err != nil {
		return nil, fmt.Errorf("yaegi: %w", err)
	}
	e.asked = map[string][]reflect.Type{}
	if m, ok := symbols["."]["MapTypes"]; ok {
		types := m.Interface().(map[reflect.Value][]reflect.Type)
		for key, table := range symbols {
			path, _, _ := cutLast(key)
			for name, f := range table {
				if f.Kind() == reflect.Func {
					if t := types[f]; t != nil {
						e.asked[path+"."+name] = t
					}
				}
			}
		}
	}
	for key, table := range symbols {
		if path, _, ok := cutLast(key); ok {
			e.named(path, table)
		}
	}
	for _, path := range o.Extra {
		e.named(path, nil)
	}
	e.named(support, map[string]reflect.Value{
		"Entry": reflect.ValueOf(func(f func()) bool { e.entry = f; return true }),
	})
	e.yaegi.ImportUsed()
	return e, nil
}

// Needs implements engine.Engine.
func (e *Engine) Needs() []string { return needs }

// Files implements engine.Engine.
func (e *Engine) Files() *token.FileSet { return e.yaegi.FileSet() }

// Declare implements engine.Engine. A variable with an initializer that
// registers the entry function is added to the unit, because Yaegi has no other
// cheap way to hand out one function.
func (e *Engine) Declare(u *engine.Unit) (p engine.Program, err error) {
	defer e.settle(&err)
	defer e.guard(&err)
	e.entry = nil
	e.seq++
	if u.Entry != "" {
		u.File.Decls = append(u.File.Decls,
			&ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{
				Names: []*ast.Ident{ast.NewIdent(fmt.Sprintf("entry__%d", e.seq))},
				Values: []ast.Expr{&ast.CallExpr{
					Fun:  &ast.SelectorExpr{X: ast.NewIdent(e.name(support)), Sel: ast.NewIdent("Entry")},
					Args: []ast.Expr{ast.NewIdent(u.Entry)},
				}},
			}}})
	}
	u.File.Decls = slices.DeleteFunc(u.File.Decls, func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		return ok && g.Tok == token.IMPORT
	})
	prog, err := e.yaegi.CompileAST(u.File)
	if err != nil {
		return nil, err
	}
	if _, err := e.yaegi.Execute(prog); err != nil {
		return nil, err
	}
	if u.Entry != "" && e.entry == nil {
		return nil, fmt.Errorf("yaegi: %s was not registered", u.Entry)
	}
	return program{e, e.entry}, nil
}

// guard turns a panic of Yaegi's compiler into an error.
func (e *Engine) guard(err *error) {
	if r := recover(); r != nil {
		*err = &CompilerPanic{Value: r, Stack: debug.Stack()}
	}
	e.traces.forget()
}

// settle makes room for the variables of a unit that failed: they have numbers, but
// no memory, and Globals would fail on them.
func (e *Engine) settle(err *error) {
	if *err == nil {
		return
	}
	defer func() { _ = recover() }()
	e.seq++
	p, err2 := e.yaegi.CompileAST(&ast.File{Package: 1, Name: ast.NewIdent("main"), Decls: []ast.Decl{
		&ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{
			Names: []*ast.Ident{ast.NewIdent(fmt.Sprintf("settle__%d", e.seq))}, Type: ast.NewIdent("int"),
		}}},
	}})
	if err2 == nil {
		_, _ = e.yaegi.Execute(p)
	}
}

// CompilerPanic is a panic inside Yaegi's compiler.
type CompilerPanic struct {
	Value any
	Stack []byte // of the host, for a bug report
}

func (p *CompilerPanic) Error() string { return fmt.Sprintf("the compiler panicked: %v", p.Value) }

type program struct {
	e   *Engine
	run func()
}

// Run implements engine.Program.
func (p program) Run() (err error) {
	if p.run == nil {
		return nil
	}
	p.e.traces.forget()
	defer func() {
		if r := recover(); r != nil {
			err = p.e.Recovered(r)
		}
	}()
	p.run()
	return nil
}

// Recovered returns the panic that compiled code around interpreted code has
// just recovered with value r in the calling goroutine.
func (e *Engine) Recovered(r any) *engine.Panic {
	if v, ok := r.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
		r = v.Interface()
	}
	frames, skipped := e.traces.take()
	return &engine.Panic{Value: r, Frames: frames, Skipped: skipped}
}

// Forget implements engine.Engine.
func (e *Engine) Forget() { e.traces.forget() }

// Slot implements engine.Engine.
func (e *Engine) Slot(name string) (reflect.Value, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, ok := e.slots[name]
	if !ok && e.slots != nil {
		for n, v := range e.yaegi.Globals() {
			if v.IsValid() && v.CanAddr() {
				e.slots[n] = v
			}
		}
		v, ok = e.slots[name]
	}
	return v, ok
}

func (e *Engine) mark(fn string) int {
	v, ok := e.Slot(engine.MarkPrefix + strings.ReplaceAll(fn, ".", "_"))
	if !ok || v.Kind() != reflect.Int {
		return 0
	}
	return int(v.Int())
}

// Drop implements engine.Engine.
func (e *Engine) Drop(names ...string) {
	for _, name := range names {
		if v, ok := e.Slot(name); ok {
			v.SetZero()
		}
	}
}

// Bind implements engine.Engine.
func (e *Engine) Bind(path string, symbols map[string]reflect.Value) {
	// Use fails only for a key without a package name.
	_ = e.yaegi.Use(interp.Exports{path + "/" + base(path): symbols})
	e.wrap(path, symbols)
	e.named(path, symbols)
}

// named gives a package the path and name that units know it by, beside its own,
// by which Yaegi finds what wraps interpreted values in the package's interfaces.
func (e *Engine) named(path string, symbols map[string]reflect.Value) {
	name := e.name(path)
	_ = e.yaegi.Use(interp.Exports{name + "/" + name: symbols})
}

func cutLast(key string) (path, name string, ok bool) {
	i := strings.LastIndex(key, "/")
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// base returns the last element of an import path. A package whose name differs
// is imported under an explicit name, so nothing depends on it.
func base(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// wrap makes functions that replace others look behind their parameters of type
// any for the same interfaces: Yaegi wraps an interpreted argument only when it is
// told to.
func (e *Engine) wrap(path string, symbols map[string]reflect.Value) {
	m := map[reflect.Value][]reflect.Type{}
	for name, f := range symbols {
		if types := e.asked[path+"."+name]; types != nil {
			m[f] = types
		}
	}
	if len(m) > 0 {
		_ = e.yaegi.Use(interp.Exports{".": {"MapTypes": reflect.ValueOf(m)}})
	}
}

// Deeper implements engine.Engine: each interpreted call runs in runCfg and takes
// at least one further Go call, so fewer than 2*limit frames in all need no look.
func (e *Engine) Deeper(limit int) bool {
	var one [1]uintptr
	if runtime.Callers(2*limit, one[:]) == 0 {
		return false
	}
	pcs := make([]uintptr, 16*limit)
	pcs = pcs[:runtime.Callers(0, pcs)]
	calls := 0
	known := map[uintptr]bool{}
	for _, pc := range pcs {
		is, ok := known[pc]
		if !ok {
			f := runtime.FuncForPC(pc - 1) // of the call, not of what follows it
			is = f != nil && strings.HasSuffix(f.Name(), "interp.runCfg")
			known[pc] = is
		}
		if is {
			calls++
		}
	}
	return calls > limit
}

// Close implements engine.Engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.slots = nil
	return nil
}
