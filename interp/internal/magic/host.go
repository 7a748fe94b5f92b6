package magic

import (
	"context"
	"io/fs"
	"reflect"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/debug"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/hashes"
	"halfnote/interp/internal/history"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/syntax"
	"halfnote/kernel/eval"
)

// Host is what magics need of a session: the packages that hold its parts, and interfaces for
// the rest.
type Host struct {
	Code
	Names
	State
	History  *history.History
	Screen   *display.Screen
	Debugger *debug.Debugger
	Live     *live.Registry
	Hashes   *hashes.Recorder
	Release  string // version of the program
	Lessons  fs.FS  // notebooks with their outputs; may be nil
}

// Code runs and checks Go.
type Code interface {
	// Run runs a cell without magics.
	Run(context.Context, eval.Cell, eval.Output) eval.Result
	// Check type-checks a cell that is not to run.
	Check(eval.Cell, eval.Output) (*front.Checked, *eval.Error)
	// Evaluate runs a cell without showing the value of its last expression. The caller closes the
	// evaluation after use.
	Evaluate(context.Context, eval.Cell, eval.Output) (Evaluation, *eval.Error)
	// Set sets a variable of the session.
	Set(name string, v reflect.Value)
	// RunsCells reports whether a compiled function, by its full name, runs functions of cells.
	RunsCells(function string) bool
	// LineOf names the line of a cell that a mark stands for, such as "In[3], line 5". It is "" for an unknown mark.
	LineOf(mark int) string
	// Report describes mistakes in a cell.
	Report(*syntax.Rejected) *eval.Error
}

// Evaluation is a cell that has run, with its values.
type Evaluation interface {
	// Value returns the value of the last expression, if there is one.
	Value() (v reflect.Value, ok bool)
	// Show renders the value, which may call its methods. The bundle is nil if there is nothing to show.
	Show() (*display.Bundle, *eval.Error)
	// Call calls f as code of the cell, which can be interrupted and may panic.
	Call(f func()) *eval.Error
	// Close forgets the values.
	Close()
}

// Names tells what cells can use.
type Names interface {
	// IsValue reports whether an expression can begin with a name: that of a variable,
	// constant or function or, before a dot, of a package.
	IsValue(name string, beforeDot bool) bool
	// Importable returns a package that cells can import: the one at the path or, if that is a module without a
	// package, one in it. The error gives the reason if there is none.
	Importable(path string) (string, error)
	// Seen returns the context of the next cell, with the values of the session.
	Seen() assist.Snapshot
	// Variables describes the variables of the session.
	Variables() []eval.Variable
	// Values returns the variables of the session with their values.
	Values() []hashes.Variable
	// Declared returns the declarations in force.
	Declared() []*front.Binding
}

// State is the state of a session that magics read or set as a whole.
type State interface {
	// Outputs returns the outputs that are kept with the history, or nil if they are not kept.
	Outputs() Outputs
	// Ranks returns the ranks of the kernel, or nil if it has one.
	Ranks() eval.Ranks
	// ForgetOutputs forgets the values that cells have shown.
	ForgetOutputs()
	// AutoImport sets whether cells can use packages of the standard library without an import.
	AutoImport(on bool)
	// Forget forgets declarations by name. The error names one that no cell declares, or that another declaration uses.
	Forget(names []string) error
	// Reset forgets all declarations and variables.
	Reset() error
}

// Outputs is what %output and %rerun need of eval.KeptOutputs.
type Outputs interface {
	Cells(back int) ([]eval.KeptCell, error)
	Outputs(back, count int) ([]eval.KeptOutput, error)
	Sources(back int) ([]eval.KeptCell, error)
}
