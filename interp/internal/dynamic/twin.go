package dynamic

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"halfnote/interp/internal/typemaker"
)

// A twin is a reflect type that shows a type of interpreted code to compiled code as Go
// would: with its name, its own field names, embedded fields and methods. Values of a type
// and of its twin have the same layout in memory, so that a pointer to one is a pointer to
// the other. Twins are made when compiled code that inspects values first receives a
// value of the type. Package reflect never forgets a type, so neither does this package.
var twins = struct {
	sync.Mutex
	to   map[form]reflect.Type
	from map[reflect.Type]form
	open []form // recorded by the twinOf that runs; some may be incomplete
}{to: map[form]reflect.Type{}, from: map[reflect.Type]form{}}

// form is a type of interpreted code together with the reflect type of its values.
type form struct {
	t *Type
	r reflect.Type
}

// NoTwin is the panic value for a value that cannot be shown to compiled code.
type NoTwin struct {
	Type string
	Why  any
}

func (e NoTwin) Error() string {
	return fmt.Sprintf("the interpreter cannot show values of type %s to this function: %v; compiled cells can (--engine native, on Linux)", e.Type, e.Why)
}

// twinOf returns the twin of a type, or the reflect type itself if compiled code knows it.
func twinOf(f form) (w reflect.Type) {
	twins.Lock()
	defer twins.Unlock()
	name := f.r.String()
	if f.t != nil && f.t.Name != "" {
		name = f.t.Name
	}
	twins.open = nil
	defer func() {
		if r := recover(); r != nil {
			for _, f := range twins.open {
				f.forget()
			}
			if _, known := r.(NoTwin); !known {
				r = NoTwin{name, r}
			}
			panic(r)
		}
	}()
	return f.twin()
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

// twin is twinOf for a caller that holds the lock.
func (f form) twin() reflect.Type {
	f = f.described()
	if f.compiled() {
		return f.r
	}
	if w := twins.to[f]; w != nil {
		return w
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

// record adds a twin to the tables.
func (f form) record(w reflect.Type) {
	twins.to[f], twins.from[w] = w, f
	twins.open = append(twins.open, f)
	if f.t != nil && f.t.Named {
		twinTypes.Store(w, true)
		anyTwin.Store(true)
	}
	if f.t != nil {
		f.t.twinned.Store(true)
	}
}

// twinTypes holds all twins.
var (
	twinTypes sync.Map
	anyTwin   atomic.Bool
)

// isTwin reports whether a type is a twin of a declared type, or a pointer to one.
func isTwin(t reflect.Type) bool {
	if t == nil || !anyTwin.Load() {
		return false
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, ok := twinTypes.Load(t)
	return ok
}

// composite returns the type literal of twins that shows a type.
func (f form) composite() reflect.Type {
	switch f.r.Kind() {
	case reflect.Pointer:
		return reflect.PointerTo(f.elem().twin())
	case reflect.Slice:
		return reflect.SliceOf(f.elem().twin())
	case reflect.Array:
		return reflect.ArrayOf(f.r.Len(), f.elem().twin())
	case reflect.Chan:
		return reflect.ChanOf(f.r.ChanDir(), f.elem().twin())
	case reflect.Map:
		return reflect.MapOf(f.key().twin(), f.elem().twin())
	case reflect.Func:
		var in, out []reflect.Type
		for i := range f.r.NumIn() {
			in = append(in, f.in(i).twin())
		}
		for i := range f.r.NumOut() {
			out = append(out, f.out(i).twin())
		}
		return reflect.FuncOf(in, out, f.r.IsVariadic())
	case reflect.Struct:
		same := true
		var list []reflect.StructField
		for i := range f.r.NumField() {
			e, s := f.field(i)
			t := e.twin()
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

// origin returns the form of which t is the twin. ok is false for types that are neither
// twins nor composed of twins.
func origin(t reflect.Type) (f form, ok bool) {
	if f, ok := twins.from[t]; ok {
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

// forgetTwins forgets the twins of a space's types.
func forgetTwins(s *Space) {
	twins.Lock()
	defer twins.Unlock()
	for f := range twins.to {
		if f.t != nil && f.t.space == s {
			f.forget()
		}
	}
}

// forget forgets the twin of a type.
func (f form) forget() {
	w := twins.to[f]
	delete(twins.to, f)
	delete(twins.from, w)
	twinTypes.Delete(w)
}

// renewTwin makes the next value of a type get a new twin, after a declaration of a method
// that the type did not have.
func renewTwin(t *Type) {
	if !t.twinned.Load() {
		return
	}
	twins.Lock()
	defer twins.Unlock()
	uses := map[*Type]bool{}
	for f := range twins.to {
		if f.t != nil && f.t.space == t.space && f.t.mentions(t, uses, 0) {
			delete(twins.to, f)
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
