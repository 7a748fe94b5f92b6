// Package symbols holds the symbols that interpreted cells can call: a table of
// reflect.Values for each package that they can import, in the form that Yaegi reads. It is
// generated from the same list as package exports, so every name that type-checks has a
// symbol, except generic functions and types, which a reflect.Value cannot represent.
package symbols

import (
	"go/constant"
	"go/token"
	"maps"
	"path"
	"reflect"
	"slices"

	"halfnote/interp/internal/exports"
)

//go:generate go run ./gen

// tables holds the symbols of each package. The init functions of the generated files fill it.
var tables = map[string][]symbol{}

// symbol is a name with its value: a function, a nil pointer to a type, a typed constant, or one of the types below. All are
// data, so a table costs no code.
type symbol struct {
	name  string
	value any
}

type (
	variable      struct{ pointer any }
	untypedString string
	untypedInt    int64
	longInt       string // an untyped constant beyond int64
	untypedFloat  string
)

// reflect returns the value in the form of a table.
func (s symbol) reflect() reflect.Value {
	switch v := s.value.(type) {
	case variable:
		return reflect.ValueOf(v.pointer).Elem()
	case untypedString:
		return reflect.ValueOf(constant.MakeString(string(v)))
	case untypedInt:
		return reflect.ValueOf(constant.MakeInt64(int64(v)))
	case longInt:
		return reflect.ValueOf(constant.MakeFromLiteral(string(v), token.INT, 0))
	case untypedFloat:
		return reflect.ValueOf(constant.MakeFromLiteral(string(v), token.FLOAT, 0))
	}
	return reflect.ValueOf(s.value)
}

// Table returns a new table of the package at an import path, by name. A function is
// given by value, a variable by an addressable value, a type by a nil pointer to it, a
// typed constant by value, an untyped one by its constant.Value, and "_Name" by a nil
// pointer to the struct that implements interface Name for interpreted types. Table
// returns nil for packages with only generic names, such as "slices", and for unknown
// ones.
func Table(path string) map[string]reflect.Value {
	list := tables[path]
	if list == nil {
		return nil
	}
	table := make(map[string]reflect.Value, len(list))
	for _, s := range list {
		table[s.name] = s.reflect()
	}
	return table
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
