package support

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/symbols"
)

// conversions returns the functions that rewritten code calls where values are
// converted to interfaces and back.
func (s *Symbols) conversions() map[string]any {
	return map[string]any{
		"Any":     func(v any) any { return v },
		"Box":     s.Types.Box,
		"Unwrap":  dynamic.Unwrap,
		"Export":  dynamic.Export,
		"Lend":    dynamic.Lend,
		"Borrow":  dynamic.LendTarget,
		"LendAll": dynamic.LendAll,
		"LendMap": dynamic.LendMap,

		"Sprint":   dynamic.Sprint,
		"Sprintf":  dynamic.Sprintf,
		"Sprintln": dynamic.Sprintln,

		"LendResult": func(f func() any) func() any { return func() any { return dynamic.Lend(f()) } },

		"Equal":   dynamic.Equal,
		"Method":  dynamic.MethodFor,
		"Declare": s.Types.Declare,
		"Interface": func(id string) any {
			return s.Types.Type(id, func(*dynamic.Type) {})
		},
		"Is": dynamic.Is,
		"Case": func(v any, cases []any) int {
			v = dynamic.Unwrap(v)
			for i, c := range cases {
				if dynamic.Is(v, c) {
					return i
				}
			}
			return -1
		},
		"Exact": func(v, c any, static, want string) any {
			v = dynamic.Unwrap(v)
			if !dynamic.Is(v, c) {
				panic(dynamic.Missing(v, static, want, false, nil))
			}
			return v
		},
		"Assert": func(v any, id string) any {
			t := s.Types.Type(id, func(*dynamic.Type) {})
			if !dynamic.Is(v, t) {
				panic(dynamic.Missing(v, "interface", t.Name, true, t.Methods))
			}
			return v
		},
		"AssertOk": func(v any, id string) (any, bool) {
			if dynamic.Is(v, s.Types.Type(id, func(*dynamic.Type) {})) {
				return v, true
			}
			return nil, false
		},
		"ErrorsAs": errorsAs,
	}
}

// formatting adds to m the formatting functions of package fmt that show values of
// interpreted types as Go does.
func formatting(m map[string]any) map[string]any {
	maps.Copy(m, map[string]any{
		"Append":   func(b []byte, a ...any) []byte { return append(b, dynamic.Sprint(a...)...) },
		"Appendf":  func(b []byte, format string, a ...any) []byte { return append(b, dynamic.Sprintf(format, a...)...) },
		"Appendln": func(b []byte, a ...any) []byte { return append(b, dynamic.Sprintln(a...)...) },
		"Errorf":   dynamic.Errorf,
		"Fprint":   dynamic.Print,
		"Fprintf":  dynamic.Printf,
		"Fprintln": dynamic.Println,
		"Sprint":   dynamic.Sprint,
		"Sprintf":  dynamic.Sprintf,
		"Sprintln": dynamic.Sprintln,
	})
	return m
}

// errorsAs is errors.As for a target whose type compiled code does not know; c is that type
// as package dynamic represents it, or nil if an interface holds the target.
func errorsAs(err error, target, c any) bool {
	p, t := reflect.ValueOf(target), (*dynamic.Type)(nil)
	if c == nil {
		if p, t = dynamic.Open(target); t == nil {
			return errors.As(err, target)
		}
	}
	is := func(v any) bool { return c != nil && dynamic.Is(v, c) || c == nil && t.Elem.Holds(v) }
	if !p.IsValid() || p.Kind() != reflect.Pointer || p.IsNil() {
		panic("errors: target must be a non-nil pointer")
	}
	for _, e := range errorTree(err) {
		v := dynamic.Unwrap(e)
		if is(v) {
			r := reflect.ValueOf(v)
			if p.Elem().Kind() != reflect.Interface {
				r, _ = dynamic.Open(v)
			}
			p.Elem().Set(r)
			return true
		}
		if as, ok := e.(interface{ As(any) bool }); ok && as.As(target) {
			return true
		}
		if as, ok := dynamic.MethodOf(v, "As").(func(any, any) bool); ok && as(v, target) {
			return true
		}
	}
	return false
}

// errorTree lists an error and all errors that it wraps, in the order of errors.As.
func errorTree(err error) (list []error) {
	if err == nil {
		return nil
	}
	list = append(list, err)
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		list = append(list, errorTree(x.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, e := range x.Unwrap() {
			list = append(list, errorTree(e)...)
		}
	}
	return list
}

// Iface provides units with the conversions to an interface of a compiled package and
// the assertions to it.
func (s *Symbols) Iface(path, name string) (f lower.Iface, ok bool) {
	symbol := strings.TrimPrefix(front.Alias(path), "p__") + "_" + name
	f = lower.Iface{To: "To_" + symbol, Must: "Must_" + symbol, As: "As_" + symbol}
	if s.bound[f.To] {
		return f, true
	}
	var t, wrapper reflect.Type
	if path == "" && name == "error" {
		t, wrapper = reflect.TypeFor[error](), reflect.TypeFor[dynamic.Error]()
	} else {
		table := symbols.Table(path)
		v, ok := table[name]
		if !ok || v.Type().Kind() != reflect.Pointer || v.Type().Elem().Kind() != reflect.Interface {
			return f, false
		}
		t = v.Type().Elem()
		if w, ok := table["_"+name]; ok {
			wrapper = w.Type().Elem()
		}
	}
	as := func(v any) (reflect.Value, bool) {
		r := reflect.New(t).Elem()
		x, ok := dynamic.As(v, t, wrapper)
		if ok {
			r.Set(reflect.ValueOf(x))
		}
		return r, ok
	}
	in := []reflect.Type{reflect.TypeFor[any]()}
	one := reflect.FuncOf(in, []reflect.Type{t}, false)
	two := reflect.FuncOf(in, []reflect.Type{t, reflect.TypeFor[bool]()}, false)
	s.engine.Bind(lower.SupportPath, map[string]reflect.Value{
		f.To: reflect.MakeFunc(one, func(args []reflect.Value) []reflect.Value {
			v, ok := as(args[0].Interface())
			if !ok && !args[0].IsNil() {
				panic(fmt.Sprintf("halfnote: %s has no wrapper for %s", dynamic.Name(args[0].Interface()), t))
			}
			return []reflect.Value{v}
		}),
		f.Must: reflect.MakeFunc(one, func(args []reflect.Value) []reflect.Value {
			x := args[0].Interface()
			v, ok := as(x)
			if !ok {
				var list []dynamic.Method
				for i := range t.NumMethod() {
					list = append(list, dynamic.Method{Name: t.Method(i).Name, Sig: dynamic.Signature(t.Method(i).Type, 0)})
				}
				panic(dynamic.Missing(x, "interface", t.String(), true, list))
			}
			return []reflect.Value{v}
		}),
		f.As: reflect.MakeFunc(two, func(args []reflect.Value) []reflect.Value {
			v, ok := as(args[0].Interface())
			return []reflect.Value{v, reflect.ValueOf(ok)}
		}),
	})
	s.bound[f.To] = true
	return f, true
}
