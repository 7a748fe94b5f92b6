// Package yaegi runs units on the Yaegi interpreter. It is the only package that
// imports Yaegi, and it uses an unmodified release: gaps in Yaegi are lowered away
// before a unit arrives here.
package yaegi

import (
	"context"
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

	"halfnote/interp/internal/engine"
)

// Engine is an interpreter with the cells compiled so far.
type Engine struct {
	yaegi  *interp.Interpreter
	traces traces
	name   func(path string) string
	entry  func() // entry function that the unit being declared registered
	seq    int

	mu     sync.Mutex // guards Yaegi's memory
	memory *memory
	guards *guards
	closed bool

	markMu sync.Mutex // marks are read in any goroutine at any time
	marks  map[string]reflect.Value
}

// support is the package through which units register their entry functions.
const support = "engine__"

// Options configures an engine.
type Options struct {
	// Symbols holds the packages that units may import, by "import path/package name".
	Symbols map[string]map[string]reflect.Value
	// Extra lists import paths that have no symbols yet: Bind will provide them.
	Extra []string
	// Name returns the name under which every unit imports a path.
	Name func(path string) string
	// Stdout receives the output of print and println in units.
	Stdout io.Writer
	// Goroutine returns a number for the calling goroutine; it is called while a panic
	// unwinds, to tell the frames of different goroutines apart.
	Goroutine func() uint64
}

// New returns an engine. It declares the packages for all units at once, because Yaegi finds
// names that a unit itself imports only from nodes whose position is in the same file.
func New(o Options) (*Engine, error) {
	e := &Engine{name: o.Name, marks: map[string]reflect.Value{}}
	symbols, goroutine, stdout := o.Symbols, o.Goroutine, o.Stdout
	e.traces.goroutine = goroutine
	e.traces.mark = e.mark
	e.yaegi = interp.New(interp.Options{Stdout: stdout, Stderr: &e.traces, Unrestricted: true})
	for key, table := range symbols {
		path, _, ok := cutLast(key)
		if !ok { // wrappers of interpreted values for interfaces
			if err := e.yaegi.Use(interp.Exports{key: table}); err != nil {
				return nil, fmt.Errorf("yaegi: %w", err)
			}
			continue
		}
		e.Bind(path, table)
	}
	for _, path := range o.Extra {
		e.named(path, nil)
	}
	e.named(support, map[string]reflect.Value{
		"Entry": reflect.ValueOf(func(f func()) bool { e.entry = f; return true }),
	})
	e.yaegi.ImportUsed()
	err := e.compile(variable("first__", &ast.ValueSpec{Type: ast.NewIdent("int")})) // creates package main
	if err == nil {
		e.memory, e.guards, err = newMemory(e.yaegi, goroutine)
	}
	if err == nil {
		e.guards.failing = e.traces.at
	}
	return e, err
}

// Needs implements engine.Engine.
func (e *Engine) Needs() engine.Needs {
	n := needs
	if engine.OneThread {
		n.Rewrites = append(slices.Clone(n.Rewrites), engine.Turns)
	}
	return n
}

// Files implements engine.Engine.
func (e *Engine) Files() *token.FileSet { return e.yaegi.FileSet() }

// Declare implements engine.Engine. The entry function is compiled separately, so that
// nothing refers to it after it has run. A variable with an initializer registers it,
// because Yaegi has no other cheap way to return a single function.
func (e *Engine) Declare(_ context.Context, u *engine.Unit) (p engine.Program, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.settle(&err)
	defer e.guard(&err)
	e.entry = nil
	e.seq++
	of := &unit{base: e.memory.size()}
	types, decls, entry := e.parts(u, of)
	for i, part := range [][]ast.Decl{types, decls, entry} {
		if len(part) == 0 {
			continue
		}
		prog, err := e.yaegi.CompileAST(&ast.File{Package: u.File.Package, Name: u.File.Name, Decls: part})
		if err != nil {
			return nil, err
		}
		e.memory.grow()
		e.guards.guard(prog)
		if _, err := e.yaegi.Execute(prog); err != nil {
			return nil, err
		}
		e.guards.release(prog)
		if i == 0 {
			if err := e.memory.resolveCycles(typeNames(types)); err != nil {
				return nil, err
			}
		}
	}
	if u.Entry != "" && e.entry == nil {
		return nil, fmt.Errorf("yaegi: %s was not registered", u.Entry)
	}
	of.top = e.memory.size()
	e.memory.settle(append(of.names, typeNames(types)...))
	e.takeMarks(of)
	return program{e, e.entry, of}, nil
}

// parts divides a unit into its types, the entry function with its registration, and the
// rest, and records its declarations.
func (e *Engine) parts(u *engine.Unit, of *unit) (types, decls, entry []ast.Decl) {
	ast.Inspect(u.File, func(n ast.Node) bool {
		_, lit := n.(*ast.FuncLit)
		of.literals = of.literals || lit
		return !of.literals
	})
	for _, d := range u.File.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == u.Entry {
				register := fmt.Sprintf("entry__%d", e.seq)
				of.entry = []string{u.Entry, register}
				entry = append(entry, d, variable(register, &ast.ValueSpec{Values: []ast.Expr{&ast.CallExpr{
					Fun:  &ast.SelectorExpr{X: ast.NewIdent(e.name(support)), Sel: ast.NewIdent("Entry")},
					Args: []ast.Expr{ast.NewIdent(u.Entry)},
				}}}))
				continue
			}
			of.literals = true // later code may call the function at any time
		case *ast.GenDecl:
			if d.Tok == token.IMPORT { // New has declared all packages
				continue
			}
			if d.Tok == token.TYPE {
				of.literals = true
				types = append(types, d)
				continue
			}
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, id := range v.Names {
						of.names = append(of.names, id.Name)
					}
				}
			}
		}
		decls = append(decls, d)
	}
	return types, decls, entry
}

// typeNames lists the names that declarations of types declare.
func typeNames(list []ast.Decl) (names []string) {
	for _, d := range list {
		for _, s := range d.(*ast.GenDecl).Specs {
			names = append(names, s.(*ast.TypeSpec).Name.Name)
		}
	}
	return names
}

func variable(name string, spec *ast.ValueSpec) ast.Decl {
	spec.Names = []*ast.Ident{ast.NewIdent(name)}
	return &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{spec}}
}

// takeMarks records the mark variables of a unit, whose names only the engine needs.
func (e *Engine) takeMarks(of *unit) {
	e.markMu.Lock()
	defer e.markMu.Unlock()
	for _, name := range of.names {
		if !strings.HasPrefix(name, engine.MarkPrefix) {
			continue
		}
		if v, ok := e.memory.slot(name); ok && v.Kind() == reflect.Int {
			e.marks[name] = v
			of.marks = append(of.marks, name)
		}
		e.memory.remove(name)
	}
}

// guard turns a panic of Yaegi's compiler into an error.
func (e *Engine) guard(err *error) {
	if r := recover(); r != nil {
		*err = &CompilerPanic{Value: r, Stack: debug.Stack()}
	}
	e.traces.forget()
}

// settle allocates the variables of a unit that failed to compile: they have numbers but no
// memory, and Globals would fail for them.
func (e *Engine) settle(err *error) {
	if *err == nil {
		return
	}
	defer func() { _ = recover() }()
	e.seq++
	_ = e.compile(variable(fmt.Sprintf("settle__%d", e.seq), &ast.ValueSpec{Type: ast.NewIdent("int")}))
}

// compile compiles a declaration that is not in any cell.
func (e *Engine) compile(d ast.Decl) error {
	p, err := e.yaegi.CompileAST(&ast.File{Package: 1, Name: ast.NewIdent("main"), Decls: []ast.Decl{d}})
	if err == nil {
		_, err = e.yaegi.Execute(p)
	}
	return err
}

// CompilerPanic is a panic inside Yaegi's compiler.
type CompilerPanic struct {
	Value any
	Stack []byte // stack of the host, for a bug report
}

func (p *CompilerPanic) Error() string { return fmt.Sprintf("the compiler panicked: %v", p.Value) }

type program struct {
	e   *Engine
	run func()
	of  *unit
}

// Free implements engine.Program.
func (p program) Free() (gone bool) {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	p.e.memory.free(p.of)
	if p.of.literals {
		return false
	}
	p.e.markMu.Lock()
	defer p.e.markMu.Unlock()
	for _, name := range p.of.marks {
		delete(p.e.marks, name)
	}
	return true
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

// Recovered implements engine.Engine.
func (e *Engine) Recovered(r any) *engine.Panic {
	if v, ok := r.(reflect.Value); ok && v.IsValid() && v.CanInterface() {
		r = v.Interface()
	}
	if r == nil {
		r = new(runtime.PanicNilError)
	}
	t := e.traces.take()
	return &engine.Panic{Value: r, Frames: t.frames, Skipped: t.skipped, Inside: t.inside}
}

// Raise implements engine.Engine. The panic is raised in a deferred literal, which stands
// for the function around it.
func (e *Engine) Raise(p *engine.Panic) { e.traces.put(p) }

// Forget implements engine.Recorder.
func (e *Engine) Forget() { e.traces.forget() }

// Slot implements engine.Engine.
func (e *Engine) Slot(name string) (reflect.Value, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return reflect.Value{}, false
	}
	if strings.HasPrefix(name, engine.MarkPrefix) {
		e.markMu.Lock()
		defer e.markMu.Unlock()
		v, ok := e.marks[name]
		return v, ok
	}
	return e.memory.slot(name)
}

func (e *Engine) mark(fn string) int {
	e.markMu.Lock()
	defer e.markMu.Unlock()
	if v, ok := e.marks[engine.MarkPrefix+strings.ReplaceAll(fn, ".", "_")]; ok {
		return int(v.Int())
	}
	return 0
}

// Remove implements engine.Engine.
func (e *Engine) Remove(names ...string) {
	engine.Clear(e, names...)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, name := range names {
		e.memory.remove(name)
	}
}

// Bind implements engine.Engine.
func (e *Engine) Bind(path string, symbols map[string]reflect.Value) {
	e.use(path, symbols)
	e.named(path, symbols)
}

// use adds symbols to a package. The package's name does not matter, since every unit imports it under
// the one that named gives it. With fmt's own name, Use would compile the sources of Yaegi's generic
// packages, which no unit imports, and its values would stay on the heap.
func (e *Engine) use(path string, symbols map[string]reflect.Value) {
	// Use fails only for a key without a package name.
	_ = e.yaegi.Use(interp.Exports{path + "/symbols__": symbols})
}

// named gives a package the path and name that units use, in addition to its own, by
// which Yaegi finds the wrappers of interpreted values for the package's interfaces.
func (e *Engine) named(path string, symbols map[string]reflect.Value) {
	e.use(e.name(path), symbols)
}

func cutLast(key string) (path, name string, ok bool) {
	i := strings.LastIndex(key, "/")
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// RunsCells implements engine.Engine.
func (e *Engine) RunsCells(function string) bool {
	return strings.HasSuffix(function, "interp.runCfg")
}

// Close implements engine.Engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return nil
}
