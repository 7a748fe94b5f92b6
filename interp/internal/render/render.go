// Package render renders values of types that cells declare: as text with the names in the cell, as tables, and
// by their methods. The checker and package dynamic describe these types; package display, which renders all
// others, sees only the engine's representation of them.
package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"halfnote/display"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/peek"
	"halfnote/interp/internal/words"
)

// Opener returns the value in an interface, and its type if a cell declares that; the type is nil for compiled
// types.
type Opener func(reflect.Value) (reflect.Value, *dynamic.Type)

// maxShown is the maximum size of a value's text, in bytes and in elements of a list.
const (
	maxShown = 4000
	maxItems = 100
	maxNest  = 12
	maxPart  = 1000 // of the text that a method gives for a part of a value

	maxEntries = 1 << 18 // of a map whose entries are sorted
)

// Value renders a value of a type as text and, if it is a list of structs or a map, as a table. With
// methods, the parts of the value that have the method String or Error show its text.
func Value(v reflect.Value, t *dynamic.Type, methods bool, open Opener) display.Bundle {
	newWriter := func() *writer { return &writer{methods: methods, of: open} }
	w := newWriter()
	w.value(v, t, 0)
	b := display.Text(w.String())
	if html, ok := records(v, t, newWriter); ok {
		b.Data["text/html"] = html
	}
	return b
}

// Presented returns the value that package display shows in place of one that a cell gives it: a bundle
// for values of the types that cells declare, whose names and methods package dynamic knows.
func Presented(v any) any {
	x, t := dynamic.Open(v)
	if t == nil || peek.IsNil(x) {
		return v
	}
	b := Value(x, t, true, func(v reflect.Value) (reflect.Value, *dynamic.Type) { return dynamic.Open(v.Interface()) })
	methods := Methods(x, t)
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		var part display.Bundle
		if p := panicOf(func() { part = Part(name, methods[name]) }); p != nil {
			part = display.Text(fmt.Sprintf("%v\n(method %s panicked: %v)", b.Data["text/plain"], name, p))
			name = "String"
		}
		Add(&b, name, part)
	}
	return b
}

// panicOf calls f and returns the value with which f panicked, in Go's words, or nil. It does not stop the
// panic of an interrupt.
func panicOf(f func()) (value any) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ StopsCell() }); ok {
				panic(r)
			}
			value = words.Of(r)
		}
	}()
	f()
	return nil
}

// HoldsOwn reports whether a value of a compiled type holds interpreted values in
// interfaces. It looks only at the first elements of lists.
func HoldsOwn(v reflect.Value) bool { return holdsOwn(v, 0) }

func holdsOwn(v reflect.Value, depth int) bool {
	const few = 20
	if depth > 4 || !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return false
		}
		if _, t := dynamic.Open(v.Interface()); t != nil {
			return true
		}
		if _, ok := engine.TypeOf(peek.Concrete(v)); ok {
			return true
		}
		return holdsOwn(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Interface, reflect.Slice, reflect.Map:
			for i := range min(v.Len(), few) {
				if holdsOwn(v.Index(i), depth+1) {
					return true
				}
			}
		}
	case reflect.Map:
		for _, e := range mapaccess.First(v, few) {
			if holdsOwn(e.Value, depth+1) {
				return true
			}
		}
	}
	return false
}
