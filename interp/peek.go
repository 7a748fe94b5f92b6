package interp

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"reflect"
	"strings"

	"halfnote/interp/internal/symbols"
)

// look makes the values of the session readable through snap until done is called. It
// grants no access while a cell runs: reading values that are being changed can end the
// process.
func (s *Session) look(snap *snapshot) (done func()) {
	if !s.running.TryLock() {
		return func() {}
	}
	snap.session = s
	return s.running.Unlock
}

// idle reports whether maps can be read: no goroutine of a cell is left that could write
// to one.
func (s *Session) idle() bool { return s.live.Others() == 0 }

// value returns the current value of an expression, if it can be determined without
// running code: variables of the session and of packages, their fields and elements.
func (p *probe) value(e ast.Expr) (v reflect.Value, ok bool) {
	if p.session == nil || p.pkg == nil {
		return v, false
	}
	defer func() {
		if recover() != nil { // the cell redeclares something that the value is made of
			v, ok = reflect.Value{}, false
		}
	}()
	v = p.eval(e)
	return v, v.IsValid()
}

func (p *probe) eval(e ast.Expr) reflect.Value {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return p.eval(e.X)
	case *ast.StarExpr:
		return concrete(p.eval(e.X)).Elem()
	case *ast.Ident:
		if o, ok := p.info.Uses[e].(*types.Var); ok && o.Parent() == p.pkg.Scope() {
			return p.session.variable(o.Name())
		}
	case *ast.SelectorExpr:
		if o, ok := p.info.Uses[e.Sel].(*types.Var); ok && !o.IsField() && o.Pkg() != p.pkg {
			if v := symbols.Table(o.Pkg().Path())[o.Name()]; v.CanAddr() {
				return v
			}
			return reflect.Value{}
		}
		sel := p.info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			return reflect.Value{}
		}
		v := p.eval(e.X)
		for _, i := range sel.Index() {
			if v = concrete(v); v.Kind() == reflect.Pointer {
				v = concrete(v.Elem())
			}
			v = fieldOf(v, i)
		}
		return v
	case *ast.IndexExpr:
		return element(concrete(p.eval(e.X)), p.info.Types[e.Index].Value, p.session.idle())
	}
	return reflect.Value{}
}

// element returns an element of a list or map.
func element(v reflect.Value, key constant.Value, idle bool) reflect.Value {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if i, ok := constant.Int64Val(constant.ToInt(key)); ok {
			return v.Index(int(i))
		}
	case reflect.Map:
		if !idle {
			break
		}
		k := reflect.New(v.Type().Key()).Elem()
		switch {
		case key.Kind() == constant.String && k.Kind() == reflect.String:
			k.SetString(constant.StringVal(key))
		case k.CanInt():
			i, _ := constant.Int64Val(constant.ToInt(key))
			k.SetInt(i)
		default:
			return reflect.Value{}
		}
		return v.MapIndex(k)
	}
	return reflect.Value{}
}

// concrete unwraps a value from its interfaces.
func concrete(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// variable returns a variable of the session.
func (s *Session) variable(name string) reflect.Value {
	if b := s.env.cur[name]; b != nil && b.kind == kindVar {
		v, _ := s.engine.Slot(b.slot)
		return v
	}
	for _, kept := range s.outs.kept {
		if kept.check == name {
			v, _ := s.engine.Slot(kept.slot)
			return v
		}
	}
	if name == inName {
		return reflect.ValueOf(s.inputs())
	}
	return reflect.Value{}
}

// holds returns the dynamic type of an expression of an interface type, or nil if it is
// unknown.
func (p *probe) holds(e ast.Expr) types.Type {
	v, ok := p.value(e)
	if !ok {
		return nil
	}
	_, t := p.inside(v)
	return t
}

// inside returns the value in an interface and its type, which is nil if it has no name
// here.
func (p *probe) inside(v reflect.Value) (reflect.Value, types.Type) {
	if x, name, ok := p.session.inside(v); ok {
		t := p.session.typeNamed(p.pkg, name)
		if t == nil || !x.IsValid() {
			return x, nil
		}
		if _, is := t.Underlying().(*types.Pointer); !is && x.Kind() == reflect.Pointer {
			t = types.NewPointer(t)
		}
		return x, t
	}
	if v = concrete(v); !v.IsValid() {
		return v, nil
	}
	return v, p.typeOf(v.Type())
}

// typeOf returns the type of package go/types for a compiled type.
func (p *probe) typeOf(t reflect.Type) types.Type {
	if t.PkgPath() != "" && t.Name() != "" {
		p.checking.Lock()
		pkg, err := p.importer.Import(t.PkgPath())
		p.checking.Unlock()
		if err == nil && !strings.ContainsRune(t.Name(), '[') {
			if o, ok := pkg.Scope().Lookup(t.Name()).(*types.TypeName); ok && o.Exported() {
				return o.Type()
			}
		}
		return nil
	}
	if t.Name() != "" {
		if o, ok := types.Universe.Lookup(t.Name()).(*types.TypeName); ok {
			return o.Type()
		}
		return nil
	}
	var elem types.Type
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Chan:
		if elem = p.typeOf(t.Elem()); elem == nil {
			return nil
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return types.NewPointer(elem)
	case reflect.Slice:
		return types.NewSlice(elem)
	case reflect.Array:
		return types.NewArray(elem, int64(t.Len()))
	case reflect.Map:
		if key := p.typeOf(t.Key()); key != nil {
			return types.NewMap(key, elem)
		}
	}
	return nil
}

// text formats a value in at most max code points.
func (p *probe) text(v reflect.Value, t types.Type, max int) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("(cannot be shown: %v)", r)
		}
	}()
	x := concrete(v)
	if isNil(x) {
		return "<nil>"
	}
	if !p.session.idle() && holdsMap(t, map[types.Type]bool{}) {
		return "(a goroutine may be changing it)"
	}
	if x.IsValid() && isCompiled(x) && x.CanInterface() {
		switch x := x.Interface().(type) {
		case fmt.Stringer:
			return cut(x.String(), max)
		case error:
			return cut(x.Error(), max)
		}
	}
	b := p.session.show(&cell{pkg: p.pkg}, v, t)
	s, _ := b.Data["text/plain"].(string)
	return cut(s, max)
}

// holdsMap reports whether a value of a type can contain a map. Reading a map during a
// write ends the process.
func holdsMap(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Map, *types.Interface:
		return true
	case *types.Pointer:
		return holdsMap(u.Elem(), seen)
	case *types.Slice:
		return holdsMap(u.Elem(), seen)
	case *types.Array:
		return holdsMap(u.Elem(), seen)
	case *types.Struct:
		for f := range u.Fields() {
			if holdsMap(f.Type(), seen) {
				return true
			}
		}
	}
	return false
}

// cut shortens a text to at most max code points. It reads no more of the text than those, since a
// variable may hold gigabytes.
func cut(text string, max int) string {
	n, last := 0, 0
	for i := range text {
		if n == max {
			return text[:last] + "…"
		}
		n, last = n+1, i
	}
	return text
}
