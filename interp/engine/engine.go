// Package engine is what a back end of the cell pipeline implements. The front
// end owns Go's semantics; an engine is handed a checked, renamed and lowered
// syntax tree and runs it.
package engine

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
)

// Engine holds the compiled cells of one session. Its methods are called from
// one goroutine at a time.
type Engine interface {
	// Needs tells which rewrites the engine wants before it is handed a unit.
	Needs() []string
	// Declare compiles a unit without running it. On an error nothing of the
	// unit remains.
	Declare(u *Unit) (Program, error)
	// Slot returns the variable of that name, addressable.
	Slot(name string) (reflect.Value, bool)
	// Drop sets the named variables to zero, so that what they held can be
	// freed.
	Drop(names ...string)
	// Bind makes functions available to later units as package pkg, or replaces
	// them.
	Bind(pkg string, symbols map[string]reflect.Value)
	Close() error
}

// Unit is one cell: declarations with versioned names, and one function that
// holds its statements.
type Unit struct {
	N     int // the n of In[n]
	Entry string
	File  *ast.File
	Fset  *token.FileSet
	Pkg   *types.Package
	Info  *types.Info
}

// Program is a compiled unit.
type Program interface {
	// Run calls the unit's entry function and returns when it does. A panic of
	// the cell's goroutine is returned as a *Panic.
	Run() error
}

// Panic is a panic that escaped a cell.
type Panic struct {
	Value any
	// Frames lists the interpreted functions that were active, innermost first,
	// as the engine knows them.
	Frames []Frame
}

// Frame is one call of an interpreted function.
type Frame struct {
	Func string
	Pos  token.Position // of the statement under way, if the engine knows it
}

func (p *Panic) Error() string { return "panic" }
