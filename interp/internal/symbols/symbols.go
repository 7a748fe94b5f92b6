// Package symbols holds what interpreted cells can call: for each package that
// they can import a table of values of package reflect, in the form that Yaegi
// reads. It was generated from the list that package exports was generated
// from, so what type-checks exists here too, but for generic functions and types:
// no value of package reflect stands for those.
package symbols

import (
	"maps"
	"path"
	"reflect"
	"slices"

	"halfnote/interp/internal/exports"
)

//go:generate go run ./gen

// tables makes each package's table when asked. The generated files fill it in
// their init functions.
var tables = map[string]func() map[string]reflect.Value{}

// Table returns a new table of the package at an import path, by name: a
// function's value, a variable, addressable, a nil pointer to a type, a typed
// constant, the constant.Value of an untyped one, and as "_Name" a nil pointer to
// the struct that implements interface Name for interpreted types. It is nil for
// packages that have only generic names, such as "slices", and for unknown ones.
func Table(path string) map[string]reflect.Value {
	if t := tables[path]; t != nil {
		return t()
	}
	return nil
}

// Paths returns the import paths that have a table, sorted.
func Paths() []string { return slices.Sorted(maps.Keys(tables)) }

// Key is what Yaegi calls the package at an import path: the path and, once
// more, the name.
func Key(importPath string) string { return path.Join(importPath, exports.Name(importPath)) }

// All returns new tables of all packages by key.
func All() map[string]map[string]reflect.Value {
	all := map[string]map[string]reflect.Value{}
	for p := range tables {
		all[Key(p)] = Table(p)
	}
	return all
}
