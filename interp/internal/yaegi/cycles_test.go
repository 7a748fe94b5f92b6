package yaegi

import (
	"go/parser"
	"io"
	"reflect"
	"testing"

	"halfnote/interp/internal/engine"
)

// TestCycles checks the reflect types of types that refer to themselves. If it fails after an
// upgrade of Yaegi or Go, the layout of their types has changed, and cells with such types are
// refused.
func TestCycles(t *testing.T) {
	e, err := New(Options{
		Name: func(path string) string { return "p__" + path }, Stdout: io.Discard,
		Goroutine: func() uint64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const src = `package main
type slice []slice
type table map[string]table
type pointer *pointer
type array [2]*array
type channel <-chan channel
type function func(int, ...function) (function, error)
type node struct { up *node; in list; kids []leaf; by map[string]*leaf; f func(node) leaf }
type leaf struct { of node; next *leaf }
type list []*node
var a slice
var b table
var c pointer
var d array
var e channel
var f function
var n node
var l leaf
`
	file, err := parser.ParseFile(e.Files(), "a", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Declare(t.Context(), &engine.Unit{File: file, Fset: e.Files()}); err != nil {
		t.Fatal(err)
	}
	at := func(name string) reflect.Type {
		v, ok := e.Slot(name)
		if !ok {
			t.Fatalf("no variable %s", name)
		}
		return v.Type()
	}
	n, l := at("n"), at("l")
	tests := []struct {
		name      string
		got, want reflect.Type
	}{
		{"slice", at("a").Elem(), at("a")},
		{"map", at("b").Elem(), at("b")},
		{"pointer", at("c").Elem(), at("c")},
		{"array", at("d").Elem(), reflect.PointerTo(at("d"))},
		{"slice of array", reflect.TypeOf(reflect.New(at("d")).Elem().Slice(0, 1).Interface()), reflect.SliceOf(reflect.PointerTo(at("d")))},
		{"channel", at("e").Elem(), at("e")},
		{"result", at("f").Out(0), at("f")},
		{"variadic", at("f").In(1), reflect.SliceOf(at("f"))},
		{"pointer field", n.Field(0).Type, reflect.PointerTo(n)},
		{"slice field", n.Field(1).Type, reflect.SliceOf(reflect.PointerTo(n))},
		{"slice of structs", n.Field(2).Type, reflect.SliceOf(l)},
		{"map of pointers", n.Field(3).Type, reflect.MapOf(reflect.TypeFor[string](), reflect.PointerTo(l))},
		{"function field", n.Field(4).Type, reflect.FuncOf([]reflect.Type{n}, []reflect.Type{l}, false)},
		{"struct field", l.Field(0).Type, n},
		{"own pointer", l.Field(1).Type, reflect.PointerTo(l)},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}
