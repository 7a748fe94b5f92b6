// Package assist helps to write a cell: it completes names, shows the documentation, types, values and
// sources of what the cell mentions, searches names, describes variables, and reports whether a cell is
// complete. It works on a Snapshot of what the cell can use, and checks the unfinished cell as far as its mistakes
// allow. It runs no code of cells. The session supplies the snapshot and reads live values through Values.
package assist

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"reflect"
	"sync"

	"halfnote/display"
	"halfnote/interp/internal/library"
)

// Snapshot is the context of a cell that a user is writing: the names and values that
// it can use.
type Snapshot struct {
	Importer types.Importer
	Loader   *library.Loader    // loader of packages from source; may be nil
	Checking *sync.Mutex        // held while Importer and the checker work
	Imports  map[string]string  // package names to paths, including the preloaded ones
	Dots     []string           // paths of dot imports
	Prelude  *Prelude           // declarations of earlier cells
	Written  map[string]Written // declarations by name, "T.M" for methods; they hide packages
	Shown    []Shown            // values of earlier cells, and their sources
	Magics   []Magic            // sorted by name
	Sources  fs.FS              // source of this library's packages, or nil
	Values   Values             // values of the session, or nil if they cannot be read
}

// Values reads the current values of a session.
type Values interface {
	// Variable returns a variable of the session or, with the path of a package, of a compiled package.
	// It returns an invalid value for an unknown variable.
	Variable(path, name string) reflect.Value
	// Idle reports whether maps can be read: no goroutine of a cell is left that could write to one.
	Idle() bool
	// Inside returns the value in an interface and its type in pkg if that is a type of the session, without
	// pointers. The type is nil if it has no name in pkg.
	Inside(pkg *types.Package, v reflect.Value) (x reflect.Value, t types.Type, ok bool)
	// Show renders a value of a type that is checked with pkg, without running code of cells.
	Show(pkg *types.Package, v reflect.Value, t types.Type) display.Bundle
	// While calls f if no cell is running, or if all are stopped. No cell runs before f returns.
	While(f func()) (ok bool)
}

// Shown is a value that a cell has shown, or that holds the sources of cells.
type Shown struct {
	Names []string // for example "Out[3]", "_3" and "_"
	Check string   // its variable in the prelude
	Type  string
}

// Prelude is a file that declares the names of earlier cells. It is parsed on first
// use.
type Prelude struct {
	text   string
	once   sync.Once
	parsed *ast.File
	file   *token.File
}

// NewPrelude returns a file of imports and declarations. Functions have no bodies.
func NewPrelude(text string) *Prelude { return &Prelude{text: text} }

func (f *Prelude) parse() (*ast.File, *token.File) {
	f.once.Do(func() {
		fset := token.NewFileSet()
		f.parsed, _ = parser.ParseFile(fset, "prelude", "package main\n"+f.text, parser.SkipObjectResolution)
		f.file = fset.File(f.parsed.Package)
	})
	return f.parsed, f.file
}
