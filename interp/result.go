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
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/live"
	"halfnote/interp/lower"
)

// render shows the value of the last expression.
func (s *Session) render(c *cell) error {
	var shown []display.Bundle
	for _, r := range c.results {
		v, ok := s.engine.Slot(r.slot)
		if !ok || isNilInterface(v) && len(c.results) == 1 {
			return nil
		}
		var b display.Bundle
		if err := s.calling(c, func() { b = s.showWith(c, v, r.typ, true) }); err != nil {
			return err
		}
		if r.note != "" {
			b.Data["text/plain"] = fmt.Sprintf("%s\n%s", b.Data["text/plain"], r.note)
		}
		if len(c.results) == 1 && !isNil(v) {
			if err := s.byMethods(c, &b, showing(v, s.dynamicType(c, r.typ))); err != nil {
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

// showMethods lists the methods that package display looks for.
var showMethods = []string{"Error", "HTML", "LaTeX", "Markdown", "MimeBundle", "PNG", "SVG", "String"}

// showing returns the show methods of a value of a session type: package display does
// not see interpreted methods.
func showing(v reflect.Value, t *dynamic.Type) map[string]func() any {
	receivers := []any{t.In(v)}
	if v.CanAddr() && v.Kind() != reflect.Interface {
		receivers = append(receivers, t.Pointer().In(v.Addr()))
	}
	methods := map[string]func() any{}
	for _, x := range receivers {
		x = dynamic.Unwrap(x)
		if x == nil || dynamic.Of(reflect.TypeOf(x)) == nil && isCompiled(reflect.ValueOf(x)) {
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

// isCompiled reports whether a value has a compiled type, whose methods package display
// finds itself.
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
	return t.Name() != "" && t.PkgPath() != "main" && !v.Type().Implements(reflect.TypeFor[dynamic.Wrapper]())
}

// dynamicType returns the session's run-time information about a type.
func (s *Session) dynamicType(c *cell, t types.Type) *dynamic.Type {
	if c.env == nil { // a cell that is only inspected
		c.env, c.unitPaths = s.env, map[string]bool{}
	}
	if c.before == nil { // the cell is not bound yet
		c.before = c.env
	}
	if c.std == nil {
		c.std, c.packages = s.std, s.packages
	}
	u := lower.Unit{
		Pkg: c.pkg, Name: c.engineNames, Types: s.types, Label: s.typeLabel(s.generics), Instances: s.generics.instances,
		Own: func(o types.Object) bool { return s.packages.interpreted(o, c.pkg) },
	}
	return u.Describe(t)
}

// byMethods adds the output of a value's interpreted show methods. They run as the cell
// does: they can be interrupted, and may panic.
func (s *Session) byMethods(c *cell, b *display.Bundle, methods map[string]func() any) error {
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		var part display.Bundle
		err := s.calling(c, func() { part = methodPart(name, methods[name]) })
		if p, ok := err.(*engine.Panic); ok && p.Value != any(live.Interrupted{}) {
			b.Data["text/plain"] = fmt.Sprintf("%v\n(method %s panicked: %v)", b.Data["text/plain"], name, s.describe(p).Value)
			continue
		}
		if err != nil {
			return err
		}
		addPart(b, name, part)
	}
	return nil
}

// calling runs f as the cell runs: f can be interrupted, and may panic.
func (s *Session) calling(c *cell, f func()) error {
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

// methodPart returns the output of the named show method.
func methodPart(name string, method func() any) (part display.Bundle) {
	switch x := method().(type) {
	case string:
		part = described(name, x)
	case display.Bundle:
		part = x
	}
	return part
}

// addPart adds the output of the named show method to a bundle.
func addPart(b *display.Bundle, name string, part display.Bundle) {
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
