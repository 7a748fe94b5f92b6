package dynamic

import (
	"fmt"
	"reflect"
	"strings"
)

// Types as a cell declares them. Go's treatment of their values is the oracle for values of the interpreter.
type (
	Celsius float64
	Count   int
	Flag    bool
	Word    string
	Phase   complex128
	Raw     []byte
	Grid    [2][2]int
	Point   struct{ X, Y int }
	Line    struct {
		From, To Point
		Label    Word
		Heat     Celsius
	}
	Box    struct{ V any }
	Link   struct{ Next *Point }
	Tagged struct {
		N    Count  `json:"n"`
		Note string `json:"note,omitempty"`
		List []Point
		By   map[string]Point
	}
	Failed struct{ Code int }
	Quoted struct{ S string }
)

func (c Celsius) String() string { return fmt.Sprintf("%.1f°", float64(c)) }
func (e *Failed) Error() string  { return fmt.Sprint("code ", e.Code) }
func (q Quoted) GoString() string {
	return "Quoted(" + q.S + ")"
}

// cell makes the types that the tests declare above into types of a cell, and their values into those of the interpreter.
type cell struct{ *Space }

// own reports whether a type is one of those that the tests declare.
func own(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[Point]().PkgPath() && t.Name() != ""
}

// describe returns the description of a type as rewritten code makes it.
func (c cell) describe(t reflect.Type) *Type {
	switch {
	case own(t):
		return c.declared(t)
	case !c.mentions(t):
		return compiled(c.Space, t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.describe(t.Elem()).Pointer()
	case reflect.Map:
		k, e := c.describe(t.Key()), c.describe(t.Elem())
		return c.Type("map["+k.ID+"]"+e.ID, func(d *Type) {
			d.Kind, d.Key, d.Elem, d.Name, d.Boxed = reflect.Map, k, e, "map["+k.Name+"]"+e.Name, k.Boxed || e.Boxed
		})
	}
	return c.describe(t.Elem()).composed(t)
}

// mentions reports whether a type is composed of declared ones.
func (c cell) mentions(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return own(t) || c.mentions(t.Elem())
	case reflect.Map:
		return own(t) || c.mentions(t.Key()) || c.mentions(t.Elem())
	}
	return own(t)
}

// declared returns the description of a declared type, with its methods.
func (c cell) declared(t reflect.Type) *Type {
	isNew := false
	d := c.Type(t.Name(), func(d *Type) {
		isNew = true
		d.Name, d.Kind, d.Named, d.Boxed = "main."+t.Name(), t.Kind(), true, t.Kind() != reflect.Struct
		switch t.Kind() {
		case reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				d.Fields = append(d.Fields, Field{Name: f.Name, Tag: string(f.Tag), Exported: true, Type: c.describe(f.Type)})
			}
		case reflect.Slice, reflect.Array:
			d.Elem = c.describe(t.Elem())
		}
	})
	if !isNew {
		return d
	}
	for p := range reflect.PointerTo(t).Methods() {
		_, isValue := t.MethodByName(p.Name)
		call := func(x any) string {
			r, _ := Open(x)
			if r.Kind() == reflect.Pointer {
				r = r.Elem()
			}
			real := reflect.New(t)
			real.Elem().Set(convert(r, t))
			return real.MethodByName(p.Name).Call(nil)[0].String()
		}
		var value any
		if isValue {
			value = call
		}
		c.Declare(t.Name(), p.Name, "func() string", value, call)
	}
	return d
}

// represent returns the type that represents t in the interpreter.
func (c cell) represent(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Struct:
		if !own(t) {
			return t
		}
		var fields []reflect.StructField
		for i := range t.NumField() {
			f := reflect.StructField{Name: t.Field(i).Name, Type: c.represent(t.Field(i).Type), Tag: t.Field(i).Tag}
			if i == 0 {
				f.Tag = reflect.StructTag(strings.TrimSpace(c.Tag(t.Name()) + " " + string(f.Tag)))
			}
			fields = append(fields, f)
		}
		return reflect.StructOf(fields)
	case reflect.Pointer:
		return reflect.PointerTo(c.represent(t.Elem()))
	case reflect.Slice:
		return reflect.SliceOf(c.represent(t.Elem()))
	case reflect.Array:
		return reflect.ArrayOf(t.Len(), c.represent(t.Elem()))
	case reflect.Map:
		return reflect.MapOf(c.represent(t.Key()), c.represent(t.Elem()))
	}
	if own(t) {
		return underlying[t.Kind()]
	}
	return t
}

var underlying = map[reflect.Kind]reflect.Type{
	reflect.Bool: reflect.TypeFor[bool](), reflect.Int: reflect.TypeFor[int](), reflect.String: reflect.TypeFor[string](),
	reflect.Float64: reflect.TypeFor[float64](), reflect.Complex128: reflect.TypeFor[complex128](),
}

// value returns a value in an interface as the interpreter holds it.
func (c cell) value(v any) any {
	if v == nil {
		return nil
	}
	t := reflect.TypeOf(v)
	if !c.mentions(t) {
		return v
	}
	return c.describe(t).In(c.inside(reflect.ValueOf(v), c.represent(t)))
}

// inside is convert for a value of the tests. What interfaces hold becomes a value of the interpreter too.
func (c cell) inside(v reflect.Value, to reflect.Type) reflect.Value {
	return converted(v, to, func(x any) any { return c.value(x) })
}

// convert returns a value as a type of the same structure.
func convert(v reflect.Value, to reflect.Type) reflect.Value {
	return converted(v, to, func(x any) any { return x })
}

func converted(v reflect.Value, to reflect.Type, content func(any) any) reflect.Value {
	x := reflect.New(to).Elem()
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			x.Field(i).Set(converted(v.Field(i), to.Field(i).Type, content))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			x.Set(reflect.New(to.Elem()))
			x.Elem().Set(converted(v.Elem(), to.Elem(), content))
		}
	case reflect.Slice:
		if !v.IsNil() {
			x.Set(reflect.MakeSlice(to, v.Len(), v.Len()))
		}
		for i := range v.Len() {
			x.Index(i).Set(converted(v.Index(i), to.Elem(), content))
		}
	case reflect.Array:
		for i := range v.Len() {
			x.Index(i).Set(converted(v.Index(i), to.Elem(), content))
		}
	case reflect.Map:
		if !v.IsNil() {
			x.Set(reflect.MakeMap(to))
		}
		for k, e := range v.Seq2() {
			x.SetMapIndex(converted(k, to.Key(), content), converted(e, to.Elem(), content))
		}
	case reflect.Interface:
		if !v.IsNil() {
			x.Set(reflect.ValueOf(content(v.Interface())))
		}
	default:
		x.Set(v.Convert(to))
	}
	return x
}
