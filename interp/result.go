package interp

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/peek"
	"halfnote/interp/internal/render"
)

// render shows the value of the last expression.
func (s *Session) render(c *cell) error {
	var shown []display.Bundle
	for _, r := range c.Results {
		v, ok := s.engine.Slot(r.Slot)
		if !ok || isNilInterface(v) && len(c.Results) == 1 {
			return nil
		}
		var b display.Bundle
		if err := s.calling(c, func() { b = s.showWith(c.Bound, v, r.Typ, true) }); err != nil {
			return err
		}
		if r.Note != "" {
			b.Data["text/plain"] = fmt.Sprintf("%s\n%s", b.Data["text/plain"], r.Note)
		}
		if len(c.Results) == 1 && !peek.IsNil(v) {
			if err := s.byMethods(c, &b, render.Methods(v, s.dynamicType(c.Bound, r.Typ))); err != nil {
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

// unbound returns the session's names for values whose types belong to a package that only a
// probe has checked.
func (s *Session) unbound(pkg assist.Package) *front.Bound {
	p := &front.Parsed{Input: front.Input{Shared: &s.front.Shared}, Env: s.env}
	return &front.Bound{Checked: &front.Checked{Parsed: p, Known: s.env, Pkg: pkg.Package, Find: pkg.Find}, Env: s.env, UnitPaths: map[string]bool{}}
}

// dynamicType returns the session's run-time information about a type.
func (s *Session) dynamicType(c *front.Bound, t types.Type) *dynamic.Type {
	u := lower.Unit{Tree: lower.Tree{Pkg: c.Pkg}, Names: lower.Names{
		Name: c.EngineNames, Types: s.types, Label: s.typeLabel(s.front.Generics), Instances: s.front.Generics.Instances,
		Own: func(o types.Object) bool { return s.front.Packages.Interpreted(o, c.Pkg) },
	}}
	return u.Describe(t)
}

// byMethods adds the output of a value's interpreted show methods. They run as the cell
// does: they can be interrupted, and may panic.
func (s *Session) byMethods(c *cell, b *display.Bundle, methods map[string]func() any) error {
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		var part display.Bundle
		err := s.calling(c, func() { part = render.Part(name, methods[name]) })
		if p, ok := err.(*engine.Panic); ok && p.Value != any(live.Interrupted{}) {
			b.Data["text/plain"] = fmt.Sprintf("%v\n(method %s panicked: %v)", b.Data["text/plain"], name, s.describer().Panic(p).Value)
			continue
		}
		if err != nil {
			return err
		}
		render.Add(b, name, part)
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
	if err == nil {
		select {
		case <-run.Stopping(): // package fmt has recovered from the interrupt in a String method
			return &engine.Panic{Value: live.Interrupted{}}
		default:
		}
	}
	return err
}
