// Package assist helps to write a cell: it completes names, shows the documentation, types, values and
// sources of what the cell mentions, searches names, describes variables, and reports whether a cell is
// complete. It works on a Snapshot of what the cell can use, and checks the unfinished cell as far as its mistakes
// allow. It runs no code of cells. The session supplies the snapshot and reads live values through Values.
package assist

import (
	"go/types"
	"io/fs"
	"iter"
	"reflect"
	"sync"

	"halfnote/display"
	"halfnote/interp/internal/library"
)

// Snapshot is the context of a cell that a user is writing: the names and values that
// it can use.
type Snapshot struct {
	Importer types.Importer
	Loader   *library.Loader   // loader of packages from source; may be nil
	Checking *sync.Mutex       // held while Importer and the checker work
	Imports  map[string]string // package names to paths, including the preloaded ones
	Dots     []string          // paths of dot imports
	Earlier  Earlier           // declarations of earlier cells
	Shown    []Shown           // values of earlier cells, and their sources
	Magics   []Magic           // sorted by name
	Sources  fs.FS             // source of this library's packages, or nil
	Values   Values            // values of the session, or nil if they cannot be read
	Busy     func() []int      // numbers of the cells with goroutines
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
	Inside(pkg Package, v reflect.Value) (x reflect.Value, t types.Type, ok bool)
	// Show renders a value of a type that is checked with pkg, without running code of cells.
	Show(pkg Package, v reflect.Value, t types.Type) display.Bundle
	// While calls f if no cell is running, or if all are stopped. No cell runs before f returns.
	While(f func()) (ok bool)
}

// Shown is a value that a cell has shown, or that holds the sources of cells.
type Shown struct {
	Names []string // for example "Out[3]", "_3" and "_"
	Check string   // its variable in the prelude
	Type  string
}

// Earlier knows what earlier cells declare. Its names are those of the checker: a replaced version of a type has another than
// the user's.
type Earlier interface {
	// Declares reports whether a name has a meaning, which hides packages.
	Declares(name string) bool
	// Names returns the names that users can write, some of them repeatedly, and perhaps others.
	Names() iter.Seq[string]
	// Methods returns the names, in the form T.M, of the methods of a type.
	Methods(typ string) []string
	// Written returns the declaration of a name, T.M for methods, as written; ok is false if it has no meaning.
	Written(name string) (w Written, ok bool)
	// File returns a file of package main that declares those of the names that it knows, and all that their declarations mention,
	// but nothing that is known already. Functions have no bodies.
	File(names map[string]bool, known func(name string) bool) string
}

// Package is the package of a cell that has been checked. Find returns what the checker knows by a name,
// besides what the cell mentions; it may be nil.
type Package struct {
	*types.Package
	Find func(name string) types.Object
}
