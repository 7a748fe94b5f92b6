package dynamic

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unsafe"
)

// Unmarshal is json.Unmarshal. Mirrors of interfaces have no methods, so it checks what was put into them.
func Unmarshal(data []byte, p any) error {
	return fit(p, json.Unmarshal(data, LendTarget(p)))
}

// Decode is d.Decode.
func Decode(d *json.Decoder, p any) error {
	return fit(p, d.Decode(LendTarget(p)))
}

// fit removes values from interfaces whose methods they lack, and returns err or an error about the first.
func fit(p any, err error) error {
	r, t := Open(p)
	if t == nil || r.Kind() != reflect.Pointer || r.IsNil() {
		return err
	}
	w := unfit{done: map[unsafe.Pointer]bool{}}
	w.visit(form{t, r.Type()}.elem(), r.Elem(), "value")
	if err == nil && w.first != nil {
		return w.first
	}
	return err
}

// unfit visits a value.
type unfit struct {
	done  map[unsafe.Pointer]bool
	first error
}

func (w *unfit) visit(f form, v reflect.Value, place string) {
	if f.compiled() || !f.mayHold() {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || f.t == nil || len(f.t.Methods) == 0 || Implements(v.Interface(), f.t) {
			return
		}
		if w.first == nil {
			w.first = fmt.Errorf("json: cannot unmarshal %s into Go %s of type %s", jsonKind(v.Elem()), place, f.t.Name)
		}
		v.SetZero()
	case reflect.Pointer:
		if !v.IsNil() && !w.done[v.UnsafePointer()] {
			w.done[v.UnsafePointer()] = true
			w.visit(f.elem(), v.Elem(), place)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			e, s := f.field(i)
			name := ""
			if f.t != nil {
				_, name = f.t.pathAndName()
			}
			w.visit(e, v.Field(i), "struct field "+name+"."+s.Name)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.visit(f.elem(), v.Index(i), place)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			x := reflect.New(v.Type().Elem()).Elem()
			x.Set(v.MapIndex(k))
			before := w.first
			w.visit(f.elem(), x, place)
			if w.first != before && x.IsZero() {
				v.SetMapIndex(k, x)
			}
		}
	}
}

// jsonKind returns the word for the JSON from which package json made a value.
func jsonKind(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Map:
		return "object"
	case reflect.Slice:
		return "array"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	}
	return "number"
}
