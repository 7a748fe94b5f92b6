package lower

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"halfnote/interp/internal/dynamic"
)

// typeText writes a type as package reflect does.
func typeText(t types.Type, name func(*types.Named) string) string {
	text := func(t types.Type) string { return typeText(t, name) }
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		if t.Kind() == types.Uint8 || t.Kind() == types.Int32 {
			return types.Typ[t.Kind()].Name()
		}
		return t.Name()
	case *types.Named:
		return name(t)
	case *types.Pointer:
		return "*" + text(t.Elem())
	case *types.Slice:
		return "[]" + text(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), text(t.Elem()))
	case *types.Map:
		return "map[" + text(t.Key()) + "]" + text(t.Elem())
	case *types.Chan:
		elem := text(t.Elem())
		switch t.Dir() {
		case types.SendOnly:
			return "chan<- " + elem
		case types.RecvOnly:
			return "<-chan " + elem
		}
		if strings.HasPrefix(elem, "<-") {
			elem = "(" + elem + ")"
		}
		return "chan " + elem
	case *types.Signature:
		return "func" + signatureText(t, name)
	case *types.Struct:
		var list []string
		for i := range t.NumFields() {
			f := t.Field(i)
			s := text(f.Type())
			if !f.Embedded() {
				s = f.Name() + " " + s
			}
			if t.Tag(i) != "" {
				s += fmt.Sprintf(" %q", t.Tag(i))
			}
			list = append(list, s)
		}
		if len(list) == 0 {
			return "struct {}"
		}
		return "struct { " + strings.Join(list, "; ") + " }"
	case *types.Interface:
		var list []string
		for m := range t.Methods() {
			list = append(list, m.Name()+signatureText(m.Signature(), name))
		}
		if len(list) == 0 {
			return "interface {}"
		}
		return "interface { " + strings.Join(list, "; ") + " }"
	}
	return t.String()
}

func signatureText(t *types.Signature, name func(*types.Named) string) string {
	list := func(tuple *types.Tuple, variadic bool) string {
		var all []string
		for i := range tuple.Len() {
			v := tuple.At(i).Type()
			if s, ok := types.Unalias(v).(*types.Slice); ok && variadic && i == tuple.Len()-1 {
				all = append(all, "..."+typeText(s.Elem(), name))
				continue
			}
			all = append(all, typeText(v, name))
		}
		return strings.Join(all, ", ")
	}
	s := "(" + list(t.Params(), t.Variadic()) + ")"
	switch t.Results().Len() {
	case 0:
		return s
	case 1:
		return s + " " + list(t.Results(), false)
	}
	return s + " (" + list(t.Results(), false) + ")"
}

// id returns the identity of a type: its text with the engine's names.
func (u *Unit) id(t types.Type) string { return typeText(t, u.engineName) }

func (u *Unit) engineName(n *types.Named) string {
	o := n.Obj()
	switch {
	case o.Pkg() == nil:
		return o.Name()
	case !u.ours(o):
		return o.Pkg().Name() + "." + o.Name() + typeArguments(n, u.engineName)
	case n.TypeArgs().Len() == 0:
		return u.nameOf(o)
	}
	var args []string
	for t := range n.TypeArgs().Types() {
		args = append(args, argumentText(t, u.Pkg))
	}
	text := u.nameOf(o) + "[" + strings.Join(args, ",") + "]"
	if name := u.Instances[text]; name != "" {
		return name
	}
	return text
}

// argumentText returns the text of a type argument in a name of an instance, the same for identical
// types: rune is int32 there, and an alias is the type that it denotes.
func argumentText(t types.Type, pkg *types.Package) string {
	path := func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Path()
	}
	w := typeWriter{plain: true, name: func(o *types.TypeName) (ast.Expr, error) {
		if o.Pkg() == nil || path(o.Pkg()) == "" {
			return ident(o.Name()), nil
		}
		return ident(path(o.Pkg()) + "." + o.Name()), nil
	}}
	if s := strings.Join(strings.Fields(Print(w.expr(t))), " "); w.err == nil && w.respelled {
		return s
	}
	return types.TypeString(t, path)
}

func typeArguments(n *types.Named, name func(*types.Named) string) string {
	if n.TypeArgs().Len() == 0 {
		return ""
	}
	var args []string
	for t := range n.TypeArgs().Types() {
		args = append(args, typeText(t, name))
	}
	return "[" + strings.Join(args, ",") + "]"
}

// nameOf returns the engine's name of a type of the session.
func (u *Unit) nameOf(o *types.TypeName) string {
	if e, err := u.Name(o); err == nil {
		return Print(e)
	}
	return o.Name()
}

// goName returns the text that Go shows for a type.
func (u *Unit) goName(t types.Type) string {
	return typeText(t, func(n *types.Named) string {
		switch {
		case !u.ours(n.Obj()), u.Label == nil:
			return u.engineName(n)
		}
		return u.Label(u.engineName(n))
	})
}

// Describe returns the run-time description of a type of the session.
func (u *Unit) Describe(t types.Type) *dynamic.Type { return u.describe(t) }

// describe returns the run-time description of a type of the session.
func (u *Unit) describe(t types.Type) *dynamic.Type {
	t = types.Unalias(t)
	return u.Types.Type(u.id(t), func(d *dynamic.Type) {
		d.Name, d.Boxed = u.goName(t), u.boxed(t)
		if n, ok := t.(*types.Named); ok {
			if d.Named = u.ownNamed(n); !d.Named && !u.isInterface(t) {
				return
			}
		}
		switch t := t.Underlying().(type) {
		case *types.Basic:
			d.Kind = kinds[t.Kind()]
			if !d.Named {
				d.Kind = reflect.Invalid
			}
		case *types.Pointer:
			d.Kind, d.Elem = reflect.Pointer, u.describe(t.Elem())
		case *types.Slice:
			d.Kind, d.Elem = reflect.Slice, u.describe(t.Elem())
		case *types.Array:
			d.Kind, d.Elem = reflect.Array, u.describe(t.Elem())
		case *types.Chan:
			d.Kind, d.Elem = reflect.Chan, u.describe(t.Elem())
		case *types.Map:
			d.Kind, d.Key, d.Elem = reflect.Map, u.describe(t.Key()), u.describe(t.Elem())
		case *types.Signature:
			d.Kind = reflect.Func
			for v := range t.Params().Variables() {
				d.Params = append(d.Params, u.describe(v.Type()))
			}
			for v := range t.Results().Variables() {
				d.Results = append(d.Results, u.describe(v.Type()))
			}
		case *types.Struct:
			d.Kind = reflect.Struct
			for i := range t.NumFields() {
				f := t.Field(i)
				d.Fields = append(d.Fields, dynamic.Field{
					Name: u.shownName(f), Tag: t.Tag(i), Exported: f.Exported(), Embedded: f.Embedded(), Type: u.describe(f.Type()),
				})
			}
		case *types.Interface:
			d.Kind = reflect.Interface
			for m := range t.Methods() {
				d.Methods = append(d.Methods, dynamic.Method{Name: m.Name(), Sig: "func" + signatureText(m.Signature(), u.engineName)})
			}
		}
	})
}

// shownName returns the name that Go shows for a field: an embedded one is named after its type, without
// the session's number for a version or an instance of it.
func (u *Unit) shownName(f *types.Var) string {
	o := TypeName(f.Type())
	if !f.Embedded() || o == nil || !u.ours(o) || u.Label == nil {
		return f.Name()
	}
	name, _, _ := strings.Cut(u.Label(u.nameOf(o.(*types.TypeName))), "[")
	return name[strings.LastIndexByte(name, '.')+1:]
}

var kinds = map[types.BasicKind]reflect.Kind{
	types.Bool: reflect.Bool, types.String: reflect.String, types.UnsafePointer: reflect.UnsafePointer,
	types.Int: reflect.Int, types.Int8: reflect.Int8, types.Int16: reflect.Int16, types.Int32: reflect.Int32, types.Int64: reflect.Int64,
	types.Uint: reflect.Uint, types.Uint8: reflect.Uint8, types.Uint16: reflect.Uint16, types.Uint32: reflect.Uint32,
	types.Uint64: reflect.Uint64, types.Uintptr: reflect.Uintptr,
	types.Float32: reflect.Float32, types.Float64: reflect.Float64,
	types.Complex64: reflect.Complex64, types.Complex128: reflect.Complex128,
}
