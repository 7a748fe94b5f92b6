package display

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Limits of the text of one value. Without them a cyclic map would exhaust the stack, which ends
// the process, and a long slice would fill the notebook.
const (
	maxElems  = 1000 // maximum elements of a slice or map
	maxDepth  = 20
	maxText   = 100_000 // approximate maximum in bytes
	maxString = 1 << 20 // maximum bytes of one string
)

// plain formats v like fmt's %+v, within the limits, and survives panics in its methods. Structs
// of package main, the reader's own, are written with type names and followed through pointers.
func plain(v any) string {
	var b strings.Builder
	format(&b, reflect.ValueOf(v), 0)
	return b.String()
}

func format(b *strings.Builder, v reflect.Value, depth int) {
	if !v.IsValid() {
		b.WriteString("<nil>")
		return
	}
	if b.Len() > maxText || depth > maxDepth {
		b.WriteString("…")
		return
	}
	if s, ok := ownText(v); ok {
		begin(b, s)
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		format(b, v.Elem(), depth)
	case reflect.Pointer:
		if !v.IsNil() && (depth == 0 && isComposite(v.Elem().Kind()) || isOwn(v.Type().Elem())) {
			b.WriteByte('&')
			format(b, v.Elem(), depth+1)
		} else if v.IsNil() {
			b.WriteString("<nil>")
		} else {
			fmt.Fprintf(b, "%#x", v.Pointer())
		}
	case reflect.Struct:
		if isOwn(v.Type()) {
			b.WriteString(v.Type().Name())
		}
		b.WriteByte('{')
		for i := range v.NumField() {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(v.Type().Field(i).Name + ":")
			format(b, v.Field(i), depth+1)
		}
		b.WriteByte('}')
	case reflect.Slice, reflect.Array:
		b.WriteByte('[')
		for i := range min(v.Len(), maxElems) {
			if i > 0 {
				b.WriteByte(' ')
			}
			format(b, v.Index(i), depth+1)
		}
		cut(b, v.Len())
		b.WriteByte(']')
	case reflect.Map:
		b.WriteString("map[")
		for i, e := range sortedEntries(v) {
			if i > 0 {
				b.WriteByte(' ')
			}
			format(b, e.key, depth+1)
			b.WriteByte(':')
			format(b, e.value, depth+1)
		}
		cut(b, v.Len())
		b.WriteByte(']')
	case reflect.String:
		begin(b, v.String())
	default:
		fmt.Fprint(b, v)
	}
}

// begin writes a text, of a long one the beginning.
func begin(b *strings.Builder, s string) {
	if len(s) > maxString {
		fmt.Fprintf(b, "%s … %d more bytes", strings.ToValidUTF8(s[:maxString], ""), len(s)-maxString)
		return
	}
	b.WriteString(s)
}

func isOwn(t reflect.Type) bool { return t.Kind() == reflect.Struct && t.PkgPath() == "main" }

func isComposite(k reflect.Kind) bool {
	return k == reflect.Struct || k == reflect.Slice || k == reflect.Array || k == reflect.Map
}

func cut(b *strings.Builder, n int) {
	if n > maxElems {
		fmt.Fprintf(b, " … %d more", n-maxElems)
	}
}

// ownText returns the result of v's Error or String method, or a note that the method panicked.
func ownText(v reflect.Value) (s string, ok bool) {
	if !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil() {
		return "", false
	}
	name, text := "String", func() string { return "" }
	switch x := v.Interface().(type) {
	case error:
		name, text = "Error", x.Error
	case fmt.Stringer:
		text = x.String
	default:
		return "", false
	}
	var notes []string
	if !try(name, &notes, func() { s = text() }) {
		s = fmt.Sprintf("%s %s", v.Type(), notes[0])
	}
	return s, true
}

// entry is one map entry. MapIndex does not find the key NaN.
type entry struct{ key, value reflect.Value }

// sortedEntries returns the first maxElems entries of a map, sorted by value if the keys are
// numbers, otherwise by the text of the key.
func sortedEntries(m reflect.Value) []entry {
	type sortable struct {
		entry
		text string
	}
	var all []sortable
	for it := m.MapRange(); it.Next(); {
		var b strings.Builder
		format(&b, it.Key(), 1)
		all = append(all, sortable{entry{it.Key(), it.Value()}, b.String()})
	}
	slices.SortStableFunc(all, func(x, y sortable) int {
		switch a, b := x.key, y.key; {
		case a.CanInt() && b.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		case a.CanUint() && b.CanUint():
			return cmp.Compare(a.Uint(), b.Uint())
		case a.CanFloat() && b.CanFloat():
			return cmp.Compare(a.Float(), b.Float())
		}
		return cmp.Compare(x.text, y.text)
	})
	entries := make([]entry, min(len(all), maxElems))
	for i := range entries {
		entries[i] = all[i].entry
	}
	return entries
}
