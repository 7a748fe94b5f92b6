// Package engine is what a back end of the cell pipeline implements. The front
// end owns Go's semantics; an engine is handed a checked, renamed and lowered
// syntax tree and runs it.
package engine

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// Engine holds the compiled cells of one session. Its methods are called from
// one goroutine at a time.
type Engine interface {
	// Needs says what the engine wants done to a unit before it is handed over.
	Needs() Needs
	// Files returns the file set that units must be parsed into.
	Files() *token.FileSet
	// Declare compiles a unit without running its entry function. An error says
	// what the engine does not support; what the unit declared must not be
	// used then.
	Declare(u *Unit) (Program, error)
	// Slot returns the variable of that name, addressable.
	Slot(name string) (reflect.Value, bool)
	// Drop sets the named variables to zero, so that what they held can be
	// freed.
	Drop(names ...string)
	// Remove forgets the named variables and functions, which no later unit
	// mentions. Code that uses them still can.
	Remove(names ...string)
	// Bind makes symbols available to later units as package path, or replaces
	// them: functions by their value, variables by an addressable value, types
	// by a nil pointer to them.
	Bind(path string, symbols map[string]reflect.Value)
	// Recovered returns the panic that compiled code around interpreted code has
	// just recovered with value r in the calling goroutine.
	Recovered(r any) *Panic
	// Forget discards what the engine remembers of the panic under way in the
	// calling goroutine: it has been recovered.
	Forget()
	// Inside unwraps a value of one of the engine's own types, with which it
	// carries values of interpreted types in interfaces: it returns the value and
	// the name of its type in the unit that declared it, without pointers.
	Inside(v reflect.Value) (value reflect.Value, typ string, ok bool)
	// Deeper reports whether the calling goroutine has more than limit calls of
	// interpreted functions under way. It is asked rarely.
	Deeper(limit int) bool
	// Halt makes all interpreted code that is running return at once, without
	// running deferred functions and without a panic, until resume is called: a
	// panic would take time in proportion to the square of the depth of calls. ok
	// is false if the engine cannot do that.
	Halt() (resume func(), ok bool)
	// Close frees what the engine holds. Code that still runs may fail.
	Close() error
}

// Needs is what an engine cannot do by itself.
type Needs struct {
	// Rewrites names passes of package lower, sorted.
	Rewrites []string
	// Instances: generic declarations are to be replaced by their instances.
	Instances bool
	// Complete: a type has all its methods in the unit that declares it. With a
	// method of a later cell it becomes a new type.
	Complete bool
}

// Unit is one cell: declarations whose names are unique in the session, and one
// function that holds its statements.
type Unit struct {
	N     int    // the n of In[n]
	Entry string // the function of File that Run calls, func()
	File  *ast.File
	Fset  *token.FileSet
	Pkg   *types.Package
	// Info describes the nodes that the checker saw. Nodes made by rewrites are
	// described only where a later rewrite asks.
	Info *types.Info
}

// Program is a compiled unit.
type Program interface {
	// Run calls the unit's entry function in the calling goroutine and returns
	// when it does. A panic that escapes it is returned as a *Panic.
	Run() error
	// Free is called when the entry function has returned for good. It reports
	// whether nothing of the unit is left that could still run.
	Free() (gone bool)
}

// MarkPrefix, before the name of a function as Frame.Func gives it (with '.' as
// '_'), names the int variable in which the lowered function notes which of its
// statements is under way.
const MarkPrefix = "mark__"

// AgainSuffix, behind the name of a function, names the one that calls it anew from
// behind a barrier for panics. Neither it nor the call that it repeats is a frame.
const AgainSuffix = "__again"

// Panic is a panic that escaped a cell.
type Panic struct {
	Value any
	// Frames lists the interpreted functions that were active, innermost first,
	// as far as the engine knows them.
	Frames []Frame
	// Inside lists the functions of compiled packages that were under way between
	// the panic and the first frame, innermost first, where the engine knows them.
	Inside []string
	// Skipped counts further frames that were left out after the first ones.
	Skipped int
}

// Frame is one call of an interpreted function.
type Frame struct {
	Func string // its name in the unit, ".func" appended for each literal around it
	Mark int    // the value of its mark variable, 0 if it has none
	// Pos is what it was at, if the engine knows that without marks.
	Pos token.Pos
}

func (p *Panic) Error() string { return fmt.Sprint("panic: ", p.Value) }
