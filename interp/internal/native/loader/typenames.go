package loader

import (
	"reflect"
	"strconv"
	"strings"
)

// typeName returns the name that the compiler gives to the description of a type, without
// the prefix "type:". It is types.LinkString of the compiler.
func typeName(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.UnsafePointer && t.PkgPath() != "" && t.Name() == "Pointer":
		return "unsafe.Pointer"
	case t.Name() != "" && t.PkgPath() == "":
		return t.Name()
	case t.Name() != "":
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.UnsafePointer:
		return "unsafe.Pointer"
	case reflect.Pointer:
		return "*" + typeName(t.Elem())
	case reflect.Slice:
		return "[]" + typeName(t.Elem())
	case reflect.Array:
		return "[" + strconv.Itoa(t.Len()) + "]" + typeName(t.Elem())
	case reflect.Map:
		return "map[" + typeName(t.Key()) + "]" + typeName(t.Elem())
	case reflect.Chan:
		return chanName(t)
	case reflect.Func:
		return "func" + signatureName(t)
	case reflect.Struct:
		return structName(t)
	case reflect.Interface:
		return interfaceName(t)
	}
	return t.String()
}

func chanName(t reflect.Type) string {
	elem := typeName(t.Elem())
	switch {
	case t.ChanDir() == reflect.RecvDir:
		return "<-chan " + elem
	case t.ChanDir() == reflect.SendDir:
		return "chan<- " + elem
	case strings.HasPrefix(elem, "<-"):
		return "chan (" + elem + ")"
	}
	return "chan " + elem
}

func structName(t reflect.Type) string {
	if t.NumField() == 0 {
		return "struct {}"
	}
	list := make([]string, t.NumField())
	for i := range list {
		f := t.Field(i)
		if !f.Anonymous {
			list[i] = qualified(f.PkgPath, f.Name) + " "
		}
		list[i] += typeName(f.Type)
		if f.Tag != "" {
			list[i] += " " + strconv.Quote(string(f.Tag))
		}
	}
	return "struct { " + strings.Join(list, "; ") + " }"
}

func interfaceName(t reflect.Type) string {
	if t.NumMethod() == 0 {
		return "interface {}"
	}
	list := make([]string, t.NumMethod())
	for i := range list {
		m := t.Method(i)
		list[i] = qualified(m.PkgPath, m.Name) + signatureName(m.Type)
	}
	return "interface { " + strings.Join(list, "; ") + " }"
}

// qualified returns a name with its package, which only unexported names have.
func qualified(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func signatureName(t reflect.Type) string {
	in, out := make([]string, t.NumIn()), make([]string, t.NumOut())
	for i := range in {
		in[i] = typeName(t.In(i))
		if t.IsVariadic() && i == len(in)-1 {
			in[i] = "..." + typeName(t.In(i).Elem())
		}
	}
	for i := range out {
		out[i] = typeName(t.Out(i))
	}
	params := "(" + strings.Join(in, ", ") + ")"
	switch len(out) {
	case 0:
		return params
	case 1:
		return params + " " + out[0]
	}
	return params + " (" + strings.Join(out, ", ") + ")"
}
