package dynamic

import (
	"reflect"
	"sync"
	"unsafe"

	"halfnote/interp/internal/mapaccess"
)

// holdsOwn reports whether a value of a type that compiled code knows contains a value of
// an interpreted type.
func holdsOwn(v reflect.Value, done map[unsafe.Pointer]bool, depth int) bool {
	if depth > nesting {
		return false
	}
	if Of(v.Type()) != nil {
		return true
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return false
		}
		r, t := Open(v.Elem().Interface())
		return t != nil || holdsOwn(r, done, depth+1)
	case reflect.Pointer:
		if v.IsNil() || done[v.UnsafePointer()] || (form{nil, v.Type().Elem()}).compiled() {
			return false
		}
		if done == nil {
			done = map[unsafe.Pointer]bool{}
		}
		done[v.UnsafePointer()] = true
		return holdsOwn(v.Elem(), done, depth+1)
	case reflect.Slice, reflect.Array:
		if !(form{nil, v.Type()}).mayHold() {
			return false
		}
		for i := range v.Len() {
			if holdsOwn(v.Index(i), done, depth+1) {
				return true
			}
		}
	case reflect.Map:
		if !(form{nil, v.Type()}).mayHold() {
			return false
		}
		for _, e := range mapaccess.Entries(v) {
			if holdsOwn(e.Key, done, depth+1) || holdsOwn(e.Value, done, depth+1) {
				return true
			}
		}
	case reflect.Struct:
		if v.Type().PkgPath() != "" {
			return false
		}
		for i := range v.NumField() {
			if holdsOwn(v.Field(i), done, depth+1) {
				return true
			}
		}
	case reflect.Func:
		return (form{nil, v.Type()}).mirrorFunc()
	}
	return false
}

func (f form) mirrorFunc() bool {
	for i := range f.r.NumIn() {
		if f.in(i).t != nil {
			return true
		}
	}
	for i := range f.r.NumOut() {
		if f.out(i).t != nil {
			return true
		}
	}
	return false
}

// held caches which types have values that may hold interfaces or functions.
var held sync.Map

// mayHold reports whether values of a type may contain interfaces or functions, which
// do not look the same to compiled code.
func (f form) mayHold() bool {
	if is, ok := held.Load(f.r); ok {
		return is.(bool)
	}
	is := mayHold(f.r, map[reflect.Type]bool{})
	held.Store(f.r, is)
	return is
}

func mayHold(r reflect.Type, done map[reflect.Type]bool) bool {
	if done[r] {
		return false
	}
	done[r] = true
	if r.PkgPath() != "" && r.Kind() != reflect.Interface {
		switch r.Kind() {
		case reflect.Map, reflect.Slice: // such as template.FuncMap
		default:
			return false
		}
	}
	switch r.Kind() {
	case reflect.Interface, reflect.Func:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return mayHold(r.Elem(), done)
	case reflect.Map:
		return mayHold(r.Key(), done) || mayHold(r.Elem(), done)
	case reflect.Struct:
		for i := range r.NumField() {
			if mayHold(r.Field(i).Type, done) {
				return true
			}
		}
	}
	return false
}
