package display

import (
	"fmt"
	"reflect"
	"strings"
)

// Of renders any value. The first that applies decides:
//
//   - a [Bundle], or a value with the method Bundle() Bundle or
//     MimeBundle() (data, metadata map[string]any), shows that;
//   - a value with one or more of the methods HTML() string, Markdown() string,
//     LaTeX() string, SVG() string or []byte, PNG() []byte shows those, its
//     String or Error method being its text and the alt text of its pictures;
//   - an image.Image shows as PNG;
//   - a slice of structs and a map show as a table;
//   - anything else shows as text, as fmt's %+v writes it, but long or cyclic
//     values are cut.
//
// text/plain is always there. A panic in one of those methods does not escape: the
// value shows without it, and its text says what happened.
func Of(v any) Bundle {
	if rv := reflect.ValueOf(v); !rv.IsValid() || rv.Kind() == reflect.Pointer && rv.IsNil() {
		return Text("<nil>")
	}
	var notes []string
	b := rich(v, &notes).clean()
	if _, ok := b.Data["text/plain"].(string); !ok || len(notes) > 0 {
		b.Data["text/plain"] = strings.Join(append([]string{plain(v)}, notes...), "\n")
	}
	return b
}

// rich returns what v shows beside its text; it may hold the text too. It adds a
// note for every method that panicked.
func rich(v any, notes *[]string) (b Bundle) {
	switch v := v.(type) {
	case Bundle:
		return v
	case *Bundle:
		return *v
	case interface{ Bundle() Bundle }:
		if try("Bundle", notes, func() { b = v.Bundle() }) {
			return b
		}
	case interface {
		MimeBundle() (data, metadata map[string]any)
	}:
		if try("MimeBundle", notes, func() { b.Data, b.Metadata = v.MimeBundle() }) {
			return b
		}
	}
	b = Bundle{Data: map[string]any{}, Metadata: map[string]any{}}
	for _, m := range methods {
		var part Bundle
		try(m.name, notes, func() { part = m.render(v) })
		for mime, data := range part.Data {
			if _, ok := b.Data[mime]; !ok {
				b.Data[mime] = data
			}
		}
		for mime, data := range part.Metadata {
			if _, ok := b.Metadata[mime]; !ok {
				b.Metadata[mime] = data
			}
		}
	}
	return b
}

// try calls f and tells whether it returned; else a note says that the method
// panicked.
func try(method string, notes *[]string, f func()) (ok bool) {
	defer func() {
		if !ok {
			*notes = append(*notes, fmt.Sprintf("(its method %s panicked: %v)", method, recover()))
		}
	}()
	f()
	return true
}
