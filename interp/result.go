package interp

import (
	"fmt"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/engine"
	"halfnote/interp/internal/live"
)

// render shows the value of the last expression.
func (s *Session) render(c *cell) error {
	defer clear(s.methods)
	var shown []display.Bundle
	for _, r := range c.results {
		v, ok := s.engine.Slot(r.slot)
		if !ok || isNilInterface(v) && len(c.results) == 1 {
			return nil
		}
		b := s.show(c, v, r.typ)
		if len(s.methods) > 0 && (!types.IsInterface(r.typ) || !isCompiled(v)) && !isNil(v) {
			if err := s.byMethods(c, &b); err != nil {
				return err
			}
		}
		shown = append(shown, b)
	}
	switch len(shown) {
	case 0:
	case 1:
		c.value = &shown[0]
	default:
		var texts []string
		for _, b := range shown {
			text, _ := b.Data["text/plain"].(string)
			texts = append(texts, text)
		}
		b := display.Text(strings.Join(texts, ", "))
		c.value = &b
	}
	return nil
}

func isNil(v reflect.Value) bool {
	for v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	return (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil()
}

// isCompiled tells whether a value is of a compiled type, whose methods package
// display finds by itself.
func isCompiled(v reflect.Value) bool {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return true
	}
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name() != "" && t.PkgPath() != "main" && !strings.HasSuffix(t.PkgPath(), "yaegi/interp") && !strings.HasPrefix(t.Name(), "_")
}

// byMethods adds what a value says of itself through interpreted methods. They run
// as the cell does: they can be interrupted, and may panic.
func (s *Session) byMethods(c *cell, b *display.Bundle) error {
	methods := maps.Clone(s.methods)
	call := func(f func()) error {
		run := &live.Cell{N: c.n, Out: c.out}
		err, left := s.live.Run(run, c.ctx.Done(), s.opts.Grace, func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = s.live.Recovered(r)
				}
			}()
			f()
			return nil
		})
		if left {
			return errLeft
		}
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		var part display.Bundle
		err := call(func() {
			switch f := methods[name].(type) {
			case func() string:
				part = described(name, f())
			case func() []byte:
				part = described(name, string(f()))
			case func() (map[string]any, map[string]any):
				data, metadata := f()
				part = display.Bundle{Data: data, Metadata: metadata}
			}
		})
		if p, ok := err.(*engine.Panic); ok && p.Value != any(live.Interrupted{}) {
			b.Data["text/plain"] = fmt.Sprintf("%v\n(its method %s panicked: %v)", b.Data["text/plain"], name, s.describe(p).Value)
			continue
		}
		if err != nil {
			return err
		}
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
	return nil
}

// described renders what the method of that name returned.
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
