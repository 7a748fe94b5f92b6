package dynamic

import (
	"encoding/gob"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"halfnote/interp/internal/mapaccess"
)

// Lend returns a value for compiled code that inspects it: v itself, or a value of the mirror of
// its type. The result shares memory with v, except that structs, slices and maps around
// values in interfaces are copied.
func Lend(v any) any { return lendAny(v, newLender()) }

// LendTarget is Lend for a function that writes to the variable that v points to: memory is
// always shared.
func LendTarget(v any) any { return lendAny(v, lender{shared: true}) }

// LendAll is Lend for the elements of a list.
func LendAll(list []any) []any {
	c := slices.Clone(list)
	for i, v := range list {
		c[i] = Lend(v)
	}
	return c
}

// LendMap is Lend for the values of a map.
func LendMap(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	c := make(map[string]any, len(m))
	for k, v := range m {
		c[k] = Lend(v)
	}
	return c
}

// lender holds the state of one Lend.
type lender struct {
	shared bool
	copies map[unsafe.Pointer]reflect.Value // copies by pointers to the originals
}

func newLender() lender { return lender{copies: map[unsafe.Pointer]reflect.Value{}} }

func lendAny(v any, l lender) any {
	r, t := Open(v)
	if !r.IsValid() {
		return v
	}
	f := form{t, r.Type()}
	if t == nil && f.compiled() && !f.mayHold() {
		return v
	}
	if l.shared && r.Kind() == reflect.Pointer && r.IsNil() { // for the type alone
		if e := f.elem(); e.hasOwnMethods() {
			return reflect.Zero(reflect.PointerTo(e.alone())).Interface()
		}
	}
	w := mirrorOf(f)
	if w == f.r && (l.shared || !f.mayHold() || !holdsOwn(r, nil, 0)) {
		return Export(v)
	}
	return f.lend(r, w, l).Interface()
}

// recast returns a value as one of a type of the same layout, in the same memory if it is
// a variable.
func recast(v reflect.Value, t reflect.Type) reflect.Value {
	if v.Type() == t {
		return v
	}
	if v.CanAddr() {
		return reflect.NewAt(t, unsafe.Pointer(v.UnsafeAddr())).Elem()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return reflect.NewAt(t, p.UnsafePointer()).Elem()
}

// copied returns a copy of a variable, for compiled code that keeps it.
func copied(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Elem()
}

// lend returns v as a value of the mirror w of its type.
func (f form) lend(v reflect.Value, w reflect.Type, l lender) reflect.Value {
	f = f.described()
	if f.r.Kind() == reflect.Func {
		return f.lendFunc(v, w)
	}
	if !f.mayHold() || l.shared && f.r.Kind() != reflect.Interface {
		return recast(v, w)
	}
	switch f.r.Kind() {
	case reflect.Interface:
		n := reflect.New(w).Elem()
		if v.IsNil() {
			return n
		}
		x := reflect.ValueOf(lendAny(v.Elem().Interface(), l))
		if !x.Type().AssignableTo(w) {
			x = v.Elem()
		}
		n.Set(x)
		return n
	case reflect.Pointer:
		if v.IsNil() {
			return reflect.Zero(w)
		}
		if c, ok := l.copies[v.UnsafePointer()]; ok && c.Type() == w {
			return c
		}
		n := reflect.New(w.Elem())
		c := recast(n, w)
		l.copies[v.UnsafePointer()] = c
		n.Elem().Set(f.elem().lend(v.Elem(), w.Elem(), l))
		lent(n.UnsafePointer(), v)
		return c
	case reflect.Struct:
		n := copied(recast(v, w))
		for i := range f.r.NumField() {
			e, _ := f.field(i)
			if e.mayHold() {
				at := n.Field(i)
				at = reflect.NewAt(at.Type(), unsafe.Pointer(at.UnsafeAddr())).Elem()
				at.Set(e.lend(v.Field(i), at.Type(), l))
			}
		}
		return n
	case reflect.Slice:
		if v.IsNil() {
			return reflect.Zero(w)
		}
		n := reflect.MakeSlice(w, v.Len(), v.Len())
		for i := range v.Len() {
			n.Index(i).Set(f.elem().lend(v.Index(i), w.Elem(), l))
		}
		return n
	case reflect.Array:
		n := reflect.New(w).Elem()
		for i := range v.Len() {
			n.Index(i).Set(f.elem().lend(v.Index(i), w.Elem(), l))
		}
		return n
	case reflect.Map:
		if v.IsNil() {
			return reflect.Zero(w)
		}
		n := reflect.MakeMapWithSize(w, v.Len())
		for _, e := range mapaccess.Entries(v) {
			n.SetMapIndex(f.key().lend(e.Key, w.Key(), l), f.elem().lend(e.Value, w.Elem(), l))
		}
		return n
	}
	return recast(v, w)
}

// lendFunc returns a function that takes and returns values of mirrors.
func (f form) lendFunc(v reflect.Value, w reflect.Type) reflect.Value {
	if v.IsNil() || w.ConvertibleTo(f.r) { // they differ in a name at most
		return recast(v, w)
	}
	v = copied(v)
	return reflect.MakeFunc(w, func(args []reflect.Value) []reflect.Value {
		for i, a := range args {
			args[i] = f.in(i).take(a)
		}
		var got []reflect.Value
		if f.r.IsVariadic() {
			got = v.CallSlice(args)
		} else {
			got = v.Call(args)
		}
		for i, x := range got {
			got[i] = f.out(i).lend(x, w.Out(i), newLender())
		}
		return got
	})
}

// originals holds the pointers of which Lend returned copies, by the copies' addresses.
var originals sync.Map

func lent(copy unsafe.Pointer, original reflect.Value) {
	key := uintptr(copy)
	originals.Store(key, original)
	runtime.AddCleanup((*byte)(copy), func(key uintptr) { originals.Delete(key) }, key)
}

// Return returns a value that compiled code made in the form that interpreted code uses.
func Return(v any) any {
	if v == nil {
		return nil
	}
	return returned(reflect.ValueOf(v))
}

// returned returns a value of a mirror in the form in which interfaces hold it.
func returned(v reflect.Value) any {
	f, ok := originOf(v.Type())
	if !ok {
		return v.Interface()
	}
	v = f.take(v)
	if f.t == nil {
		return v.Interface()
	}
	return f.t.In(v)
}

// take returns a value of the mirror in the form that interpreted code uses.
func (f form) take(v reflect.Value) reflect.Value {
	switch {
	case f.r.Kind() == reflect.Interface:
		n := reflect.New(f.r).Elem()
		if v.IsNil() {
			return n
		}
		if x := reflect.ValueOf(returned(v.Elem())); x.IsValid() && x.Type().AssignableTo(f.r) {
			n.Set(x)
		} else {
			n.Set(v.Elem())
		}
		return n
	case v.Kind() == reflect.Pointer && !v.IsNil():
		if o, ok := originals.Load(v.Pointer()); ok && o.(reflect.Value).Type() == f.r {
			return o.(reflect.Value)
		}
	}
	v = recast(v, f.r)
	if f.mayHold() {
		settle(v, map[unsafe.Pointer]bool{})
	}
	return v
}

// Content returns the content of an interface, which compiled code has taken out of it, as
// a value of a mirror.
func Content(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.CanAddr() || !v.CanInterface() || v.Type().PkgPath() != "" {
		return v
	}
	return reflect.ValueOf(LendTarget(v.Interface()))
}

// settle replaces values of mirrors in the interfaces that a value contains.
func settle(v reflect.Value, done map[unsafe.Pointer]bool) {
	if v.Type().PkgPath() != "" || !(form{nil, v.Type()}).mayHold() {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() || !v.CanSet() {
			return
		}
		f, ok := originOf(v.Elem().Type())
		if ok && f.t != nil {
			if x := reflect.ValueOf(f.t.In(f.take(v.Elem()))); x.Type().AssignableTo(v.Type()) { // an interface with methods holds the mirror
				v.Set(x)
			}
		}
	case reflect.Pointer:
		if v.IsNil() || done[v.UnsafePointer()] {
			return
		}
		done[v.UnsafePointer()] = true
		settle(v.Elem(), done)
	case reflect.Struct:
		for i := range v.NumField() {
			settle(v.Field(i), done)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			settle(v.Index(i), done)
		}
	}
}

// GobDecode is d.Decode.
func GobDecode(d *gob.Decoder, p any) error {
	err := d.Decode(LendTarget(p))
	if r, _ := Open(p); r.Kind() == reflect.Pointer && !r.IsNil() {
		settle(r.Elem(), map[unsafe.Pointer]bool{})
	}
	return err
}

// SetValue is v.Set(x).
func SetValue(v, x reflect.Value) {
	v.Set(x)
	f, ok := originOf(v.Type())
	if !ok {
		f.r = v.Type()
	}
	if v.CanAddr() && f.mayHold() {
		settle(recast(v, f.r), map[unsafe.Pointer]bool{})
	}
}
