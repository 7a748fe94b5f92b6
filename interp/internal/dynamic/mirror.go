package dynamic

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"halfnote/interp/internal/typemaker"
)

// A mirror is a reflect type that shows a type of interpreted code to compiled code as Go
// would: with its name, its own field names, embedded fields and methods. Values of a type
// and of its mirror have the same layout in memory, so that a pointer to one is a pointer to
// the other. Mirrors are made when compiled code that inspects values first receives a
// value of the type. Package reflect never forgets a type, so neither does this package.
var mirrors = struct {
	sync.Mutex
	to    map[form]reflect.Type
	from  map[reflect.Type]form
	open  []form                 // recorded by the mirrorOf that runs; some may be incomplete
	alone map[*Type]reflect.Type // interfaces of which compiled code has the type without values
}{to: map[form]reflect.Type{}, from: map[reflect.Type]form{}, alone: map[*Type]reflect.Type{}}

// form is a type of interpreted code together with the reflect type of its values.
type form struct {
	t *Type
	r reflect.Type
}

// NoMirror is the panic value for a value that cannot be shown to compiled code.
type NoMirror struct {
	Type string
	Why  any
}

func (e NoMirror) Error() string {
	return fmt.Sprintf("the interpreter cannot show values of type %s to this function: %v; compiled cells can (--engine native, on Linux)", e.Type, e.Why)
}

// mirrorOf returns the mirror of a type, or the reflect type itself if compiled code knows it.
func mirrorOf(f form) (w reflect.Type) {
	mirrors.Lock()
	defer mirrors.Unlock()
	name := f.r.String()
	if f.t != nil && f.t.Name != "" {
		name = f.t.Name
	}
	mirrors.open = nil
	defer func() {
		if r := recover(); r != nil {
			for _, f := range mirrors.open {
				f.forget()
			}
			if _, known := r.(NoMirror); !known {
				r = NoMirror{name, r}
			}
			panic(r)
		}
	}()
	return f.mirror()
}

// described returns the form with its description, if it has one.
func (f form) described() form {
	if f.t == nil {
		f.t = Of(f.r)
	}
	return f
}

func (f form) elem() form { return form{elemOf(f.t), f.r.Elem()}.described() }

func (f form) key() form {
	if f.t != nil && f.t.Key != nil {
		return form{f.t.Key, f.r.Key()}
	}
	return form{nil, f.r.Key()}.described()
}

func elemOf(t *Type) *Type {
	if t == nil {
		return nil
	}
	return t.Elem
}

// field returns a field's form and name.
func (f form) field(i int) (form, reflect.StructField) {
	s := f.r.Field(i)
	if f.t == nil || f.t.Kind != reflect.Struct || len(f.t.Fields) != f.r.NumField() {
		return form{nil, s.Type}.described(), s
	}
	d := f.t.Fields[i]
	s.Name, s.Tag, s.Anonymous, s.PkgPath = d.Name, reflect.StructTag(d.Tag), d.Embedded, ""
	if !d.Exported {
		s.PkgPath, _ = f.t.pathAndName()
	}
	return form{d.Type, s.Type}.described(), s
}

func (f form) in(i int) form {
	if f.t != nil && i < len(f.t.Params) {
		return form{f.t.Params[i], f.r.In(i)}.described()
	}
	return form{nil, f.r.In(i)}.described()
}

func (f form) out(i int) form {
	if f.t != nil && i < len(f.t.Results) {
		return form{f.t.Results[i], f.r.Out(i)}.described()
	}
	return form{nil, f.r.Out(i)}.described()
}

// compiled reports whether the type is one of compiled packages.
func (f form) compiled() bool {
	switch {
	case f.r.PkgPath() != "" || f.r.Kind() == reflect.Interface && f.r.NumMethod() > 0:
		return true
	case f.t != nil:
		return f.t.Kind == reflect.Invalid && f.r.Name() != ""
	}
	return f.r.Name() != ""
}

// pathAndName divides the name of a declared type.
func (t *Type) pathAndName() (path, name string) {
	path, name, ok := strings.Cut(t.Name, ".")
	if !ok {
		return "main", t.Name
	}
	return path, name
}

// mirror is mirrorOf for a caller that holds the lock.
func (f form) mirror() reflect.Type {
	f = f.described()
	if f.compiled() {
		return f.r
	}
	if w := mirrors.to[f]; w != nil {
		return w
	}
	if f.hasOwnMethods() && mirrors.alone[f.t] != nil {
		panic(fmt.Sprintf("compiled code knows the type %s alone, with its methods, and would take the type of a part for another one", f.t.Name))
	}
	if f.t == nil || !f.t.Named {
		w := f.composite()
		if w != f.r {
			f.record(w)
		}
		return w
	}
	path, name := f.t.pathAndName()
	if f.t.Kind == reflect.Interface { // its values are in the form of an empty interface
		d := declare(path, name, f.r, nil)
		f.record(d.Reflect())
		define(d, f.r, nil)
		return d.Reflect()
	}
	methods := f.methods()
	d := declare(path, name, f.r, methods)
	f.record(d.Reflect())
	under := f.composite()
	var list []typemaker.Method
	for _, m := range methods {
		list = append(list, m.show())
	}
	define(d, under, list)
	return d.Reflect()
}

func declare(path, name string, like reflect.Type, methods []method) *typemaker.Type {
	pointers := 0
	for _, m := range methods {
		if m.pointer {
			pointers++
		}
	}
	d, err := typemaker.Declare(path, name, like, len(methods)-pointers, pointers)
	if err != nil {
		panic(err)
	}
	return d
}

func define(d *typemaker.Type, under reflect.Type, methods []typemaker.Method) {
	if err := d.Define(under, methods); err != nil {
		panic(err)
	}
}

// record adds a mirror to the tables.
func (f form) record(w reflect.Type) {
	mirrors.to[f], mirrors.from[w] = w, f
	mirrors.open = append(mirrors.open, f)
	if f.t != nil && f.t.Named {
		mirrorTypes.Store(w, true)
		anyMirror.Store(true)
	}
	if f.t != nil {
		f.t.mirrored.Store(true)
	}
}

// mirrorTypes holds all mirrors.
var (
	mirrorTypes sync.Map
	anyMirror   atomic.Bool
)

// isMirror reports whether a type is a mirror of a declared type, or a pointer to one.
func isMirror(t reflect.Type) bool {
	if t == nil || !anyMirror.Load() {
		return false
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, ok := mirrorTypes.Load(t)
	return ok
}

// composite returns the type literal of mirrors that shows a type.
func (f form) composite() reflect.Type {
	switch f.r.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(f.elem().mirror())
	case reflect.Slice:
		return reflect.SliceOf(f.elem().mirror())
	case reflect.Array:
		return reflect.ArrayOf(f.r.Len(), f.elem().mirror())
	case reflect.Chan:
		return reflect.ChanOf(f.r.ChanDir(), f.elem().mirror())
	case reflect.Map:
		return reflect.MapOf(f.key().mirror(), f.elem().mirror())
	case reflect.Func:
		var in, out []reflect.Type
		for i := range f.r.NumIn() {
			in = append(in, f.in(i).mirror())
		}
		for i := range f.r.NumOut() {
			out = append(out, f.out(i).mirror())
		}
		return reflect.FuncOf(in, out, f.r.IsVariadic())
	case reflect.Struct:
		same := true
		var list []reflect.StructField
		for i := range f.r.NumField() {
			e, s := f.field(i)
			t := e.mirror()
			old := f.r.Field(i)
			same = same && t == s.Type && s.Name == old.Name && s.Tag == old.Tag && s.Anonymous == old.Anonymous
			s.Type = t
			list = append(list, s)
		}
		if same {
			return f.r
		}
		w, err := typemaker.Struct(list)
		if err != nil {
			panic(err)
		}
		return w
	case reflect.Interface: // its values are in the form of an empty interface
		if f.t != nil && len(f.t.Methods) > 0 {
			w, err := typemaker.Interface(f.t.Name)
			if err != nil {
				panic(err)
			}
			return w
		}
	}
	return f.r
}

// origin returns the form of which t is the mirror. ok is false for types that are neither
// mirrors nor composed of mirrors.
func origin(t reflect.Type) (f form, ok bool) {
	if f, ok := mirrors.from[t]; ok {
		return f, true
	}
	if t.Name() != "" {
		return form{nil, t}, false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		e, ok := origin(t.Elem())
		if !ok || e.t == nil {
			break
		}
		f := form{t: e.t.composed(t)}
		switch t.Kind() {
		case reflect.Pointer:
			f.r = reflect.PointerTo(e.r)
		case reflect.Slice:
			f.r = reflect.SliceOf(e.r)
		case reflect.Array:
			f.r = reflect.ArrayOf(t.Len(), e.r)
		case reflect.Chan:
			f.r = reflect.ChanOf(t.ChanDir(), e.r)
		}
		return f, true
	case reflect.Map:
		k, isKey := origin(t.Key())
		e, isElem := origin(t.Elem())
		if !isKey && !isElem {
			break
		}
		s := spaceOf(k.t, e.t)
		if k.t == nil {
			k.t = compiled(s, k.r)
		}
		if e.t == nil {
			e.t = compiled(s, e.r)
		}
		d := s.Type("map["+k.t.ID+"]"+e.t.ID, func(d *Type) {
			d.Kind, d.Key, d.Elem, d.Name, d.Boxed = reflect.Map, k.t, e.t, "map["+k.t.Name+"]"+e.t.Name, k.t.Boxed || e.t.Boxed
		})
		return form{d, reflect.MapOf(k.r, e.r)}, true
	}
	return form{nil, t}, false
}

func spaceOf(list ...*Type) *Space {
	for _, t := range list {
		if t != nil {
			return t.space
		}
	}
	return nil
}

// originOf is origin for callers that do not hold the lock, which a stack that overflows in it must not keep.
func originOf(t reflect.Type) (form, bool) {
	mirrors.Lock()
	defer mirrors.Unlock()
	return origin(t)
}

// forgetMirrors forgets the mirrors of a space's types.
func forgetMirrors(s *Space) {
	mirrors.Lock()
	defer mirrors.Unlock()
	for f := range mirrors.to {
		if f.t != nil && f.t.space == s {
			f.forget()
		}
	}
	maps.DeleteFunc(mirrors.alone, func(t *Type, _ reflect.Type) bool { return t.space == s })
}

// forget forgets the mirror of a type.
func (f form) forget() {
	w := mirrors.to[f]
	delete(mirrors.to, f)
	delete(mirrors.from, w)
	mirrorTypes.Delete(w)
}

// renewMirror makes the next value of a type get a new mirror, after a declaration of a method
// that the type did not have.
func renewMirror(t *Type) {
	if !t.mirrored.Load() {
		return
	}
	mirrors.Lock()
	defer mirrors.Unlock()
	uses := map[*Type]bool{}
	for f := range mirrors.to {
		if f.t != nil && f.t.space == t.space && f.t.mentions(t, uses, 0) {
			delete(mirrors.to, f)
		}
	}
}

// mentions reports whether t is or refers to a type.
func (t *Type) mentions(of *Type, done map[*Type]bool, depth int) bool {
	if t == of {
		return true
	}
	if t == nil || depth > nesting {
		return false
	}
	if is, ok := done[t]; ok {
		return is
	}
	done[t] = false
	list := []*Type{t.Elem, t.Key}
	for _, f := range t.Fields {
		list = append(list, f.Type)
	}
	list = append(append(list, t.Params...), t.Results...)
	for _, p := range list {
		if p.mentions(of, done, depth+1) {
			done[t] = true
			return true
		}
	}
	return false
}
