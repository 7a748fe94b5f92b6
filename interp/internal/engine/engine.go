// Package engine defines the interface of the cell pipeline's back ends. The front end
// implements Go's semantics; an engine is handed a checked, renamed and lowered syntax
// tree and runs it.
package engine

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// Engine holds the compiled cells of one session. Its methods are called from one
// goroutine at a time.
type Engine interface {
	// Needs returns the rewrites that a unit needs before it is handed over.
	Needs() Needs
	// Files returns the file set that units must be parsed into.
	Files() *token.FileSet
	// Declare compiles a unit without running its entry function. An error names the
	// construct that the engine does not support; declarations of a failed unit must
	// not be used. It ends with an error, and the unit is as good as not handed over, if ctx
	// ends before the unit has been compiled.
	Declare(ctx context.Context, u *Unit) (Program, error)
	// Slot returns the variable of that name, addressable.
	Slot(name string) (reflect.Value, bool)
	// Remove forgets the named variables and functions, which no later unit mentions.
	// Code that already uses them still can.
	Remove(names ...string)
	// Bind makes symbols available to later units under a package path, or replaces
	// them. Functions are given by value, variables by an addressable value, types by a
	// nil pointer.
	Bind(path string, symbols map[string]reflect.Value)
	// RunsCells reports whether a function of the program, by its full name, runs functions
	// of units: one active call of it stands for one call in a cell.
	RunsCells(function string) bool
	// Recovered returns the panic with value r that the calling goroutine has just recovered,
	// and ends the engine's record of it.
	Recovered(r any) *Panic
	// Raise is called before the calling goroutine panics again with the value of p. The
	// panic then keeps the frames of p.
	Raise(p *Panic)
	// Close releases the engine's resources. Code that still runs may fail.
	Close() error
}

// Halter is an engine whose panics take time quadratic in the call depth.
type Halter interface {
	// Halt makes all running code of units return at once, without deferred functions and
	// without a panic, until resume is called. ok is false if that is not possible.
	Halt() (resume func(), ok bool)
}

// Recorder is an engine that records the panic of each goroutine until it has been recovered.
type Recorder interface {
	// Forget ends the record of the panic that the calling goroutine has recovered. It takes
	// constant time, other than Recovered.
	Forget()
}

// Clear sets the named variables to zero, so that the memory they refer to can be freed.
func Clear(e Engine, names ...string) {
	for _, name := range names {
		if v, ok := e.Slot(name); ok {
			v.SetZero()
		}
	}
}

// Namer is an engine whose types show other names than they have in the units that declare them.
type Namer interface {
	// TypeName returns the name that a type has in its unit, or "" if a function declares it.
	TypeName(t reflect.Type) string
}

// TypeOf returns the type of v without pointers. ok is false if that is not a type of a unit, as under an
// engine that represents the types of cells by types without names.
func TypeOf(v reflect.Value) (t reflect.Type, ok bool) {
	if !v.IsValid() {
		return nil, false
	}
	t = v.Type()
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	return t, t.PkgPath() == "main"
}

// Needs lists the work that an engine leaves to the front end.
type Needs struct {
	// Rewrites names passes of package lower, sorted.
	Rewrites []string
	// Instances reports whether generic declarations must be replaced by their instances.
	Instances bool
	// Core reports whether rewritten units must consist of the forms in the table of package core.
	Core bool
}

// Unit is one cell: declarations whose names are unique in the session, and one
// function that holds its statements.
type Unit struct {
	N     int    // n of In[n]
	Entry string // function of File that Run calls, func()
	File  *ast.File
	Fset  *token.FileSet
	Pkg   *types.Package
	// Info describes the nodes that the checker saw. Nodes made by rewrites are
	// described only where a later rewrite needs it.
	Info *types.Info
}

// Program is a compiled unit.
type Program interface {
	// Run calls the unit's entry function in the calling goroutine and returns when it
	// does. A panic that escapes it is returned as a *Panic.
	Run() error
	// Free is called when the entry function has returned for good. It reports whether
	// no code of the unit can still run.
	Free() (gone bool)
}

// MarkPrefix, before the name of a function as Frame.Func gives it (with '.' as '_'),
// names the int variable in which the lowered function records its current statement.
const MarkPrefix = "mark__"

// AgainSuffix, after the name of a function, names the function that calls it again
// from behind a barrier for panics. Neither that function nor the repeated call is a
// frame.
const AgainSuffix = "__again"

// ForwardReceiver is the name of the receiver of methods that only call another function, the
// method's latest body.
const ForwardReceiver = "recv__"

// Panic is a panic that escaped a cell.
type Panic struct {
	Value any
	// Frames lists the active interpreted functions, innermost first, as far as the
	// engine knows them.
	Frames []Frame
	// Inside lists the active functions of compiled packages between the panic and the
	// first frame, innermost first, where the engine knows them.
	Inside []string
	// Skipped is the number of frames omitted after the first ones.
	Skipped int
}

// Frame is one call of an interpreted function.
type Frame struct {
	Func string // name in the unit, ".func" appended for each enclosing literal
	Mark int    // value of its mark variable, or 0 if it has none
	// Pos is its current position, if the engine knows it without marks.
	Pos token.Pos
}

func (p *Panic) Error() string { return fmt.Sprint("panic: ", p.Value) }
