// Package symbols holds the symbols that interpreted cells can call: a table of
// reflect.Values for each package that they can import, in the form that Yaegi reads. It is
// generated from the same list as package exports, so every name that type-checks has a
// symbol, except generic functions and types, which a reflect.Value cannot represent.
package symbols

import (
	"maps"
	"path"
	"reflect"
	"slices"

	"halfnote/interp/internal/exports"
)

//go:generate go run ./gen

// tables holds a function for each package that makes its table. The init functions of the
// generated files fill it.
var tables = map[string]func() map[string]reflect.Value{}

// Table returns a new table of the package at an import path, by name. A function is
// given by value, a variable by an addressable value, a type by a nil pointer to it, a
// typed constant by value, an untyped one by its constant.Value, and "_Name" by a nil
// pointer to the struct that implements interface Name for interpreted types. Table
// returns nil for packages with only generic names, such as "slices", and for unknown
// ones.
func Table(path string) map[string]reflect.Value {
	if t := tables[path]; t != nil {
		return t()
	}
	return nil
}

// Paths returns the import paths that have a table, sorted.
func Paths() []string { return slices.Sorted(maps.Keys(tables)) }

// Key returns Yaegi's key for the package at an import path: the path followed by the name.
func Key(importPath string) string { return path.Join(importPath, exports.Name(importPath)) }

// All returns new tables of all packages by key.
func All() map[string]map[string]reflect.Value {
	all := map[string]map[string]reflect.Value{}
	for p := range tables {
		all[Key(p)] = Table(p)
	}
	return all
}
