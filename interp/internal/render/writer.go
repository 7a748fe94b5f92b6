package render

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/internal/text"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/peek"
)

// writer formats values as fmt's %+v does, with the type and field names in the cell.
type writer struct {
	strings.Builder
	methods bool // whether parts of the value show the text of their methods
	of      Opener
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
	if !v.CanInterface() || peek.IsNil(v) {
		return false
	}
	give := func(method string, f func() string) bool {
		var shown string
		if p := panicOf(func() { shown = f() }); p != nil {
			shown = fmt.Sprintf("(method %s panicked: %v)", method, p)
		}
		w.WriteString(text.Cut(shown, maxPart))
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
		w.value(peek.Field(v, i), f.Type, depth+1)
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
	n := peek.Numeric(v.Type().Key())
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
	if v.Len() > maxEntries {
		fmt.Fprintf(w, "map[… %d entries]", v.Len())
		return
	}
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
