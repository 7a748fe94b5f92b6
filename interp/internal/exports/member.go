package exports

import (
	"go/types"
	"strings"
)

// displays holds the names of methods by which package display shows a value.
var displays = map[string]bool{"Bundle": true, "HTML": true, "InTheme": true, "LaTeX": true, "Markdown": true, "MimeBundle": true}

// Displays reports whether o is a method by which package display shows a value of a type of halfnote. Lists of members
// leave these out: cells do not call them.
func Displays(o types.Object) bool {
	f, ok := o.(*types.Func)
	return ok && f.Signature().Recv() != nil && displays[o.Name()] && o.Pkg() != nil && strings.HasPrefix(o.Pkg().Path(), "halfnote/")
}

// Member names o within its package as Doc does: "Type.Name" for methods
// and fields.
func Member(o types.Object, scope *types.Scope) string {
	switch o := o.(type) {
	case *types.Func:
		if recv := o.Signature().Recv(); recv != nil {
			t := recv.Type()
			if ptr, ok := t.(*types.Pointer); ok {
				t = ptr.Elem()
			}
			if n, ok := t.(*types.Named); ok {
				return n.Obj().Name() + "." + o.Name()
			}
			return owner(o, scope) + "." + o.Name()
		}
	case *types.Var:
		if o.IsField() {
			return owner(o.Origin(), scope) + "." + o.Name()
		}
	}
	return o.Name()
}

// owner finds the type in a scope that declares a field or an interface's method.
func owner(o types.Object, scope *types.Scope) string {
	for _, name := range scope.Names() {
		t, ok := scope.Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		switch u := t.Type().Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				if f == o {
					return name
				}
			}
		case *types.Interface:
			for m := range u.ExplicitMethods() {
				if m == o {
					return name
				}
			}
		}
	}
	return ""
}
