package interp

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/library"
	"halfnote/interp/internal/mapaccess"
)

// show renders a value of a cell without running code of cells. The structure of session types
// comes from the checker: the engine's own types have other names and fields.
func (s *Session) show(c *cell, v reflect.Value, t types.Type) (b display.Bundle) {
	return s.showWith(c, v, t, false)
}

// showWith is show. If methods is set, the parts of a value that have the method String or Error show
// its text.
func (s *Session) showWith(c *cell, v reflect.Value, t types.Type, methods bool) (b display.Bundle) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ StopsCell() }); ok {
				panic(r)
			}
			b = display.Text(fmt.Sprintf("(a %s that cannot be shown: %v)", typeString(t, c.pkg), r))
		}
	}()
	if _, ok := t.Underlying().(*types.Signature); ok {
		return display.Text(typeString(t, c.pkg))
	}
	if s.packages.own(t, c.pkg) || s.holdsOwn(v, 0) {
		newWriter := func() *writer {
			return &writer{methods: methods, of: func(v reflect.Value) (reflect.Value, *dynamic.Type) { return s.open(c, v) }}
		}
		return s.rendered(v, s.dynamicType(c, t), newWriter)
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return display.Text("<nil>")
	}
	if v.Kind() == reflect.Func {
		return display.Text(typeString(t, c.pkg))
	}
	return s.screen.Of(mapaccess.Copy(v.Interface()))
}

// rendered renders a value of a session type as text and, if it is a list of structs or a map, as a table.
func (s *Session) rendered(v reflect.Value, t *dynamic.Type, newWriter func() *writer) display.Bundle {
	w := newWriter()
	w.value(v, t, 0)
	b := display.Text(w.String())
	if html, ok := s.records(v, t, newWriter); ok {
		b.Data["text/html"] = html
	}
	return b
}

// presented returns the value that package display shows in place of one that a cell gives it: a bundle
// for values of the session's types, whose names and methods only the session knows.
func (s *Session) presented(v any) any {
	x, t := dynamic.Open(v)
	if t == nil || isNil(x) {
		return v
	}
	b := s.rendered(x, t, func() *writer {
		return &writer{methods: true, of: func(v reflect.Value) (reflect.Value, *dynamic.Type) { return dynamic.Open(v.Interface()) }}
	})
	methods := showing(x, t)
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		var part display.Bundle
		if p := panicOf(func() { part = methodPart(name, methods[name]) }); p != nil {
			part = display.Text(fmt.Sprintf("%v\n(method %s panicked: %v)", b.Data["text/plain"], name, p))
			name = "String"
		}
		addPart(&b, name, part)
	}
	return b
}

// panicOf calls f and returns the value with which f panicked, in Go's words, or nil. It does not stop the
// panic of an interrupt.
func panicOf(f func()) (value any) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ StopsCell() }); ok {
				panic(r)
			}
			value = goWords(r)
		}
	}()
	f()
	return nil
}

// interpreted reports whether a type belongs to a cell or to a package run from source,
// or is generic.
func (p *packages) interpreted(o types.Object, pkg *types.Package) bool {
	return o.Pkg() == pkg || p.units[o.Pkg()] != nil || library.Generic(o)
}

// own reports whether values of t may contain values of interpreted types, or are
// better described by the checker, as functions are.
func (p *packages) own(t types.Type, pkg *types.Package) bool {
	seen := map[types.Type]bool{}
	var walk func(types.Type) bool
	walk = func(t types.Type) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			return p.interpreted(t.Origin().Obj(), pkg)
		case *types.Pointer:
			return walk(t.Elem())
		case *types.Slice:
			return walk(t.Elem())
		case *types.Array:
			return walk(t.Elem())
		case *types.Map:
			return walk(t.Key()) || walk(t.Elem())
		case *types.Struct, *types.Signature:
			return true
		}
		return false
	}
	return walk(t)
}

// holdsOwn reports whether a value of a compiled type holds interpreted values in
// interfaces. It looks only at the first elements of lists.
func (s *Session) holdsOwn(v reflect.Value, depth int) bool {
	const few = 20
	if depth > 4 || !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return false
		}
		if _, t := dynamic.Open(v.Interface()); t != nil {
			return true
		}
		if _, _, ok := s.engine.Inside(v); ok {
			return true
		}
		return s.holdsOwn(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Interface, reflect.Slice, reflect.Map:
			for i := range min(v.Len(), few) {
				if s.holdsOwn(v.Index(i), depth+1) {
					return true
				}
			}
		}
	case reflect.Map:
		for _, e := range mapaccess.First(v, few) {
			if s.holdsOwn(e.Value, depth+1) {
				return true
			}
		}
	}
	return false
}

func isNilInterface(v reflect.Value) bool {
	return v.Kind() == reflect.Interface && v.IsNil()
}

// maxShown is the maximum size of a value's text, in bytes and in elements of a list.
const (
	maxShown = 4000
	maxItems = 100
	maxNest  = 12
)

// writer formats values as fmt's %+v does, with the type and field names in the cell.
type writer struct {
	strings.Builder
	methods bool                                               // whether parts of the value show the text of their methods
	of      func(reflect.Value) (reflect.Value, *dynamic.Type) // unwraps an interface
}

// open returns the value in an interface, and its type if that is the session's.
func (s *Session) open(c *cell, v reflect.Value) (reflect.Value, *dynamic.Type) {
	if x, t := dynamic.Open(v.Interface()); t != nil {
		return x, t
	}
	x, name, ok := s.engine.Inside(v)
	t := s.typeNamed(c.pkg, name)
	if !ok || t == nil {
		return x, nil
	}
	d := s.dynamicType(c, t)
	if x.Kind() == reflect.Pointer && d.Kind != reflect.Pointer {
		d = d.Pointer()
	}
	return x, d
}

// inside returns the value in an interface if it has a session type, and the engine's
// name of that type, without pointers.
func (s *Session) inside(v reflect.Value) (value reflect.Value, typ string, ok bool) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.IsValid() && v.CanInterface() {
		if x, t := dynamic.Open(v.Interface()); t != nil {
			if t.Kind == reflect.Pointer && !t.Named {
				t = t.Elem
			}
			return x, t.ID, true
		}
	}
	return s.engine.Inside(v)
}

// typeNamed returns the session type with the engine name slot, or nil.
func (s *Session) typeNamed(pkg *types.Package, slot string) types.Type {
	for _, list := range [][]*binding{s.current(), s.env.old} {
		for _, b := range list {
			if b.kind == kindType && b.slot == slot {
				if o := pkg.Scope().Lookup(b.check); o != nil {
					return o.Type()
				}
			}
		}
	}
	if o, ok := s.packages.object(slot).(*types.TypeName); ok {
		return o.Type()
	}
	return nil
}

func (w *writer) value(v reflect.Value, t *dynamic.Type, depth int) {
	if w.Len() > maxShown || depth > maxNest {
		w.WriteString("…")
		return
	}
	if !v.IsValid() {
		w.WriteString("<nil>")
		return
	}
	if t.Kind != reflect.Interface {
		for v.Kind() == reflect.Interface && !v.IsNil() { // for Yaegi's recursive types
			v = v.Elem()
		}
	}
	if w.methods && depth > 0 && w.byMethod(v, t) {
		return
	}
	name := ""
	if t.Named {
		name = strings.TrimPrefix(t.Name, "main.")
	}
	switch t.Kind {
	case reflect.Struct:
		if v.Kind() == reflect.Struct && v.NumField() == len(t.Fields) {
			w.structure(v, t, name, depth)
			return
		}
	case reflect.Pointer:
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				w.WriteString("<nil>")
			} else if t.Elem.Kind == reflect.Invalid {
				w.foreign(v)
			} else if depth == 0 || t.Elem.Kind == reflect.Struct {
				w.WriteByte('&')
				w.value(v.Elem(), t.Elem, depth+1)
			} else {
				fmt.Fprintf(w, "%#x", v.Pointer())
			}
			return
		}
	case reflect.Slice, reflect.Array:
		w.list(v, t.Elem, depth)
		return
	case reflect.Map:
		if v.Kind() == reflect.Map {
			w.table(v, t, depth)
			return
		}
	case reflect.Func:
		w.WriteString(strings.ReplaceAll(t.Name, "main.", ""))
		return
	case reflect.Interface:
		w.dynamic(v, depth)
		return
	}
	w.foreign(v)
}

// byMethod writes the text that the value's method gives, as package fmt does. It reports whether there is such
// a method.
func (w *writer) byMethod(v reflect.Value, t *dynamic.Type) (ok bool) {
	if !v.CanInterface() || isNil(v) {
		return false
	}
	give := func(method string, f func() string) bool {
		var text string
		if p := panicOf(func() { text = f() }); p != nil {
			text = fmt.Sprintf("(method %s panicked: %v)", method, p)
		}
		w.WriteString(cut(text, maxNow))
		return true
	}
	for _, name := range textMethods {
		if !t.GivesText(name) {
			continue
		}
		x := t.In(v)
		if f, ok := dynamic.MethodOf(x, name).(func(any) string); ok {
			return give(name, func() string { return f(dynamic.Unwrap(x)) })
		}
	}
	if !interpretedType(t) {
		return false // method foreign shows it
	}
	switch x := v.Interface().(type) {
	case error:
		return give("Error", x.Error)
	case fmt.Stringer:
		return give("String", x.String)
	}
	return false
}

func (w *writer) structure(v reflect.Value, t *dynamic.Type, name string, depth int) {
	w.WriteString(name)
	w.WriteByte('{')
	for i, f := range t.Fields {
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteString(f.Name)
		w.WriteByte(':')
		w.value(fieldOf(v, i), f.Type, depth+1)
	}
	w.WriteByte('}')
}

func (w *writer) list(v reflect.Value, elem *dynamic.Type, depth int) {
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		w.foreign(v)
		return
	}
	w.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			w.WriteByte(' ')
		}
		if i >= maxItems {
			fmt.Fprintf(w, "… %d more", v.Len()-i)
			break
		}
		w.value(v.Index(i), elem, depth+1)
	}
	w.WriteByte(']')
}

// mapEntry is an entry of a map, with the text of its key.
type mapEntry struct {
	mapaccess.Entry
	text string
}

// entries returns the entries of a map, sorted by the texts of their keys.
func (w *writer) entries(v reflect.Value, key *dynamic.Type, depth int) (list []mapEntry) {
	for _, e := range mapaccess.Entries(v) {
		list = append(list, mapEntry{e, w.text(e.Key, key, depth)})
	}
	n := numeric(v.Type().Key())
	slices.SortStableFunc(list, func(a, b mapEntry) int {
		return cmp.Or(cmp.Compare(len(a.text)*n, len(b.text)*n), cmp.Compare(a.text, b.text))
	})
	return list
}

// text returns the text of a value inside another.
func (w *writer) text(v reflect.Value, t *dynamic.Type, depth int) string {
	x := writer{methods: w.methods, of: w.of}
	x.value(v, t, depth)
	return x.String()
}

func (w *writer) table(v reflect.Value, t *dynamic.Type, depth int) {
	w.WriteString("map[")
	for i, e := range w.entries(v, t.Key, depth+1) {
		if i > 0 {
			w.WriteByte(' ')
		}
		if i >= maxItems {
			fmt.Fprintf(w, "… %d more", v.Len()-i)
			break
		}
		w.WriteString(e.text + ":" + w.text(e.Value, t.Elem, depth+1))
	}
	w.WriteByte(']')
}

// numeric is 1 for integer keys, whose texts sort by length first.
func numeric(t reflect.Type) int {
	if k := t.Kind(); k >= reflect.Int && k <= reflect.Uintptr {
		return 1
	}
	return 0
}

// dynamic writes the value in an interface.
func (w *writer) dynamic(v reflect.Value, depth int) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		w.WriteString("<nil>")
		return
	}
	x, t := w.of(v)
	if t != nil {
		w.value(x, t, depth+1)
		return
	}
	w.foreign(x)
}

// foreign writes a value of a compiled type.
func (w *writer) foreign(v reflect.Value) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		w.WriteString("<nil>")
		return
	}
	if !v.CanInterface() {
		fmt.Fprintf(w, "%+v", v)
		return
	}
	text, _ := display.Of(v.Interface()).Data["text/plain"].(string)
	w.WriteString(text)
}

func (s *Session) current() []*binding { return slices.Collect(maps.Values(s.env.cur)) }
