// Package engine defines the interface of the cell pipeline's back ends. The front end
// implements Go's semantics; an engine is handed a checked, renamed and lowered syntax
// tree and runs it.
package engine

import (
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
	// not be used.
	Declare(u *Unit) (Program, error)
	// Slot returns the variable of that name, addressable.
	Slot(name string) (reflect.Value, bool)
	// Drop sets the named variables to zero, so that the memory they refer to can be freed.
	Drop(names ...string)
	// Remove forgets the named variables and functions, which no later unit mentions.
	// Code that already uses them still can.
	Remove(names ...string)
	// Bind makes symbols available to later units under a package path, or replaces
	// them. Functions are given by value, variables by an addressable value, types by a
	// nil pointer.
	Bind(path string, symbols map[string]reflect.Value)
	// Recovered returns the panic with value r that compiled code around interpreted
	// code has just recovered in the calling goroutine.
	Recovered(r any) *Panic
	// Forget discards the engine's record of the current panic in the calling
	// goroutine, which has been recovered.
	Forget()
	// Inside unwraps a value of one of the engine's own types, which carry values of
	// interpreted types in interfaces: it returns the value and the name of its type in
	// the unit that declared it, without pointers.
	Inside(v reflect.Value) (value reflect.Value, typ string, ok bool)
	// Deeper reports whether the calling goroutine has more than limit active calls of
	// interpreted functions. It is called rarely.
	Deeper(limit int) bool
	// Halt makes all running interpreted code return at once, without deferred functions and
	// without a panic, until resume is called: a panic would take time quadratic in the call
	// depth. ok is false if the engine cannot do that.
	Halt() (resume func(), ok bool)
	// Close releases the engine's resources. Code that still runs may fail.
	Close() error
}

// Needs lists the work that an engine leaves to the front end.
type Needs struct {
	// Rewrites names passes of package lower, sorted.
	Rewrites []string
	// Instances reports whether generic declarations must be replaced by their instances.
	Instances bool
	// Complete reports whether all methods of a type must be in the unit that declares it. A
	// method in a later cell then makes a new type.
	Complete bool
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
