package native

import (
	"reflect"
	"strconv"
	"strings"
)

// typeText returns a type as units write it, and notes the names that it uses.
func (e *Engine) typeText(t reflect.Type, uses map[string]bool) string {
	list := func(n int, at func(int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = at(i)
		}
		return strings.Join(parts, "; ")
	}
	elem := func() string { return e.typeText(t.Elem(), uses) }
	if t.Name() != "" {
		if t.PkgPath() == "" {
			return t.Name()
		}
		return e.namedText(t, uses)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + elem()
	case reflect.Slice:
		return "[]" + elem()
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + elem()
	case reflect.Map:
		return "map[" + e.typeText(t.Key(), uses) + "]" + elem()
	case reflect.Chan:
		return t.ChanDir().String() + " (" + elem() + ")"
	case reflect.Func:
		return "func" + e.signatureText(t, uses)
	case reflect.Interface:
		return "interface{" + list(t.NumMethod(), func(i int) string {
			return t.Method(i).Name + e.signatureText(t.Method(i).Type, uses)
		}) + "}"
	case reflect.Struct:
		return "struct{" + list(t.NumField(), func(i int) string {
			f := t.Field(i)
			text := e.typeText(f.Type, uses) + " " + strconv.Quote(string(f.Tag))
			if f.Anonymous {
				return text
			}
			return f.Name + " " + text
		}) + "}"
	}
	return t.String()
}

func (e *Engine) signatureText(t reflect.Type, uses map[string]bool) string {
	var in, out []string
	for i := range t.NumIn() {
		if t.IsVariadic() && i == t.NumIn()-1 {
			in = append(in, "..."+e.typeText(t.In(i).Elem(), uses))
		} else {
			in = append(in, e.typeText(t.In(i), uses))
		}
	}
	for r := range t.Outs() {
		out = append(out, e.typeText(r, uses))
	}
	return "(" + strings.Join(in, ", ") + ") (" + strings.Join(out, ", ") + ")"
}
