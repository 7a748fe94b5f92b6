package yaegi

import (
	"reflect"
	"strings"
	"unsafe"
)

// Inside implements engine.Engine. Yaegi puts interpreted values into interfaces
// as a struct of its node and the reflect.Value, both unexported, or, for compiled
// code, as a wrapper struct with the field IValue.
func (e *Engine) Inside(v reflect.Value) (value reflect.Value, typ string, ok bool) {
	for range 8 {
		switch {
		case v.Kind() == reflect.Interface && !v.IsNil():
			v = v.Elem()
			continue
		case v.Kind() == reflect.Struct && v.Type().Name() == "valueInterface" && strings.HasSuffix(v.Type().PkgPath(), "yaegi/interp"):
			typ = nodeType(v.Field(0))
			v = held(v)
			ok = true
			continue
		case v.Kind() == reflect.Struct && strings.HasPrefix(v.Type().Name(), "_") && v.NumField() > 0 && v.Type().Field(0).Name == "IValue":
			v = v.Field(0)
			ok = true
			continue
		}
		break
	}
	return v, typ, ok
}

// held reads the field of type reflect.Value of a valueInterface.
func held(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	for i := range c.NumField() {
		f := c.Field(i)
		if f.Type() == reflect.TypeFor[reflect.Value]() {
			return *(*reflect.Value)(unsafe.Pointer(f.UnsafeAddr()))
		}
	}
	return reflect.Value{}
}

// nodeType reads the name of a node's type, behind pointers.
func nodeType(n reflect.Value) string {
	if n.Kind() != reflect.Pointer || n.IsNil() {
		return ""
	}
	t := n.Elem().FieldByName("typ")
	for range 4 {
		if !t.IsValid() || t.Kind() != reflect.Pointer || t.IsNil() {
			return ""
		}
		s := t.Elem()
		if name := s.FieldByName("name"); name.IsValid() && name.Kind() == reflect.String && name.String() != "" {
			return name.String()
		}
		t = s.FieldByName("val")
	}
	return ""
}
