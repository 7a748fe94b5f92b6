package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"halfnote/interp/internal/dynamic"
)

// typeWords writes types as package reflect does. Named writes a declared type.
type typeWords struct {
	named func(n *types.Named, argument bool) string
	// argument writes a type argument in the name of an instance: there packages have their paths, and
	// unexported names the package.
	argument bool
}

// typeText writes a type as package reflect does.
func typeText(t types.Type, name func(*types.Named) string) string {
	return typeWords{named: func(n *types.Named, _ bool) string { return name(n) }}.text(t)
}

func signatureText(t *types.Signature, name func(*types.Named) string) string {
	return typeWords{named: func(n *types.Named, _ bool) string { return name(n) }}.signature(t)
}

func (w typeWords) text(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		switch t.Kind() {
		case types.Uint8, types.Int32:
			return types.Typ[t.Kind()].Name()
		case types.UnsafePointer:
			return "unsafe.Pointer"
		}
		return t.Name()
	case *types.Named:
		return w.named(t, w.argument)
	case *types.Pointer:
		return "*" + w.text(t.Elem())
	case *types.Slice:
		return "[]" + w.text(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), w.text(t.Elem()))
	case *types.Map:
		return "map[" + w.text(t.Key()) + "]" + w.text(t.Elem())
	case *types.Chan:
		elem := w.text(t.Elem())
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
		return "func" + w.signature(t)
	case *types.Struct:
		return words("struct", t.NumFields(), func(i int) string {
			tag := ""
			if t.Tag(i) != "" {
				tag = fmt.Sprintf(" %q", t.Tag(i))
			}
			return w.field(t.Field(i)) + tag
		})
	case *types.Interface:
		return words("interface", t.NumMethods(), func(i int) string {
			m := t.Method(i)
			return w.member(m, true) + w.signature(m.Signature())
		})
	}
	return t.String()
}

// words writes a struct or interface of n members.
func words(kind string, n int, member func(int) string) string {
	if n == 0 {
		return kind + " {}"
	}
	var list []string
	for i := range n {
		list = append(list, member(i))
	}
	return kind + " { " + strings.Join(list, "; ") + " }"
}

// field writes a field without its tag. In a type argument an embedded field has its name if that of the type is
// another one.
func (w typeWords) field(f *types.Var) string {
	text := w.text(f.Type())
	if !f.Embedded() {
		return w.member(f, w.argument) + " " + text
	}
	name := strings.TrimPrefix(text, "*")
	i := strings.IndexAny(name, "[·")
	switch {
	case !w.argument || i < 0 && strings.Contains(name, "."):
		return text
	case i < 0: // a type of the language
		name = f.Pkg().Name() + "." + name
	default:
		name = name[:i]
	}
	if short := name[strings.LastIndexByte(name, '.')+1:]; token.IsExported(short) {
		name = short
	}
	return name + " = " + text
}

// member writes the name of a field or method.
func (w typeWords) member(o types.Object, qualified bool) string {
	if qualified && !o.Exported() {
		return o.Pkg().Name() + "." + o.Name()
	}
	return o.Name()
}

func (w typeWords) signature(t *types.Signature) string {
	list := func(tuple *types.Tuple, variadic bool) string {
		var all []string
		for i := range tuple.Len() {
			v := tuple.At(i).Type()
			if s, ok := types.Unalias(v).(*types.Slice); ok && variadic && i == tuple.Len()-1 {
				all = append(all, "..."+w.text(s.Elem()))
				continue
			}
			all = append(all, w.text(v))
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

func (u *Unit) engineName(n *types.Named) string { return u.engineNameIn(n, false) }

// engineNameIn is engineName, or the name in a type argument of a type of a package.
func (u *Unit) engineNameIn(n *types.Named, argument bool) string {
	o := n.Obj()
	switch {
	case o.Pkg() == nil:
		return o.Name()
	case !u.ours(o):
		pkg := o.Pkg().Name()
		if argument {
			pkg = o.Pkg().Path()
		}
		return pkg + "." + o.Name() + u.typeArguments(n)
	case n.TypeArgs().Len() == 0:
		return u.nameOf(o)
	}
	var args []string
	for t := range n.TypeArgs().Types() {
		args = append(args, argumentText(t, func(n *types.Named) string {
			if u.ours(n.Obj()) {
				return u.engineName(n)
			}
			return ""
		}))
	}
	text := u.nameOf(o) + "[" + strings.Join(args, ",") + "]"
	if name := u.Instances[text]; name != "" {
		return name
	}
	return text
}

// argumentText returns the text of a type argument in a name of an instance, the same for identical
// types: rune is int32 there, and an alias is the type that it denotes. Name returns the engine's name of a type, or "".
func argumentText(t types.Type, name func(*types.Named) string) string {
	w := typeWriter{plain: name, name: func(o *types.TypeName) (ast.Expr, error) {
		if o.Pkg() == nil {
			return ident(o.Name()), nil
		}
		return ident(o.Pkg().Path() + "." + o.Name()), nil
	}}
	e := w.expr(t)
	if w.err != nil { // a type without a name
		return types.TypeString(t, nil)
	}
	return strings.Join(strings.Fields(Print(e)), " ")
}

// typeArguments writes the type arguments of a type of a package as package reflect does.
func (u *Unit) typeArguments(n *types.Named) string {
	if n.TypeArgs().Len() == 0 {
		return ""
	}
	var args []string
	for t := range n.TypeArgs().Types() {
		args = append(args, typeWords{argument: true, named: u.engineNameIn}.text(t))
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
	label := u.Label
	if label == nil {
		label = func(name string, argument bool) string { return name }
	}
	var name func(n *types.Named, argument bool) string
	name = func(n *types.Named, argument bool) string {
		if !u.ours(n.Obj()) {
			return ""
		}
		if slot := u.engineName(n); !strings.Contains(slot, "[") {
			return label(slot, argument)
		}
		return label(u.nameOf(n.Obj()), argument) + Arguments(n.TypeArgs(), name)
	}
	return GoName(t, name)
}

// GoName returns the text that Go shows for a type. Label returns the name of a type of interpreted code, which
// differs in type arguments, or "" for a type of compiled packages.
func GoName(t types.Type, label func(n *types.Named, argument bool) string) string {
	return goWords(label, false).text(t)
}

// goWords writes types as Go shows them.
func goWords(label func(n *types.Named, argument bool) string, argument bool) typeWords {
	return typeWords{argument: argument, named: func(n *types.Named, argument bool) string {
		if name := label(n, argument); name != "" {
			return name
		}
		o := n.Obj()
		switch {
		case o.Pkg() == nil:
			return o.Name()
		case argument:
			return o.Pkg().Path() + "." + o.Name() + Arguments(n.TypeArgs(), label)
		}
		return o.Pkg().Name() + "." + o.Name() + Arguments(n.TypeArgs(), label)
	}}
}

// Arguments returns the text of type arguments in the name that Go shows for an instance.
func Arguments(list *types.TypeList, label func(n *types.Named, argument bool) string) string {
	if list.Len() == 0 {
		return ""
	}
	var args []string
	for t := range list.Types() {
		args = append(args, goWords(label, true).text(t))
	}
	return "[" + strings.Join(args, ",") + "]"
}

// Describe returns the run-time description of a type of the session.
func (u *Unit) Describe(t types.Type) *dynamic.Type { return u.describe(t) }

// describe returns the run-time description of a type of the session.
func (u *Unit) describe(t types.Type) *dynamic.Type {
	t = types.Unalias(t)
	return u.Types.Type(u.id(t), func(d *dynamic.Type) {
		d.Name, d.Boxed = u.goName(t), u.boxed(t)
		if n, ok := t.(*types.Named); ok {
			if d.Named = u.ownNamed(n) || u.nameless(n); !d.Named && !u.isInterface(t) {
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
	name, _, _ := strings.Cut(u.Label(u.nameOf(o.(*types.TypeName)), false), "[")
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
