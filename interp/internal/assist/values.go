package assist

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"math/big"
	"reflect"
	"strings"

	"halfnote/internal/text"
	"halfnote/interp/internal/peek"
)

// value returns the current value of an expression, if it can be determined without
// running code: variables of the session and of packages, their fields and elements.
func (p *probe) value(e ast.Expr) (v reflect.Value, ok bool) {
	if p.Values == nil || p.pkg == nil {
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
		return peek.Concrete(p.eval(e.X)).Elem()
	case *ast.Ident:
		if o, ok := p.info.Uses[e].(*types.Var); ok && o.Parent() == p.pkg.Scope() {
			return p.Values.Variable("", o.Name())
		}
	case *ast.SelectorExpr:
		if o, ok := p.info.Uses[e.Sel].(*types.Var); ok && !o.IsField() && o.Pkg() != p.pkg {
			return p.Values.Variable(o.Pkg().Path(), o.Name())
		}
		sel := p.info.Selections[e]
		if sel == nil || sel.Kind() != types.FieldVal {
			return reflect.Value{}
		}
		v := p.eval(e.X)
		for _, i := range sel.Index() {
			if v = peek.Concrete(v); v.Kind() == reflect.Pointer {
				v = peek.Concrete(v.Elem())
			}
			v = peek.Field(v, i)
		}
		return v
	case *ast.IndexExpr:
		return element(peek.Concrete(p.eval(e.X)), p.info.Types[e.Index].Value, p.Values.Idle())
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
	if x, t, ok := p.Values.Inside(p.checked(), v); ok {
		if t == nil || !x.IsValid() {
			return x, nil
		}
		if _, is := t.Underlying().(*types.Pointer); !is && x.Kind() == reflect.Pointer {
			t = types.NewPointer(t)
		}
		return x, t
	}
	if v = peek.Concrete(v); !v.IsValid() {
		return v, nil
	}
	return v, p.typeOf(v.Type())
}

// typeOf returns the type of package go/types for a compiled type.
func (p *probe) typeOf(t reflect.Type) types.Type {
	if t.PkgPath() != "" && t.Name() != "" {
		p.Checking.Lock()
		pkg, err := p.Importer.Import(t.PkgPath())
		p.Checking.Unlock()
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
func (p *probe) text(v reflect.Value, t types.Type, max int) (shown string) {
	defer func() {
		if r := recover(); r != nil {
			shown = fmt.Sprintf("(cannot be shown: %v)", r)
		}
	}()
	x := peek.Concrete(v)
	if peek.IsNil(x) {
		return "<nil>"
	}
	if !p.Values.Idle() && peek.HoldsMap(t) {
		return "(a goroutine may be changing it)"
	}
	if x.IsValid() && peek.IsCompiled(x) && x.CanInterface() {
		switch x := x.Interface().(type) {
		case *big.Int: // its text takes time that grows faster than its length
			if n := x.BitLen(); n > 1<<20 {
				return fmt.Sprintf("a number of %d bits", n)
			}
			return text.Cut(x.String(), max)
		case fmt.Stringer:
			return text.Cut(x.String(), max)
		case error:
			return text.Cut(x.Error(), max)
		}
	}
	b := p.Values.Show(p.checked(), v, t)
	s, _ := b.Data["text/plain"].(string)
	return text.Cut(s, max)
}
