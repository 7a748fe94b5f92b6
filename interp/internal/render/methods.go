package render

import (
	"maps"
	"reflect"

	"halfnote/display"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/peek"
)

// showMethods lists the methods that package display looks for.
var showMethods = []string{"Error", "HTML", "LaTeX", "Markdown", "MimeBundle", "PNG", "SVG", "String"}

// Methods returns the show methods of a value of a type that a cell declares: package display does
// not see interpreted methods.
func Methods(v reflect.Value, t *dynamic.Type) map[string]func() any {
	receivers := []any{t.In(v)}
	if v.CanAddr() && v.Kind() != reflect.Interface {
		receivers = append(receivers, t.Pointer().In(v.Addr()))
	}
	methods := map[string]func() any{}
	for _, x := range receivers {
		x = dynamic.Unwrap(x)
		if x == nil || dynamic.Of(reflect.TypeOf(x)) == nil && peek.IsCompiled(reflect.ValueOf(x)) {
			continue
		}
		for _, name := range showMethods {
			if methods[name] != nil {
				continue
			}
			switch f := dynamic.MethodOf(x, name).(type) {
			case func(any) string:
				methods[name] = func() any { return f(x) }
			case func(any) []byte:
				methods[name] = func() any { return string(f(x)) }
			case func(any) (map[string]any, map[string]any):
				methods[name] = func() any {
					data, metadata := f(x)
					return display.Bundle{Data: data, Metadata: metadata}
				}
			}
		}
	}
	return methods
}

// Part returns the output of the named show method.
func Part(name string, method func() any) (part display.Bundle) {
	switch x := method().(type) {
	case string:
		part = described(name, x)
	case display.Bundle:
		part = x
	}
	return part
}

// Add adds the output of the named show method to a bundle.
func Add(b *display.Bundle, name string, part display.Bundle) {
	for mime, data := range part.Data {
		if mime == "text/plain" && name != "String" && name != "Error" && name != "MimeBundle" {
			continue
		}
		b.Data[mime] = data
	}
	if b.Metadata == nil {
		b.Metadata = map[string]any{}
	}
	maps.Copy(b.Metadata, part.Metadata)
}

// described renders the result of the named method.
func described(name, text string) display.Bundle {
	switch name {
	case "HTML":
		return display.Of(html(text))
	case "LaTeX":
		return display.LaTeX(text)
	case "Markdown":
		return display.Markdown(text)
	case "SVG":
		return display.Of(svg(text))
	case "PNG":
		return display.Of(png(text))
	}
	return display.Text(text)
}

type (
	html string
	svg  string
	png  string
)

func (h html) HTML() string { return string(h) }
func (s svg) SVG() string   { return string(s) }
func (p png) PNG() []byte   { return []byte(p) }
