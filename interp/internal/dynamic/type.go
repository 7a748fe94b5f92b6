// Package dynamic describes at run time the types that interpreted code declares. An
// interpreter on top of package reflect has no named types: a declared struct is a reflect
// struct, and a declared int is an int. To keep the types of values in interfaces, a
// declared struct has a tag on its first field that identifies it, and a value of any other
// declared type, or of a type composed of such types, is put into a box: a struct with one
// field and such a tag. Go's rules for interfaces follow: equal types are equal for package
// reflect, so values can be compared and used as keys, and the tag leads to the description
// of the type with its methods.
package dynamic

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// Type describes a type that interpreted code declared, or a type composed of such
// types.
type Type struct {
	ID      string       // unique in its space
	Name    string       // name as Go writes it: main.T
	Kind    reflect.Kind // Invalid for types of compiled packages
	Boxed   bool         // whether its values in interfaces are boxed
	Named   bool
	Elem    *Type
	Key     *Type
	Fields  []Field
	Params  []*Type  // parameters of a function
	Results []*Type  // results of a function
	Methods []Method // methods of an interface

	space *Space
	mu    sync.Mutex
	has   map[string]declared

	mirrored atomic.Bool // whether there has been a mirror
}

// Field is a field of a struct.
type Field struct {
	Name     string
	Tag      string
	Exported bool
	Embedded bool
	Type     *Type
}

// Method is a method that an interface requires. Sig is the text of its type, in which
// types are named by their identities.
type Method struct{ Name, Sig string }

// declared is a method that interpreted code declares. Its functions have the receiver as
// their first parameter, in the form in which an interface holds it. value is nil if the
// receiver must be a pointer.
type declared struct {
	sig            string
	value, pointer any
}

// Space holds the types of one session.
type Space struct {
	// Foreign, if set, reports whether compiled code has started the calling goroutine. There
	// Guard calls methods of the space's types, and returns what they panicked with.
	Foreign func() bool
	Guard   func(call func()) (panicked error)
	// Through, if set, is called before a method that compiled code calls by reflection: the next function calls the method in its place.
	Through func()

	number int64

	mu       sync.Mutex
	types    map[string]*Type
	boxes    map[string]reflect.Type
	promised sync.Map // satisfied: bool
}

var (
	count  atomic.Int64
	spaces sync.Map // spaces by number
	known  sync.Map // reflect.Type: *Type, or nil for those of compiled packages
)

// NewSpace returns a space without types.
func NewSpace() *Space {
	s := &Space{number: count.Add(1), types: map[string]*Type{}, boxes: map[string]reflect.Type{}}
	spaces.Store(s.number, s)
	return s
}

// Close forgets the space's types.
func (s *Space) Close() {
	spaces.Delete(s.number)
	forgetMirrors(s)
	known.Range(func(k, t any) bool {
		if t := t.(*Type); t != nil && t.space == s {
			known.Delete(k)
		}
		return true
	})
}

// tagKey is the key of the struct tag that identifies a type.
const tagKey = "halfnote"

// Tag returns the struct tag for values of the type with that identity.
func (s *Space) Tag(id string) string {
	return tagKey + ":" + strconv.Quote(strconv.FormatInt(s.number, 10)+" "+id)
}

// Type returns the type with that identity. If it is new, Type calls describe to complete
// it.
func (s *Space) Type(id string, describe func(*Type)) *Type {
	s.mu.Lock()
	t, ok := s.types[id]
	if !ok {
		t = &Type{ID: id, space: s}
		s.types[id] = t
	}
	s.mu.Unlock()
	if !ok {
		describe(t)
	}
	return t
}

// lookup returns the type with that identity, or nil if there is none.
func (s *Space) lookup(id string) *Type {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.types[id]
}

// Declare adds a method to a type. value and pointer are functions whose first
// parameter is the receiver in an interface: a value of the type, and a pointer.
func (s *Space) Declare(id, name, sig string, value, pointer any) {
	t := s.lookup(id)
	if t == nil {
		return
	}
	t.mu.Lock()
	if t.has == nil {
		t.has = map[string]declared{}
	}
	old, known := t.has[name]
	t.has[name] = declared{sig, value, pointer}
	t.mu.Unlock()
	s.promised.Clear()
	if !known || old.sig != sig || (old.value == nil) != (value == nil) {
		renewMirror(t)
	}
}

// Box returns a value of a boxed type in the form in which interfaces hold it.
func (s *Space) Box(v any, id string) any {
	return s.box(reflect.ValueOf(v), id)
}

func (s *Space) box(v reflect.Value, id string) any {
	if !v.IsValid() {
		return nil
	}
	named := v.Type()
	for named.Kind() == reflect.Pointer && named.Name() == "" {
		named = named.Elem()
	}
	if named.PkgPath() == "main" { // the engine makes types with names
		return v.Interface()
	}
	if t := nameless(v.Type()); t != v.Type() { // a result of compiled code
		v = recast(v, t)
	}
	s.mu.Lock()
	b := s.boxes[id]
	if b == nil || b.Field(0).Type != v.Type() {
		b = reflect.StructOf([]reflect.StructField{{Name: "V", Type: v.Type(), Tag: reflect.StructTag(s.Tag(id))}})
		s.boxes[id] = b
	}
	s.mu.Unlock()
	x := reflect.New(b).Elem()
	x.Field(0).Set(v)
	return x.Interface()
}

// nesting is the number of steps into a type after which it is treated as one that refers to
// itself.
const nesting = 32

// Of returns the interpreted type that the reflect type t represents, or nil if t represents
// only itself.
func Of(t reflect.Type) *Type { return within(t, nesting) }

func within(t reflect.Type, depth int) *Type {
	if t == nil || depth == 0 || t.PkgPath() != "" || t.Name() != "" {
		return nil
	}
	if d, ok := known.Load(t); ok {
		return d.(*Type)
	}
	d := of(t, depth-1)
	known.Store(t, d)
	return d
}

func of(t reflect.Type, depth int) *Type {
	switch t.Kind() {
	case reflect.Struct:
		if t.NumField() == 0 {
			return nil
		}
		return tagged(t.Field(0).Tag)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		if e := within(t.Elem(), depth); e != nil && !e.Boxed {
			return e.composed(t)
		}
	case reflect.Map:
		k, e := within(t.Key(), depth), within(t.Elem(), depth)
		if k == nil && e == nil || k != nil && k.Boxed || e != nil && e.Boxed {
			return nil
		}
		var s *Space
		if k != nil {
			s = k.space
		} else {
			s, k = e.space, compiled(e.space, t.Key())
		}
		if e == nil {
			e = compiled(s, t.Elem())
		}
		return s.Type("map["+k.ID+"]"+e.ID, func(d *Type) {
			d.Kind, d.Key, d.Elem, d.Name = reflect.Map, k, e, "map["+k.Name+"]"+e.Name
		})
	}
	return nil
}

// tagged returns the type that a tag identifies, or nil.
func tagged(tag reflect.StructTag) *Type {
	number, id, ok := strings.Cut(tag.Get(tagKey), " ")
	if !ok {
		return nil
	}
	n, _ := strconv.ParseInt(number, 10, 64)
	if s, ok := spaces.Load(n); ok {
		return s.(*Space).lookup(id)
	}
	return nil
}

// composed returns the type that is composed like t, a pointer, slice, array or channel, with e as its element.
func (e *Type) composed(t reflect.Type) *Type {
	return e.space.Type(around(t, e.ID), func(d *Type) {
		d.Kind, d.Elem, d.Name, d.Boxed = t.Kind(), e, around(t, e.Name), e.Boxed
	})
}

// around returns the text of t, a pointer, slice, array or channel, from that of its element.
func around(t reflect.Type, elem string) string {
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + elem
	case reflect.Slice:
		return "[]" + elem
	case reflect.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), elem)
	}
	if t.ChanDir() == reflect.BothDir && strings.HasPrefix(elem, "<-") {
		elem = "(" + elem + ")"
	}
	return t.ChanDir().String() + " " + elem
}

// compiled describes a type of compiled packages.
func compiled(s *Space, t reflect.Type) *Type {
	return s.Type(t.String(), func(d *Type) { d.Name = t.String() })
}

// Pointer returns the type of pointers to t.
func (t *Type) Pointer() *Type {
	return t.space.Type("*"+t.ID, func(d *Type) {
		d.Kind, d.Elem, d.Name, d.Boxed = reflect.Pointer, t, "*"+t.Name, t.Boxed
	})
}

// Wrapper is a value of interpreted code that has the methods of a compiled interface.
type Wrapper interface{ Interpreted() any }

// Unwrap returns the interpreted value in an interface: the value itself instead of its
// wrapper or a value of its mirror.
func Unwrap(v any) any {
	if w, ok := v.(Wrapper); ok {
		return w.Interpreted()
	}
	if isMirror(reflect.TypeOf(v)) {
		return Return(v)
	}
	return v
}

// Open returns a value in an interface without its box and wrapper, and its type, or nil
// for types of compiled packages.
func Open(v any) (reflect.Value, *Type) {
	v = Unwrap(v)
	r := reflect.ValueOf(v)
	if !r.IsValid() {
		return r, nil
	}
	t := Of(r.Type())
	if t != nil && t.Boxed && r.Kind() == reflect.Struct {
		r = r.Field(0)
	}
	return r, t
}

// Export returns a value without its box, for compiled code that inspects it.
func Export(v any) any {
	r, t := Open(v)
	if t == nil || !t.Boxed {
		return v
	}
	return r.Interface()
}

// Name returns the type of a value in an interface as Go writes it.
func Name(v any) string {
	r, t := Open(v)
	if !r.IsValid() {
		return "<nil>"
	}
	return nameOf(r.Type(), t)
}

// In returns a value of type t in the form in which interfaces hold it.
func (t *Type) In(v reflect.Value) any {
	switch {
	case t.Kind == reflect.Interface:
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if !v.IsValid() {
			return nil
		}
		return v.Interface()
	case t.Boxed:
		return t.space.box(v, t.ID)
	}
	return v.Interface()
}
