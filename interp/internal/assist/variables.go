package assist

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/internal/text"
	"halfnote/interp/internal/peek"
	"halfnote/kernel/eval"
)

// Busy replaces a value while a cell runs.
const Busy = "(a cell is running)"

// Variables adds the current values to variables of the session, which have a name and a type.
func Variables(snap Snapshot, list []eval.Variable) []eval.Variable {
	names := map[string]bool{}
	for _, x := range list {
		names[x.Name] = true
	}
	p := newProbe(snap, "_ = 0", 0, names)
	for i, x := range list {
		if v := snap.Values.Variable("", x.Name); v.IsValid() && p.pkg != nil {
			if o := p.pkg.Scope().Lookup(x.Name); o != nil {
				list[i] = p.part(x.Name, v, o.Type())
			}
		}
	}
	return list
}

// Variable describes the value of a variable of pkg.
func Variable(snap Snapshot, pkg Package, o *types.Var, v reflect.Value) eval.Variable {
	p := &probe{Snapshot: snap, pkg: pkg.Package, find: pkg.Find}
	return p.part(o.Name(), v, o.Type())
}

// maxText is the maximum length of the text of a value, in code points, and maxKeys the number of keys of
// a map that are read.
const (
	maxText = 4000
	maxKeys = 10000
)

// maxShort is the maximum length of a value's text in a list, in code points.
const maxShort = 200

// part describes a value: a variable or a part of one. Its parts are computed when
// requested.
func (p *probe) part(name string, v reflect.Value, t types.Type) eval.Variable {
	s := p.Values
	shown := p.text(v, t, 10*maxShort)
	if kind := tensorKind(peek.Concrete(v)); kind != "" {
		shown = kind + " " + shown
	}
	x := eval.Variable{Name: name, Type: p.typeString(t), Value: text.Cut(strings.Join(strings.Fields(shown), " "), maxShort)}
	if p.hasParts(v, t) {
		x.Children = func() (list []eval.Variable) {
			if !s.While(func() { list = p.parts(v, t) }) {
				list = []eval.Variable{{Name: "…", Value: Busy}}
			}
			return list
		}
	}
	x.Rich = func() (b display.Bundle) {
		b = display.Text(Busy)
		s.While(func() {
			if b = display.Text(p.text(v, t, maxText)); s.Idle() || !peek.HoldsMap(t) {
				b = s.Show(p.checked(), v, t)
			}
		})
		return b
	}
	return x
}

// hasParts reports whether parts would return any, without making them.
func (p *probe) hasParts(v reflect.Value, t types.Type) bool {
	if types.IsInterface(t) {
		v, t = p.inside(v)
	}
	v = peek.Concrete(v)
	if t == nil || !v.IsValid() {
		return false
	}
	if tensorKind(v) != "" {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return v.Kind() == reflect.Pointer && !v.IsNil()
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() || f.Pkg() == p.pkg {
				return true
			}
		}
	case *types.Slice, *types.Array:
		return (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && v.Len() > 0
	case *types.Map:
		return p.Values.Idle() && v.Kind() == reflect.Map && v.Len() > 0
	}
	return false
}

// parts returns the current fields or elements of a value.
func (p *probe) parts(v reflect.Value, t types.Type) (list []eval.Variable) {
	defer func() {
		if r := recover(); r != nil { // the engine's value does not match its type
			list = append(list, eval.Variable{Name: "…", Value: fmt.Sprintf("(cannot be shown: %v)", r)})
		}
	}()
	if types.IsInterface(t) {
		v, t = p.inside(v)
	}
	v = peek.Concrete(v)
	if t == nil || !v.IsValid() {
		return nil
	}
	if tensorKind(v) != "" {
		return p.properties(v)
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if _, ok := u.Elem().Underlying().(*types.Struct); ok && !v.IsNil() {
			return p.parts(v.Elem(), u.Elem())
		}
		if !v.IsNil() {
			return []eval.Variable{p.part("*", v.Elem(), u.Elem())}
		}
	case *types.Struct:
		for i := range u.NumFields() {
			if f := u.Field(i); f.Exported() || f.Pkg() == p.pkg {
				list = append(list, p.part(f.Name(), peek.Field(v, i), f.Type()))
			}
		}
	case *types.Slice:
		return p.elements(v, u.Elem(), 0, v.Len())
	case *types.Array:
		return p.elements(v, u.Elem(), 0, v.Len())
	case *types.Map:
		if p.Values.Idle() {
			return p.entries(v, u)
		}
	}
	return list
}

// few is the number of elements shown at once; more are shown in ranges.
const few = 100

// elements returns the elements of a list from from to to.
func (p *probe) elements(v reflect.Value, elem types.Type, from, to int) (list []eval.Variable) {
	to = min(to, v.Len()) // the list may have changed since
	step := 1
	for (to-from+step-1)/step > few {
		step *= few
	}
	for i := from; i < to; i += step {
		if step == 1 {
			list = append(list, p.part(fmt.Sprintf("[%d]", i), v.Index(i), elem))
			continue
		}
		s, i, end := p.Values, i, min(i+step, to)
		list = append(list, eval.Variable{
			Name: fmt.Sprintf("[%d…%d]", i, end-1),
			Children: func() (list []eval.Variable) {
				s.While(func() { list = p.elements(v, elem, i, end) })
				return list
			},
		})
	}
	return list
}

// entries returns the first entries of a map, sorted by the text of their keys.
func (p *probe) entries(v reflect.Value, t *types.Map) []eval.Variable {
	keys := map[string]reflect.Value{}
	for it := v.MapRange(); it.Next() && len(keys) < maxKeys; {
		key := p.text(it.Key(), t.Key(), maxShort)
		if peek.Concrete(it.Key()).Kind() == reflect.String {
			key = fmt.Sprintf("%q", key)
		}
		keys[key] = it.Key()
	}
	sorted := slices.SortedFunc(maps.Keys(keys), func(a, b string) int {
		n := peek.Numeric(v.Type().Key())
		return cmp.Or(cmp.Compare(len(a)*n, len(b)*n), cmp.Compare(a, b))
	})
	var list []eval.Variable
	for i, key := range sorted {
		if i == few {
			return append(list, eval.Variable{Name: "…", Value: fmt.Sprintf("%d more", v.Len()-i)})
		}
		list = append(list, p.part("["+key+"]", v.MapIndex(keys[key]), t.Elem()))
	}
	return list
}

// tensorKind returns the dtype and shape of a value that has both, as tensors do,
// otherwise "".
func tensorKind(v reflect.Value) string {
	if !v.IsValid() || !peek.IsCompiled(v) || peek.IsNil(v) || !v.CanInterface() {
		return ""
	}
	shape, ok := v.Interface().(interface{ Shape() []int })
	dtype := v.MethodByName("DType")
	if !ok || !dtype.IsValid() || dtype.Type().NumIn() != 0 || dtype.Type().NumOut() != 1 {
		return ""
	}
	return fmt.Sprintf("%v %s", dtype.Call(nil)[0], text.Shape(shape.Shape()))
}

// properties returns the results of a tensor's property methods.
func (p *probe) properties(v reflect.Value) (list []eval.Variable) {
	for _, name := range []string{"DType", "Device", "Grad", "Numel", "RequiresGrad", "Shape"} {
		m := v.MethodByName(name)
		if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
			continue
		}
		t := p.typeOf(m.Type().Out(0))
		func() {
			defer func() { _ = recover() }() // the tensor may have been released
			if t != nil {
				list = append(list, p.part(name+"()", m.Call(nil)[0], t))
			}
		}()
	}
	return list
}
