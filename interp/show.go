package interp

import (
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/live"
	"halfnote/interp/internal/lower"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/peek"
	"halfnote/interp/internal/render"
)

// render returns the value of the last expression as it is shown, or nil for a cell without one.
func (s *Session) render(c *declared) (*display.Bundle, error) {
	var shown []display.Bundle
	for _, r := range c.lowered.Results {
		v, ok := s.engine.Slot(r.Slot)
		if !ok || isNilInterface(v) && len(c.lowered.Results) == 1 {
			return nil, nil
		}
		var b display.Bundle
		if err := s.calling(c.request, func() { b = s.showWith(c.bound, v, r.Typ, true) }); err != nil {
			return nil, err
		}
		if r.Note != "" {
			b.Data["text/plain"] = fmt.Sprintf("%s\n%s", b.Data["text/plain"], r.Note)
		}
		if len(c.lowered.Results) == 1 && !peek.IsNil(v) {
			if err := s.byMethods(c.request, &b, render.Methods(v, s.dynamicType(c.bound, r.Typ))); err != nil {
				return nil, err
			}
		}
		shown = append(shown, b)
	}
	switch len(shown) {
	case 0:
		return nil, nil
	case 1:
		return &shown[0], nil
	}
	var texts []string
	for _, b := range shown {
		text, _ := b.Data["text/plain"].(string)
		texts = append(texts, text)
	}
	b := display.Text(strings.Join(texts, ", "))
	return &b, nil
}

// unbound returns the session's names for values whose types belong to a package that only a
// probe has checked.
func (s *Session) unbound(pkg assist.Package) *front.Bound {
	p := &front.Parsed{Input: front.Input{Session: &s.front.Shared}, Env: s.env}
	return &front.Bound{Checked: &front.Checked{Parsed: p, Known: s.env, Pkg: pkg.Package, Find: pkg.Find}, Env: s.env, UnitPaths: map[string]bool{}}
}

// dynamicType returns the session's run-time information about a type.
func (s *Session) dynamicType(c *front.Bound, t types.Type) *dynamic.Type {
	u := lower.Unit{Tree: lower.Tree{Pkg: c.Pkg}, Names: lower.Names{
		Name: c.EngineNames, Types: s.types, Label: s.front.TypeLabel(s.front.Generics), Instances: s.front.Generics.Instances,
		Own: func(o types.Object) bool { return s.front.Packages.Interpreted(o, c.Pkg) },
	}}
	return u.Describe(t)
}

// byMethods adds the output of a value's interpreted show methods. They run as the cell
// does: they can be interrupted, and may panic.
func (s *Session) byMethods(q request, b *display.Bundle, methods map[string]func() any) error {
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		var part display.Bundle
		err := s.calling(q, func() { part = render.Part(name, methods[name]) })
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

// show renders a value of a cell without running code of cells. The structure of session types
// comes from the checker: the engine's own types have other names and fields.
func (s *Session) show(c *front.Bound, v reflect.Value, t types.Type) (b display.Bundle) {
	return s.showWith(c, v, t, false)
}

// showWith is show. If methods is set, the parts of a value that have the method String or Error show
// its text.
func (s *Session) showWith(c *front.Bound, v reflect.Value, t types.Type, methods bool) (b display.Bundle) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ StopsCell() }); ok {
				panic(r)
			}
			b = display.Text(fmt.Sprintf("(a %s that cannot be shown: %v)", exports.TypeString(t, c.Pkg), r))
		}
	}()
	if _, ok := t.Underlying().(*types.Signature); ok {
		return display.Text(exports.TypeString(t, c.Pkg))
	}
	if s.front.Packages.Own(t, c.Pkg) || render.HoldsOwn(v) {
		return render.Value(v, s.dynamicType(c, t), methods, func(v reflect.Value) (reflect.Value, *dynamic.Type) { return s.open(c, v) })
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return display.Text("<nil>")
	}
	if v.Kind() == reflect.Func {
		return display.Text(exports.TypeString(t, c.Pkg))
	}
	return s.screen.Of(mapaccess.Copy(v.Interface()))
}

func isNilInterface(v reflect.Value) bool {
	return v.Kind() == reflect.Interface && v.IsNil()
}

// open returns the value in an interface, and its type if that is the session's.
func (s *Session) open(c *front.Bound, v reflect.Value) (reflect.Value, *dynamic.Type) {
	if x, t := dynamic.Open(v.Interface()); t != nil {
		return x, t
	}
	x := peek.Concrete(v)
	name, ok := s.typeName(x)
	t := s.typeNamed(c, name)
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
	v = peek.Concrete(v)
	if v.IsValid() && v.CanInterface() {
		if x, t := dynamic.Open(v.Interface()); t != nil {
			if t.Kind == reflect.Pointer && !t.Named {
				t = t.Elem
			}
			return x, t.ID, true
		}
	}
	typ, ok = s.typeName(v)
	return v, typ, ok
}

// typeName returns the engine's name of the type of v, without pointers. ok is false if it is not a type of a cell
// for the engine.
func (s *Session) typeName(v reflect.Value) (name string, ok bool) {
	t, ok := engine.TypeOf(v)
	if !ok {
		return "", false
	}
	if n, ok := s.engine.(engine.Namer); ok {
		return n.TypeName(t), true
	}
	return t.Name(), true
}

// typeNamed returns the session type with the engine name slot, or nil.
func (s *Session) typeNamed(c *front.Bound, slot string) types.Type {
	s.checking.Lock()
	defer s.checking.Unlock()
	if b := c.Slotted(slot); b != nil && b.Kind == front.KindType {
		if o := c.Object(b); o != nil {
			return o.Type()
		}
	}
	if o, ok := s.front.Packages.Object(slot).(*types.TypeName); ok {
		return o.Type()
	}
	return nil
}

// keepOutput keeps the value that the cell has shown, unless there are several or its
// type has no name. It reports whether it did.
func (s *Session) keepOutput(c *declared) bool {
	if len(c.lowered.Results) != 1 || c.n < 0 {
		return false
	}
	r := c.lowered.Results[0]
	v, ok := s.engine.Slot(r.Slot)
	if !ok {
		return false
	}
	name := fmt.Sprintf("Out__%d", c.n)
	b := &front.Binding{Name: name, Kind: front.KindVar, Made: c.n, Seq: c.bound.Seq, Slot: r.Slot, Typ: exports.TypeString(r.Typ, c.bound.Pkg)}
	h, err := c.bound.Header(types.NewVar(token.NoPos, c.bound.Pkg, name, r.Typ))
	if err != nil || c.bound.Importable(h.Paths) != nil {
		return false
	}
	e := s.env.Clone()
	s.removeSlots(e.Drop(func(o front.KeptValue) bool {
		return o.Big || o.Made == c.n || len(s.env.Kept) == front.MaxOuts && o.Binding == s.env.Kept[0].Binding
	}))
	e.Keep(b, h, peek.Size(v, front.BigOut) > front.BigOut)
	s.take(e)
	return true
}

// makeRoom drops a value that is too big to keep, if the cell will show another and
// does not use it.
func (s *Session) makeRoom(c *declared) {
	if len(c.lowered.Results) == 1 && slices.ContainsFunc(s.env.Kept, func(v front.KeptValue) bool { return v.Big }) {
		s.dropOutputs(func(v front.KeptValue) bool { return v.Big && c.bound.Outs[v.Name] == nil })
	}
}

// dropOutputs forgets values. A value that a function literal or pointer may hold lives
// as long as its holder.
func (s *Session) dropOutputs(which func(front.KeptValue) bool) {
	e := s.env.Clone()
	s.removeSlots(e.Drop(which))
	s.take(e)
}

// removeSlots removes variables from the engine that nothing else can hold.
func (s *Session) removeSlots(list []*front.Binding) {
	for _, b := range list {
		if !s.env.Of(b).Captured {
			s.engine.Remove(b.Slot)
		}
	}
}
