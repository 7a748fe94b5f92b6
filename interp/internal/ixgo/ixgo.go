// Package ixgo runs units on ixgo, an interpreter of the SSA form of Go. It is the only
// package that imports ixgo, and it uses an unmodified release. Each unit is a separate
// package with a separate interpreter; its declarations are available to later units
// unchanged, including types with the same identity.
package ixgo

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/goplus/ixgo"
	_ "github.com/goplus/reflectx/icall/icall8192" // room for the methods of units' types
	"golang.org/x/tools/go/ssa"

	"halfnote/interp/engine"
)

// Engine holds the interpreters of the units compiled so far.
type Engine struct {
	ctx    *ixgo.Context
	prog   *ssa.Program
	loader *loader
	live   interpreters
	units  units
	// created is the number of names that a compiled package had when the program added
	// it, plus one.
	created map[*types.Package]int
	traces  traces
}

// Options configures an engine.
type Options struct {
	// Table returns the symbols of a compiled package by name, or nil if there is no such
	// package. A function is given by value, a variable by an addressable value, a type
	// by a nil pointer to it.
	Table func(path string) map[string]reflect.Value
	// Paths lists the packages that have tables.
	Paths []string
	// Importer returns the types of compiled packages.
	Importer types.Importer
}

// New returns an engine without any units.
func New(o Options) (*Engine, error) {
	if err := unexported(); err != nil {
		return nil, err
	}
	register(o.Paths, o.Table)
	ctx := ixgo.NewContext(ixgo.SupportMultipleInterp | ixgo.DisableAutoLoadPatchs)
	e := &Engine{
		ctx: ctx, prog: ctx.Builder.Program(), created: map[*types.Package]int{}, units: newUnits(),
		loader: newLoader(ctx.Loader, o),
	}
	ctx.Loader = e.loader
	ctx.SetPanic(e.traces.raised)
	e.loader.bind(hooks, map[string]reflect.Value{"Enter": reflect.ValueOf(func() {})})
	ctx.RegisterExternal(hooks+".Enter", e.traces.enter)
	// ixgo's own version would end the interpreter.
	ctx.RegisterExternal("os.Exit", o.Table("os")["Exit"].Interface())
	ctx.RegisterExternal("runtime.Goexit", o.Table("runtime")["Goexit"].Interface())
	return e, nil
}

// Needs implements engine.Engine.
func (e *Engine) Needs() engine.Needs { return needs }

// Files implements engine.Engine.
func (e *Engine) Files() *token.FileSet { return e.ctx.FileSet }

// Bind implements engine.Engine.
func (e *Engine) Bind(path string, symbols map[string]reflect.Value) {
	compiled := e.loader.table(path) != nil
	for name, v := range symbols {
		if v.Kind() != reflect.Func {
			continue
		}
		if unwinds[path+"."+name] {
			v = e.framed(v)
		}
		e.ctx.RegisterExternal(path+"."+name, v.Interface())
	}
	if !compiled {
		e.loader.bind(path, symbols)
	}
}

// unwinds are the support functions that may end a goroutine.
var unwinds = map[string]bool{"kernel__.Call": true, "kernel__.Poll": true, "kernel__.Recv": true, "kernel__.Send": true, "kernel__.Select": true}

// framed makes a function that may panic record the active calls first. ixgo passes the
// calling frame to functions that ask for it, unless they are deferred.
func (e *Engine) framed(f reflect.Value) reflect.Value {
	t := f.Type()
	in := []reflect.Type{reflect.TypeFor[*ixgo.Frame]()}
	for i := range t.NumIn() {
		in = append(in, t.In(i))
	}
	var out []reflect.Type
	for i := range t.NumOut() {
		out = append(out, t.Out(i))
	}
	return reflect.MakeFunc(reflect.FuncOf(in, out, t.IsVariadic()), func(args []reflect.Value) []reflect.Value {
		defer func() {
			if r := recover(); r != nil {
				e.traces.at(args[0].Interface().(*ixgo.Frame), r)
				panic(r)
			}
		}()
		if t.IsVariadic() {
			return f.CallSlice(args[1:])
		}
		return f.Call(args[1:])
	})
}

// Declare implements engine.Engine.
func (e *Engine) Declare(u *engine.Unit) (p engine.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, &CompilerPanic{Value: r, Stack: debug.Stack()}
		}
	}()
	hook(u)
	pkg, info, err := e.check(u)
	if err != nil {
		return nil, err
	}
	if err := room(pkg); err != nil {
		return nil, err
	}
	if err := e.imports(pkg, info); err != nil {
		return nil, err
	}
	unit := e.prog.CreatePackage(pkg, []*ast.File{u.File}, info, false)
	defer func() {
		if err != nil || p == nil {
			e.discard(unit)
			return
		}
		// Later interpreters leave out packages whose init has no code. They compile
		// the code that they use of this one again, as their own.
		unit.Func("init").Blocks = nil
		if f := unit.Func(reached); f != nil {
			f.Blocks = nil
		}
	}()
	unit.Build()
	in, err := ixgo.NewInterp(e.ctx, unit)
	if err != nil {
		return nil, err
	}
	unpool(in)
	e.unwind(in)
	if err := in.RunInit(); err != nil {
		return nil, err
	}
	e.harvest(in, unit)
	return e.program(u, unit, in), nil
}

// CompilerPanic is a panic during the compilation of a unit.
type CompilerPanic struct {
	Value any
	Stack []byte // stack of the host, for a bug report
}

func (p *CompilerPanic) Error() string { return fmt.Sprintf("the compiler panicked: %v", p.Value) }

// room returns an error for a unit whose types have more methods than there is room for:
// ixgo would end the process.
func room(pkg *types.Package) error {
	methods := 0
	for _, name := range pkg.Scope().Names() {
		o, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || o.Pkg() != pkg || types.IsInterface(o.Type()) {
			continue
		}
		methods += types.NewMethodSet(o.Type()).Len() + types.NewMethodSet(types.NewPointer(o.Type())).Len()
	}
	if _, _, left := ixgo.IcallStat(); methods+reserve > left {
		return fmt.Errorf("the session has room for %d more methods of types, and this cell needs %d: restart the kernel, or use the engine yaegi", max(0, left-reserve), methods)
	}
	return nil
}

// reserve is the room kept for the methods of types that the unit does not declare at
// its top level.
const reserve = 256

// RunsCells implements engine.Engine.
func (e *Engine) RunsCells(function string) bool {
	return strings.Contains(function, "ixgo.(*Interp).callFunction")
}

// Close implements engine.Engine.
func (e *Engine) Close() error { return nil }
