package dynamic

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"halfnote/interp/internal/words"
)

// Call is MethodFor for compiled code, which may call the method in a goroutine that it starts.
func Call(v any, name string) any {
	f := MethodFor(v, name)
	if d := Of(reflect.TypeOf(Unwrap(v))); f != nil && d != nil && d.space != nil && d.space.Foreign != nil && d.space.Foreign() {
		return d.space.guarded(f)
	}
	return f
}

// MethodFor returns the method of that name of a value in an interface, as a function whose
// first parameter is that value. Like Go, it panics if v is nil; it returns nil if
// there is no such method.
func MethodFor(v any, name string) any {
	if v == nil {
		panic(errNil)
	}
	if isMirror(reflect.TypeOf(v)) { // interpreted functions do not take it
		x := Unwrap(v)
		f, _ := lookup(x, name)
		if f == nil {
			return nil
		}
		return onReceiver(x, f)
	}
	v = Unwrap(v)
	f, _ := lookup(v, name)
	if r := reflect.ValueOf(v); f != nil && (r.Kind() == reflect.Pointer && r.IsNil() || r.Kind() == reflect.Struct) {
		return throughNil(v, name, f)
	}
	return f
}

// guarded returns a method for a goroutine of compiled code, where a panic would end the process. After a
// panic it returns an error, or ends the goroutine if its last result is not an error.
func (s *Space) guarded(f any) any {
	g := reflect.ValueOf(f)
	t := g.Type()
	return reflect.MakeFunc(t, func(args []reflect.Value) (results []reflect.Value) {
		err := s.Guard(func() {
			if t.IsVariadic() {
				results = g.CallSlice(args)
			} else {
				results = g.Call(args)
			}
		})
		if err == nil {
			return results
		}
		last := t.NumOut() - 1
		if last < 0 || t.Out(last) != reflect.TypeFor[error]() {
			runtime.Goexit()
		}
		for i := range last {
			results = append(results, reflect.Zero(t.Out(i)))
		}
		return append(results, reflect.ValueOf(&err).Elem())
	}).Interface()
}

// throughNil returns f or, if f has a value receiver and v is a nil pointer, a function
// that panics as Go does when it is called.
func throughNil(v any, name string, f any) any {
	r, t := Open(v)
	if t == nil || t.Kind != reflect.Pointer || t.Named || !r.IsNil() {
		return f
	}
	t.Elem.mu.Lock()
	m, ok := t.Elem.has[name]
	t.Elem.mu.Unlock()
	if !ok || m.value == nil {
		return f
	}
	return onInterface(reflect.TypeOf(f), func([]reflect.Value) []reflect.Value {
		panic(words.PlainError(fmt.Sprintf("value method %s.%s called using nil *%s pointer", t.Elem.Name, name, t.Elem.Name[strings.LastIndex(t.Elem.Name, ".")+1:])))
	})
}

var errNil = words.RuntimeError("invalid memory address or nil pointer dereference")

// MethodOf is MethodFor for a value that may be nil or lack the method.
func MethodOf(v any, name string) any {
	v = Unwrap(v)
	if v == nil {
		return nil
	}
	f, _ := lookup(v, name)
	return f
}

// Error is an error of interpreted code.
type Error struct{ IValue any }

// Interpreted implements Wrapper.
func (e Error) Interpreted() any { return e.IValue }

func (e Error) Error() string { return Call(e.IValue, "Error").(func(any) string)(e.IValue) }

// Unwrap returns the error that the value wraps, if any.
func (e Error) Unwrap() error {
	if f, ok := MethodOf(e.IValue, "Unwrap").(func(any) error); ok {
		return f(e.IValue)
	}
	return nil
}

// Is calls the value's Is method, if any.
func (e Error) Is(target error) bool {
	if f, ok := MethodOf(e.IValue, "Is").(func(any, error) bool); ok {
		return f(e.IValue, target)
	}
	return false
}

// As calls the value's As method, if any.
func (e Error) As(target any) bool {
	if f, ok := MethodOf(e.IValue, "As").(func(any, any) bool); ok {
		return f(e.IValue, target)
	}
	return false
}

// Errors is an error of interpreted code that wraps several errors.
type Errors struct{ IValue any }

// Interpreted implements Wrapper.
func (e Errors) Interpreted() any { return e.IValue }

func (e Errors) Error() string { return Error(e).Error() }

// Unwrap returns the errors that the value wraps.
func (e Errors) Unwrap() []error { return MethodOf(e.IValue, "Unwrap").(func(any) []error)(e.IValue) }

// Is calls the value's Is method, if any.
func (e Errors) Is(target error) bool { return Error(e).Is(target) }

// As calls the value's As method, if any.
func (e Errors) As(target any) bool { return Error(e).As(target) }

// GivesText reports whether interpreted code declares a method of that name that returns a text, which
// values of the type have.
func (t *Type) GivesText(name string) bool {
	base := t
	if t.Kind == reflect.Pointer && !t.Named {
		base = t.Elem
	}
	base.mu.Lock()
	m := base.has[name]
	base.mu.Unlock()
	if base == t {
		_, ok := m.value.(func(any) string)
		return ok
	}
	_, ok := m.pointer.(func(any) string)
	return ok
}

// lookup returns a method of a value, and the text of its type.
func lookup(v any, name string) (f any, sig string) {
	t := reflect.TypeOf(v)
	d := Of(t)
	if d == nil {
		return native(t, name)
	}
	base, pointer := d, false
	if d.Kind == reflect.Pointer && !d.Named {
		base, pointer = d.Elem, true
	}
	base.mu.Lock()
	m, ok := base.has[name]
	base.mu.Unlock()
	if ok {
		if pointer {
			return m.pointer, m.sig
		}
		return m.value, m.sig
	}
	return promoted(v, name)
}

// natives holds the methods of compiled types, by type and name.
var natives sync.Map

type nativeKey struct {
	t    reflect.Type
	name string
}

type nativeMethod struct {
	f   any
	sig string
}

func native(t reflect.Type, name string) (any, string) {
	if t == nil {
		return nil, ""
	}
	if m, ok := natives.Load(nativeKey{t, name}); ok {
		m := m.(nativeMethod)
		return m.f, m.sig
	}
	m, ok := t.MethodByName(name)
	if !ok {
		return nil, ""
	}
	call := treated(m)
	n := nativeMethod{onInterface(m.Type, func(args []reflect.Value) []reflect.Value {
		args[0] = args[0].Elem()
		return call(args)
	}), Signature(m.Type, 1)}
	natives.Store(nativeKey{t, name}, n)
	return n.f, n.sig
}

// onInterface returns a function like f whose first parameter is any.
func onInterface(f reflect.Type, do func([]reflect.Value) []reflect.Value) any {
	in, out := signature(f)
	in[0] = reflect.TypeFor[any]()
	return reflect.MakeFunc(reflect.FuncOf(in, out, f.IsVariadic()), do).Interface()
}

// signature returns the types of a function's parameters and results, as interpreted code knows them.
func signature(f reflect.Type) (in, out []reflect.Type) {
	for i := range f.NumIn() {
		in = append(in, nameless(f.In(i)))
	}
	for i := range f.NumOut() {
		out = append(out, nameless(f.Out(i)))
	}
	return in, out
}

// nameless returns the func type under an instance of a generic func type of a compiled package, since interpreted code does not know
// that by its name, and other types as they are.
func nameless(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.Func || !strings.HasSuffix(t.Name(), "]") {
		return t
	}
	in, out := signature(t)
	return reflect.FuncOf(in, out, t.IsVariadic())
}

// Signature returns the text of a function's type without its first skip parameters.
func Signature(f reflect.Type, skip int) string {
	var b strings.Builder
	b.WriteString("func(")
	for i := skip; i < f.NumIn(); i++ {
		if i > skip {
			b.WriteString(", ")
		}
		if f.IsVariadic() && i == f.NumIn()-1 {
			b.WriteString("..." + f.In(i).Elem().String())
			continue
		}
		b.WriteString(f.In(i).String())
	}
	b.WriteString(")")
	switch f.NumOut() {
	case 0:
	case 1:
		b.WriteString(" " + f.Out(0).String())
	default:
		b.WriteString(" (")
		for i := range f.NumOut() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Out(i).String())
		}
		b.WriteString(")")
	}
	return b.String()
}

// embedded is a field through which methods are promoted.
type embedded struct {
	v    reflect.Value
	t    *Type
	lost bool // whether a nil pointer leads to it
}

// promises reports whether a field may have a method of that name: an interface has no others than those that it asks for,
// whatever it holds.
func (e embedded) promises(name string) bool {
	switch {
	case e.t.Kind == reflect.Interface:
		return e.t.asks(name)
	case e.t.Kind == reflect.Invalid && e.v.Kind() == reflect.Interface:
		_, ok := e.v.Type().MethodByName(name)
		return ok
	}
	return true
}

// promoted finds a method that a struct has from an embedded field. The nearest field comes
// first. If a nil pointer leads to the field, the call of the method panics.
func promoted(v any, name string) (any, string) {
	r, t := Open(v)
	level := []embedded{{v: r, t: t}}
	seen := map[*Type]bool{} // types behind nil pointers
	for depth := 0; len(level) > 0 && depth < 16; depth++ {
		var next []embedded
		for _, e := range level {
			if e.t.Kind == reflect.Pointer {
				if e.v.Kind() != reflect.Pointer || e.v.IsNil() && seen[e.t.Elem] {
					continue
				}
				x := e.v.Elem()
				if e.v.IsNil() {
					seen[e.t.Elem] = true
					x, e.lost = reflect.New(e.v.Type().Elem()).Elem(), true
				}
				e = embedded{x, e.t.Elem, e.lost}
			}
			if e.t.Kind != reflect.Struct || e.v.Kind() != reflect.Struct {
				continue
			}
			for i, f := range e.t.Fields {
				if !f.Embedded || i >= e.v.NumField() {
					continue
				}
				next = append(next, embedded{e.v.Field(i), f.Type, e.lost})
			}
		}
		for _, e := range next { // a method of a field precedes those that fields promote
			if !e.promises(name) {
				continue
			}
			base := e.t
			if base.Kind == reflect.Pointer && !base.Named {
				base = base.Elem
			}
			if base.Kind != reflect.Struct || base.declares(name) {
				if g, sig := onField(e.v, e.t, name); g != nil {
					if e.lost {
						g = onInterface(reflect.TypeOf(g), func([]reflect.Value) []reflect.Value { panic(errNil) })
					}
					return g, sig
				}
			}
		}
		level = next
	}
	return nil, ""
}

// onField returns a method of a field, with the field as its receiver. What an interface holds may have more methods than
// those that it promotes.
func onField(v reflect.Value, t *Type, name string) (any, string) {
	if t.Kind == reflect.Interface && !t.asks(name) {
		return nil, ""
	}
	if v.Kind() == reflect.Pointer && v.IsNil() && t.Kind == reflect.Pointer && !t.Named {
		t.Elem.mu.Lock()
		m, ok := t.Elem.has[name]
		t.Elem.mu.Unlock()
		if ok && m.value != nil { // the receiver is what the pointer refers to
			return onInterface(reflect.TypeOf(m.pointer), func([]reflect.Value) []reflect.Value { panic(errNil) }), m.sig
		}
	}
	receivers := []func() any{func() any { return t.In(v) }}
	if t.Kind != reflect.Interface && v.Kind() != reflect.Interface && v.Kind() != reflect.Pointer && v.CanAddr() {
		receivers = append(receivers, func() any {
			if t.Kind == reflect.Invalid {
				return v.Addr().Interface()
			}
			return t.Pointer().In(v.Addr())
		})
	}
	for _, recv := range receivers {
		x := Unwrap(recv())
		if x == nil {
			if t.Kind == reflect.Interface {
				panic(errNil)
			}
			continue
		}
		f, sig := lookup(x, name)
		if f == nil {
			continue
		}
		return onReceiver(x, f), sig
	}
	return nil, ""
}

// onReceiver returns a method that is called with x instead of its first argument.
func onReceiver(x, f any) any {
	g := reflect.ValueOf(f)
	return onInterface(g.Type(), func(args []reflect.Value) []reflect.Value {
		args[0] = reflect.ValueOf(&x).Elem()
		if g.Type().IsVariadic() {
			return g.CallSlice(args)
		}
		return g.Call(args)
	})
}

// declares reports whether interpreted code declares a method of that name for t.
func (t *Type) declares(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.has[name]
	return ok
}

func (t *Type) asks(name string) bool {
	for _, m := range t.Methods {
		if m.Name == name {
			return true
		}
	}
	return false
}
