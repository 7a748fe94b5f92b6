package dynamic

import (
	"fmt"
	"reflect"
	"sync"

	"halfnote/interp/internal/mapaccess"
)

// Endless is the panic value for formatting a value that contains itself. Package fmt would
// recurse until the stack of the process is full.
type Endless struct{ Type string }

func (e Endless) Error() string {
	return "fmt: a value of type " + e.Type + " contains itself and cannot be printed: print its parts"
}

// RuntimeError makes Endless a runtime.Error.
func (Endless) RuntimeError() {}

// Nested is the panic value for formatting a value whose parts nest too deep: package fmt recurses over them.
type Nested struct{ Type string }

func (n Nested) Error() string {
	return fmt.Sprintf("fmt: a value of type %s nests more than %d deep and cannot be printed: print its parts", n.Type, maxNesting)
}

// RuntimeError makes Nested a runtime.Error.
func (Nested) RuntimeError() {}

// maxNesting is the most parts within parts of a value that is printed.
const maxNesting = 50_000

// finite panics if one of the operands contains itself through slices, maps, structs
// and interfaces, or nests too deep. Pointers inside a value are shown as addresses.
func finite(args []any) {
	for _, a := range args {
		v := reflect.ValueOf(a)
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.IsValid() && mayContainItself(v.Type()) && (&path{of: a, around: map[part]bool{}}).within(v) {
			panic(Endless{reflect.TypeOf(a).String()})
		}
	}
}

// path holds the slices and maps around a part of a value, and how deep it lies.
type path struct {
	of     any
	around map[part]bool
	depth  int
}

type part struct {
	at  uintptr
	len int
	typ reflect.Type
}

// within reports whether v contains itself or one of the slices and maps around it.
func (p *path) within(v reflect.Value) bool {
	if p.depth++; p.depth > maxNesting {
		panic(Nested{reflect.TypeOf(p.of).String()})
	}
	defer func() { p.depth-- }()
	switch v.Kind() {
	case reflect.Interface:
		return !v.IsNil() && p.within(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if p.within(v.Field(i)) {
				return true
			}
		}
	case reflect.Array:
		return p.list(v)
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 || !mayContainItself(v.Type()) {
			return false
		}
		x := part{v.Pointer(), v.Len(), v.Type()}
		if p.around[x] {
			return true
		}
		p.around[x] = true
		defer delete(p.around, x)
		if v.Kind() == reflect.Slice {
			return p.list(v)
		}
		for _, e := range mapaccess.Entries(v) {
			if p.within(e.Value) || p.within(e.Key) {
				return true
			}
		}
	}
	return false
}

func (p *path) list(v reflect.Value) bool {
	if !mayContainItself(v.Type().Elem()) {
		return false
	}
	for i := range v.Len() {
		if p.within(v.Index(i)) {
			return true
		}
	}
	return false
}

// recursive caches which types have values that may contain themselves.
var recursive sync.Map

// mayContainItself reports whether values of a type may contain themselves: the type has
// parts that are interfaces, or slices or maps of itself.
func mayContainItself(t reflect.Type) bool {
	if known, ok := recursive.Load(t); ok {
		return known.(bool)
	}
	may := contains(t, map[reflect.Type]bool{})
	recursive.Store(t, may)
	return may
}

func contains(t reflect.Type, around map[reflect.Type]bool) bool {
	if around[t] {
		return true
	}
	around[t] = true
	defer delete(around, t)
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Slice, reflect.Array:
		return contains(t.Elem(), around)
	case reflect.Map:
		return contains(t.Key(), around) || contains(t.Elem(), around)
	case reflect.Struct:
		for i := range t.NumField() {
			if contains(t.Field(i).Type, around) {
				return true
			}
		}
	}
	return false
}
