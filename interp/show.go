package interp

import (
	"fmt"
	"go/types"
	"reflect"

	"halfnote/display"
	"halfnote/interp/internal/dynamic"
	"halfnote/interp/internal/engine"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/front"
	"halfnote/interp/internal/mapaccess"
	"halfnote/interp/internal/peek"
	"halfnote/interp/internal/render"
)

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
