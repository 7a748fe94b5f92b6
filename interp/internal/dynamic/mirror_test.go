package dynamic

import (
	"reflect"
	"strings"
	"testing"
)

// TestIncompleteMirrors shows a type after a type that refers to it could not be shown.
func TestIncompleteMirrors(t *testing.T) {
	s := NewSpace()
	defer s.Close()
	declare := func(name string, fields ...Field) *Type {
		return s.Type(name, func(d *Type) { d.Name, d.Kind, d.Named, d.Fields = "main."+name, reflect.Struct, true, fields })
	}
	bad := declare("Bad", Field{Name: "1"}) // not the name of a field
	mid := declare("Mid", Field{Name: "B", Exported: true, Type: bad})
	outer := declare("Outer", Field{Name: "A", Exported: true, Type: mid.Pointer()})
	plain := func(name string, t reflect.Type) reflect.Type {
		return reflect.StructOf([]reflect.StructField{{Name: name, Type: t}})
	}
	b := plain("X1", reflect.TypeFor[int]())
	m := plain("B", b)
	o := plain("A", reflect.PointerTo(m))
	for _, f := range []form{{outer, o}, {mid, m}, {mid.Pointer(), reflect.PointerTo(m)}, {bad, b}} {
		func() {
			defer func() {
				e, ok := recover().(NoMirror)
				if !ok || e.Type != f.t.Name || !strings.Contains(e.Error(), "field 0 has invalid name") {
					t.Errorf("%s: got %+v, want the reason why it cannot be shown", f.t.Name, e)
				}
			}()
			t.Errorf("%s: got the type %v, which is incomplete", f.t.Name, mirrorOf(f))
		}()
	}
	if len(mirrors.to) != 0 {
		t.Errorf("there are the mirrors %v", mirrors.to)
	}
}
