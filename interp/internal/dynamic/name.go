package dynamic

import (
	"fmt"
	"reflect"
	"strings"
)

// nameOf returns the text that Go shows for the type t, which r represents; t is nil if r is all that is known.
func nameOf(r reflect.Type, t *Type) string {
	if t == nil {
		t = Of(r)
	}
	if t != nil && t.Name != "" {
		return t.Name
	}
	if r.Name() != "" {
		return r.String()
	}
	name := func(r reflect.Type) string { return nameOf(r, nil) }
	switch r.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return around(r, name(r.Elem()))
	case reflect.Map:
		return "map[" + name(r.Key()) + "]" + name(r.Elem())
	case reflect.Func:
		var in, out []string
		for i := range r.NumIn() {
			in = append(in, name(r.In(i)))
		}
		if last := len(in) - 1; r.IsVariadic() {
			in[last] = "..." + strings.TrimPrefix(in[last], "[]")
		}
		for i := range r.NumOut() {
			out = append(out, name(r.Out(i)))
		}
		s, results := "func("+strings.Join(in, ", ")+")", strings.Join(out, ", ")
		switch len(out) {
		case 0:
			return s
		case 1:
			return s + " " + results
		}
		return s + " (" + results + ")"
	case reflect.Struct:
		var fields []string
		for i := range r.NumField() {
			f := r.Field(i)
			text := name(f.Type)
			if !f.Anonymous {
				text = f.Name + " " + text
			}
			if f.Tag != "" {
				text += fmt.Sprintf(" %q", string(f.Tag))
			}
			fields = append(fields, text)
		}
		if len(fields) > 0 {
			return "struct { " + strings.Join(fields, "; ") + " }"
		}
	}
	return r.String()
}
