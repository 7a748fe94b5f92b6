//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"crypto/sha256"
	"encoding/binary"
	"reflect"
	"unsafe"
)

// readTypes collects the types of the program: those of symbols, those that package reflect
// can find, and the types that these consist of.
func (h *host) readTypes(symbols map[string]map[string]reflect.Value) {
	for _, t := range []reflect.Type{
		reflect.TypeFor[error](), reflect.TypeFor[any](), reflect.TypeFor[unsafe.Pointer](), reflect.TypeFor[bool](), reflect.TypeFor[string](),
		reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[uintptr](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
		reflect.TypeFor[*func(error) string](), // one of those that the compiler describes only in package runtime
	} {
		h.learn(t)
	}
	for _, table := range symbols {
		for _, v := range table {
			if v.IsValid() {
				h.learn(v.Type())
			}
		}
	}
	sections, offsets := typelinks()
	for i, base := range sections {
		for _, off := range offsets[i] {
			h.learn(typeAt(uintptr(base) + uintptr(off)))
		}
	}
}

// learn adds a type and those that it consists of. It reports whether units can use the type:
// not if it involves a type of the program's package main.
func (h *host) learn(t reflect.Type) bool {
	if t.PkgPath() == "main" {
		return false
	}
	name := typeName(t)
	if known, ok := h.types[name]; ok && (known == t || known == nil) {
		return known != nil
	}
	if p := descriptionOf(t); p < h.md.types || p >= h.md.etypes {
		*hashIn(p) = typeHash(name) // package reflect has made it, with a different hash
	} else if *hashIn(p) != typeHash(name) {
		return false // declared inside a function: others may have the same name
	}
	h.types[name] = t
	usable := true
	for part := range parts(t) {
		usable = h.learn(part) && usable
	}
	if !usable && t.Name() == "" {
		h.types[name] = nil
		return false
	}
	if t.Name() != "" {
		h.learn(reflect.PointerTo(t))
	}
	return true
}

// typeHash returns the hash that the compiler writes into the description of the type of a
// name. It is types.TypeHash of the compiler.
func typeHash(name string) uint32 {
	sum := sha256.Sum256([]byte(name))
	sum[0] ^= 0xff
	return binary.LittleEndian.Uint32(sum[:4])
}

// parts yields the types that a type consists of. The types of methods of other types than interfaces are among
// those that package reflect can find.
func parts(t reflect.Type) func(yield func(reflect.Type) bool) {
	return func(yield func(reflect.Type) bool) {
		switch t.Kind() {
		case reflect.Map:
			if !yield(t.Key()) {
				return
			}
			fallthrough
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
			if !yield(t.Elem()) {
				return
			}
		case reflect.Func:
			for in := range t.Ins() {
				if !yield(in) {
					return
				}
			}
			for out := range t.Outs() {
				if !yield(out) {
					return
				}
			}
		case reflect.Struct:
			for f := range t.Fields() {
				if !yield(f.Type) {
					return
				}
			}
		case reflect.Interface:
			for m := range t.Methods() {
				if !yield(m.Type) {
					return
				}
			}
		}
	}
}
