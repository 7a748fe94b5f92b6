// Package peek reads values of cells by reflection, without running code of cells.
package peek

import (
	"go/types"
	"reflect"
	"unsafe"

	"halfnote/interp/internal/dynamic"
)

// Concrete unwraps a value from its interfaces.
func Concrete(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// Field returns a struct's field, made readable even if it is not exported.
func Field(v reflect.Value, i int) reflect.Value {
	if !v.CanAddr() {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		v = c
	}
	f := v.Field(i)
	if !f.CanInterface() {
		f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
	}
	return f
}

// IsNil reports whether a value is a nil pointer or interface, or an interface that holds a nil pointer.
func IsNil(v reflect.Value) bool {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}

// IsCompiled reports whether a value has a compiled type, whose methods package display
// finds itself.
func IsCompiled(v reflect.Value) bool {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return true
	}
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name() != "" && t.PkgPath() != "main" && !v.Type().Implements(reflect.TypeFor[dynamic.Wrapper]())
}

// HoldsMap reports whether a value of a type can contain a map. Reading a map during a
// write ends the process.
func HoldsMap(t types.Type) bool { return holdsMap(t, map[types.Type]bool{}) }

func holdsMap(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Map, *types.Interface:
		return true
	case *types.Pointer:
		return holdsMap(u.Elem(), seen)
	case *types.Slice:
		return holdsMap(u.Elem(), seen)
	case *types.Array:
		return holdsMap(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if holdsMap(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// Numeric is 1 for integer keys, whose texts sort by length first.
func Numeric(t reflect.Type) int {
	if k := t.Kind(); k >= reflect.Int && k <= reflect.Uintptr {
		return 1
	}
	return 0
}
