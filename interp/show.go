package interp

import (
	"cmp"
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"

	"halfnote/display"
	"halfnote/interp/internal/library"
)

// show renders a value of a cell. What types of the session look like is known
// from the checker alone: the engine's own types have other names and fields.
func (s *Session) show(c *cell, v reflect.Value, t types.Type) (b display.Bundle) {
	defer func() {
		if r := recover(); r != nil {
			b = display.Text(fmt.Sprintf("(a %s that cannot be shown: %v)", typeString(t, c.pkg), r))
		}
	}()
	if s.packages.own(t, c.pkg) || s.holdsOwn(v, 0) || !isCompiled(v) && types.IsInterface(t) {
		w := writer{session: s, pkg: c.pkg}
		w.value(v, t, 0)
		return display.Text(w.String())
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return display.Text("<nil>")
	}
	if v.Kind() == reflect.Func {
		return display.Text(typeString(t, c.pkg))
	}
	return s.screen.Of(v.Interface())
}

// interpreted tells whether a type is one of those of cells, of packages that are
// run from source, or a generic one.
func (p *packages) interpreted(o types.Object, pkg *types.Package) bool {
	return o.Pkg() == pkg || p.units[o.Pkg()] != nil || library.Generic(o)
}

// own tells whether values of t may contain values of interpreted types, or look
// better as the checker describes them, as functions do.
func (p *packages) own(t types.Type, pkg *types.Package) bool {
	seen := map[types.Type]bool{}
	var walk func(types.Type) bool
	walk = func(t types.Type) bool {
		if seen[t] {
			return false
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			return p.interpreted(t.Origin().Obj(), pkg)
		case *types.Pointer:
			return walk(t.Elem())
		case *types.Slice:
			return walk(t.Elem())
		case *types.Array:
			return walk(t.Elem())
		case *types.Map:
			return walk(t.Key()) || walk(t.Elem())
		case *types.Struct, *types.Signature:
			return true
		}
		return false
	}
	return walk(t)
}

// holdsOwn tells whether a value of a compiled type has interpreted values behind
// interfaces. It looks at the first elements of lists only.
func (s *Session) holdsOwn(v reflect.Value, depth int) bool {
	const few = 20
	if depth > 4 || !v.IsValid() {
		return false
	}
	switch v.Kind() {
	case reflect.Interface:
		if _, _, ok := s.engine.Inside(v); ok {
			return true
		}
		return s.holdsOwn(v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Interface, reflect.Slice, reflect.Map:
			for i := range min(v.Len(), few) {
				if s.holdsOwn(v.Index(i), depth+1) {
					return true
				}
			}
		}
	case reflect.Map:
		n := 0
		for it := v.MapRange(); it.Next() && n < few; n++ {
			if s.holdsOwn(it.Value(), depth+1) {
				return true
			}
		}
	}
	return false
}

func isNilInterface(v reflect.Value) bool {
	return v.Kind() == reflect.Interface && v.IsNil()
}

// maxShown bounds the text of a value, in bytes and in elements of a list.
const (
	maxShown = 4000
	maxItems = 100
	maxNest  = 12
)

// writer writes values as fmt's %+v does, with the names that types and fields
// have in the cell.
type writer struct {
	strings.Builder
	session *Session
	pkg     *types.Package
}

func (w *writer) value(v reflect.Value, t types.Type, depth int) {
	if w.Len() > maxShown || depth > maxNest {
		w.WriteString("…")
		return
	}
	if !v.IsValid() {
		w.WriteString("<nil>")
		return
	}
	if _, ok := t.Underlying().(*types.Interface); !ok {
		for v.Kind() == reflect.Interface && !v.IsNil() { // Yaegi's recursive types
			v = v.Elem()
		}
	}
	name := ""
	if n, ok := types.Unalias(t).(*types.Named); ok {
		name = versioned.ReplaceAllString(typeString(n, w.pkg), "$1") // an earlier version has the same name
		if !w.session.packages.interpreted(n.Origin().Obj(), w.pkg) && v.CanInterface() && !types.IsInterface(n) {
			w.foreign(v)
			return
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		if v.Kind() == reflect.Struct && v.NumField() == u.NumFields() {
			w.structure(v, u, name, depth)
			return
		}
	case *types.Pointer:
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				w.WriteString("<nil>")
			} else if describes(v) {
				w.foreign(v)
			} else if _, ok := u.Elem().Underlying().(*types.Struct); ok {
				w.WriteByte('&')
				w.value(v.Elem(), u.Elem(), depth+1)
			} else if depth == 0 {
				w.WriteByte('&')
				w.value(v.Elem(), u.Elem(), depth+1)
			} else {
				fmt.Fprintf(w, "%#x", v.Pointer())
			}
			return
		}
	case *types.Slice:
		w.list(v, u.Elem(), depth)
		return
	case *types.Array:
		w.list(v, u.Elem(), depth)
		return
	case *types.Map:
		if v.Kind() == reflect.Map {
			w.table(v, u, depth)
			return
		}
	case *types.Signature:
		w.WriteString(typeString(t, w.pkg))
		return
	case *types.Interface:
		w.dynamic(v, depth)
		return
	}
	w.foreign(v)
}

// describes tells whether a pointer to a compiled type says what it points to.
func describes(v reflect.Value) bool {
	if !v.CanInterface() || v.Type().Elem().PkgPath() == "main" {
		return false
	}
	_, ok := v.Interface().(fmt.Stringer)
	return ok
}

func (w *writer) structure(v reflect.Value, t *types.Struct, name string, depth int) {
	w.WriteString(name)
	w.WriteByte('{')
	for i := range t.NumFields() {
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteString(t.Field(i).Name())
		w.WriteByte(':')
		w.value(fieldOf(v, i), t.Field(i).Type(), depth+1)
	}
	w.WriteByte('}')
}

func (w *writer) list(v reflect.Value, elem types.Type, depth int) {
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

func (w *writer) table(v reflect.Value, t *types.Map, depth int) {
	type entry struct{ key, value string }
	var list []entry
	text := func(v reflect.Value, t types.Type) string {
		x := writer{session: w.session, pkg: w.pkg}
		x.value(v, t, depth+1)
		return x.String()
	}
	for it := v.MapRange(); it.Next(); {
		list = append(list, entry{text(it.Key(), t.Key()), text(it.Value(), t.Elem())})
	}
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(len(a.key)*numeric(t.Key()), len(b.key)*numeric(t.Key())), cmp.Compare(a.key, b.key))
	})
	w.WriteString("map[")
	for i, e := range list {
		if i > 0 {
			w.WriteByte(' ')
		}
		if i >= maxItems {
			fmt.Fprintf(w, "… %d more", len(list)-i)
			break
		}
		w.WriteString(e.key + ":" + e.value)
	}
	w.WriteByte(']')
}

// numeric is 1 for integer keys, whose texts sort by length first.
func numeric(t types.Type) int {
	if b, ok := t.Underlying().(*types.Basic); ok && b.Info()&types.IsInteger != 0 {
		return 1
	}
	return 0
}

// dynamic writes what an interface holds.
func (w *writer) dynamic(v reflect.Value, depth int) {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		w.WriteString("<nil>")
		return
	}
	if x, name, ok := w.session.engine.Inside(v); ok {
		if t := w.session.typeNamed(w.pkg, name); t != nil {
			if p, ok := types.Unalias(t).(*types.Named); ok && x.Kind() == reflect.Pointer {
				if _, isPointer := p.Underlying().(*types.Pointer); !isPointer {
					t = types.NewPointer(t)
				}
			}
			w.value(x, t, depth+1)
			return
		}
		v = x
	}
	w.foreign(v)
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
	if s := v; s.Kind() == reflect.Struct || s.Kind() == reflect.Pointer && s.Elem().Kind() == reflect.Struct {
		if s.Kind() == reflect.Pointer {
			s = s.Elem()
		}
		if s.Type().Name() == "" && exported(s.Type()) {
			w.anonymous(v)
			return
		}
	}
	text, _ := display.Of(v.Interface()).Data["text/plain"].(string)
	w.WriteString(text)
}

// exported tells whether the fields of a struct have the X that Yaegi puts before
// those that are not exported.
func exported(t reflect.Type) bool {
	for i := range t.NumField() {
		if !strings.HasPrefix(t.Field(i).Name, "X") {
			return false
		}
	}
	return t.NumField() > 0
}

// anonymous writes a struct of an interpreted type that is not known.
func (w *writer) anonymous(v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		w.WriteByte('&')
		v = v.Elem()
	}
	w.WriteByte('{')
	for i := range v.NumField() {
		if i > 0 {
			w.WriteByte(' ')
		}
		w.WriteString(v.Type().Field(i).Name[1:] + ":")
		w.foreign(v.Field(i))
	}
	w.WriteByte('}')
}

// typeNamed returns the session's type that the engine calls by slot name.
func (s *Session) typeNamed(pkg *types.Package, slot string) types.Type {
	for _, list := range [][]*binding{s.current(), s.env.old} {
		for _, b := range list {
			if b.kind == kindType && b.slot == slot {
				if o := pkg.Scope().Lookup(b.check); o != nil {
					return o.Type()
				}
			}
		}
	}
	if o, ok := s.packages.object(slot).(*types.TypeName); ok {
		return o.Type()
	}
	return nil
}

func (s *Session) current() []*binding {
	var list []*binding
	for _, b := range s.env.cur {
		list = append(list, b)
	}
	return list
}
