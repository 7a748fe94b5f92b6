package display

import (
	"fmt"
	"reflect"
	"strings"
)

// Of renders any value. The first rule that applies is used:
//
//   - a [Bundle], or a value with the method Bundle() Bundle,
//     MimeBundle() (data, metadata map[string]any), Render() [Data] or SimpleRender() [MIMEMap],
//     is shown as that bundle;
//   - a value with any of the methods HTML() string, Markdown() string,
//     LaTeX() string, SVG() string or []byte, PNG() []byte, JPEG() []byte shows their results;
//     its String or Error method supplies the text and the pictures' alt text;
//   - an image.Image is shown as PNG;
//   - a slice of structs or a map is shown as a table, with a column for each exported field of structs;
//   - any other value is shown as text, formatted like fmt's %+v; long and cyclic
//     values are cut.
//
// text/plain is always present. A panic in one of those methods does not escape: the
// method's result is omitted, and the text reports the panic.
func Of(v any) Bundle {
	if isNil(v) {
		return Text("<nil>")
	}
	var notes []string
	b := rich(v, &notes).clean()
	if _, ok := b.Data["text/plain"].(string); !ok || len(notes) > 0 {
		b.Data["text/plain"] = strings.Join(append([]string{plain(v)}, notes...), "\n")
	}
	return b
}

func isNil(v any) bool {
	rv := reflect.ValueOf(v)
	return !rv.IsValid() || rv.Kind() == reflect.Pointer && rv.IsNil()
}

// rich returns v's representations other than plain text; it may include the text. It
// adds a note for every method that panicked.
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
	case interface{ Render() Data }:
		if try("Render", notes, func() { d := v.Render(); b.Data, b.Metadata = d.Data, d.Metadata }) {
			return b
		}
	case interface{ SimpleRender() MIMEMap }:
		if try("SimpleRender", notes, func() { b.Data = v.SimpleRender() }) {
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

// try calls f and reports whether it returned; otherwise it adds a note that the
// method panicked.
func try(method string, notes *[]string, f func()) (ok bool) {
	defer func() {
		if !ok {
			*notes = append(*notes, fmt.Sprintf("(method %s panicked: %v)", method, recover()))
		}
	}()
	f()
	return true
}
