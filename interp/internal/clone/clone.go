// Package clone copies Go trees.
package clone

import (
	"go/ast"
	"reflect"
)

// Tree returns a deep copy of a tree. If replace returns an expression for an
// identifier of the original, the copy has that instead; replace may be nil.
func Tree[N ast.Node](n N, replace func(*ast.Ident) ast.Expr) N {
	c := cloner{replace}
	return c.copy(reflect.ValueOf(n)).Interface().(N)
}

type cloner struct {
	replace func(*ast.Ident) ast.Expr
}

func (c cloner) copy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		//lint:ignore SA1019 the parser may have set the field, which a copy leaves out
		if v.IsNil() || v.Type() == reflect.TypeFor[*ast.Object]() {
			return reflect.Zero(v.Type())
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(c.copy(v.Elem()))
		return p
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		if id, ok := v.Elem().Interface().(*ast.Ident); ok && c.replace != nil && v.Type() == reflect.TypeFor[ast.Expr]() {
			if e := c.replace(id); e != nil {
				return reflect.ValueOf(e)
			}
		}
		return c.copy(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(c.copy(v.Index(i)))
		}
		return list
	case reflect.Struct:
		s := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			s.Field(i).Set(c.copy(v.Field(i)))
		}
		return s
	}
	return v
}
