package dynamic

import (
	"reflect"
	"runtime"
	"strings"
	"unsafe"

	"halfnote/interp/internal/typemaker"
)

// satisfied is the key of a cached result: whether a type has the methods of an interface.
type satisfied struct {
	t     reflect.Type
	iface any // either a *Type or a reflect.Type
}

// Implements reports whether a value has the methods of an interface that interpreted
// code declared.
func Implements(v any, iface *Type) bool {
	v = Unwrap(v)
	if v == nil {
		return false
	}
	return iface.space.satisfies(v, iface, len(iface.Methods), func(i int) Method { return iface.Methods[i] })
}

func (s *Space) satisfies(v any, iface any, n int, method func(int) Method) bool {
	key := satisfied{reflect.TypeOf(v), iface}
	if s != nil {
		if ok, found := s.promised.Load(key); found {
			return ok.(bool)
		}
	}
	ok := true
	for i := 0; i < n && ok; i++ {
		m := method(i)
		ok = has(v, m)
	}
	if s != nil {
		s.promised.Store(key, ok)
	}
	return ok
}

func has(v any, m Method) (ok bool) {
	defer func() {
		if recover() != nil { // an embedded interface is nil, which only the call finds
			ok = true
		}
	}()
	f, sig := lookup(v, m.Name)
	return f != nil && sig == m.Sig
}

// As returns v in the form of an interface that compiled code declared: v itself, or
// the wrapper, a struct type whose first field takes v and whose methods call it. ok is
// false if v lacks a method.
func As(v any, iface, wrapper reflect.Type) (_ any, ok bool) {
	v = Unwrap(v)
	if v == nil {
		return nil, false
	}
	t := reflect.TypeOf(v)
	if t.Implements(iface) {
		return v, true
	}
	if wrapper == nil || !hasAll(v, iface) {
		return nil, false
	}
	if x := asMirror(v, iface); x != nil {
		return x, true
	}
	if list, ok := MethodOf(v, "Unwrap").(func(any) []error); ok && list != nil && wrapper == reflect.TypeFor[Error]() {
		wrapper = reflect.TypeFor[Errors]()
	}
	w := reflect.New(wrapper).Elem()
	w.Field(0).Set(reflect.ValueOf(v))
	return w.Interface(), true
}

// asMirror returns a value of the mirror of v's type if that has methods beyond those of an interface:
// compiled code may ask for them.
func asMirror(v any, iface reflect.Type) (x any) {
	t := reflect.TypeOf(v)
	d := Of(t)
	if d == nil || d.space == nil || strings.HasPrefix(iface.PkgPath(), "halfnote/") {
		return nil
	}
	key := wide{t, iface}
	is, found := d.space.promised.Load(key)
	if !found {
		is = more(v, d, iface)
		d.space.promised.Store(key, is)
	}
	if !is.(bool) {
		return nil
	}
	defer func() {
		if recover() != nil { // a wrapper remains
			d.space.promised.Store(key, false)
			x = nil
		}
	}()
	x = LendTarget(v)
	if !reflect.TypeOf(x).Implements(iface) {
		return nil
	}
	return x
}

// wide is the key of a cached result: whether a type has methods beyond those of an interface.
type wide struct{ t, iface reflect.Type }

func more(v any, d *Type, iface reflect.Type) bool {
	if iface.PkgPath() == "encoding" { // package flag compares the types of values
		return true
	}
	r, _ := Open(v)
	f := holder{form: form{d, r.Type()}}
	if r.Kind() == reflect.Pointer && !d.Named {
		f = holder{f.elem(), true}
	}
	for _, m := range f.methods() {
		if m.pointer && !f.pointer {
			continue
		}
		if _, ok := iface.MethodByName(m.name); !ok && !(iface == reflect.TypeFor[error]() && ofErrors[m.name]) {
			return true
		}
	}
	return false
}

// ofErrors are the methods that the wrappers of errors have.
var ofErrors = map[string]bool{"Unwrap": true, "Is": true, "As": true}

// hasAll reports whether a value has the methods of an interface that compiled code
// declared.
func hasAll(v any, iface reflect.Type) bool {
	t := reflect.TypeOf(v)
	if t == nil || t.Implements(iface) {
		return t != nil
	}
	d := Of(t)
	return d != nil && d.space.satisfies(v, iface, iface.NumMethod(), func(i int) Method {
		m := iface.Method(i)
		return Method{m.Name, Signature(m.Type, 0)}
	})
}

// Equal compares two interfaces as == does.
func Equal(a, b any) bool { return Unwrap(a) == Unwrap(b) }

// Is reports whether a value in an interface has the type that a case of a type switch
// names: a nil pointer to it, a *Type for an interpreted type, or nil.
func Is(v, c any) bool {
	switch c := c.(type) {
	case nil:
		return v == nil
	case *Type:
		if len(c.Methods) == 0 {
			return v != nil
		}
		return Implements(v, c)
	}
	t := reflect.TypeOf(c).Elem()
	if t.Kind() == reflect.Interface {
		return hasAll(v, t)
	}
	return reflect.TypeOf(v) == t
}

// Holds reports whether a variable of type t can hold a value in an interface.
func (t *Type) Holds(v any) bool {
	if t.Kind == reflect.Interface {
		return Is(v, t)
	}
	_, d := Open(v)
	return d == t
}

// Missing returns Go's error for a value that does not have an asserted type.
func Missing(v any, static, want string, iface bool, methods []Method) error {
	v = Unwrap(v)
	if iface {
		static = ""
	}
	missing := ""
	if v == nil {
		return assertionError(static, "", want, "")
	}
	for _, m := range methods {
		if !has(v, m) {
			missing = m.Name
			break
		}
	}
	return assertionError(static, Name(v), want, missing)
}

// assertionError returns the error with which a type assertion of compiled code panics. A text is "" for what it does not
// name: the type of the interface, that of a nil, or a method.
func assertionError(static, concrete, asserted, missing string) error {
	e := new(runtime.TypeAssertionError)
	v := reflect.ValueOf(e).Elem()
	for field, text := range map[string]string{"_interface": static, "concrete": concrete, "asserted": asserted} {
		if text != "" {
			*(*unsafe.Pointer)(v.FieldByName(field).Addr().UnsafePointer()) = typemaker.Text(text)
		}
	}
	*(*string)(v.FieldByName("missingMethod").Addr().UnsafePointer()) = missing
	return e
}
