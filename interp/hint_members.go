package interp

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// memberHint suggests the fields and methods with similar names.
func (a *attempt) memberHint(msg string, path []ast.Node) string {
	if strings.Contains(msg, ", but does have ") {
		return ""
	}
	if strings.HasPrefix(msg, "unknown field ") {
		lit, ok := within[*ast.CompositeLit](path)
		id, isID := path[0].(*ast.Ident)
		if !ok || !isID {
			return ""
		}
		t := cmp.Or(a.info.TypeOf(lit), a.info.TypeOf(lit.Type))
		if t == nil {
			return ""
		}
		var names []string
		if st, ok := deref(t).Underlying().(*types.Struct); ok {
			for f := range st.Fields() {
				names = append(names, f.Name())
			}
		}
		return cmp.Or(meant(id.Name, names), listed("the fields are ", names))
	}
	sel, ok := within[*ast.SelectorExpr](path)
	if !ok {
		return ""
	}
	t := a.info.TypeOf(sel.X)
	if t == nil {
		return ""
	}
	call, _ := within[*ast.CallExpr](path)
	return cmp.Or(a.functionHint(sel, call, t), renamedMethods[typeString(t, a.pkg)+"."+sel.Sel.Name], a.membersHint(sel.Sel.Name, t))
}

// membersHint suggests the members of a type with names similar to name. If a type of a package has
// few members, it lists all of them.
func (a *attempt) membersHint(name string, t types.Type) string {
	names := members(t, a.pkg)
	h := meant(name, names)
	named, ok := types.Unalias(deref(t)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == a.pkg {
		return h
	}
	return strings.TrimSpace(h + " " + listed(typeString(t, a.pkg)+" has ", slices.Sorted(slices.Values(names))))
}

// functionHint suggests the function that does what a missing method would, such as
// nn.Parameters(net) for net.Parameters(), or returns "". The call, if any, has the other arguments.
func (a *attempt) functionHint(sel *ast.SelectorExpr, call *ast.CallExpr, t types.Type) string {
	var pkgs []*types.Package
	if named, ok := types.Unalias(deref(t)).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg() != a.pkg {
		pkgs = append(pkgs, named.Obj().Pkg())
	} else if p, ok := types.Unalias(t).(*types.Pointer); ok {
		if named, ok := types.Unalias(p.Elem()).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg() != a.pkg {
			pkgs = append(pkgs, named.Obj().Pkg())
		}
	}
	pkgs = append(pkgs, a.pkg.Imports()...)
	for _, pkg := range pkgs {
		fn, ok := pkg.Scope().Lookup(sel.Sel.Name).(*types.Func)
		if !ok {
			continue
		}
		params := fn.Signature().Params()
		if params.Len() == 0 {
			continue
		}
		first := params.At(0).Type()
		if list, ok := first.(*types.Slice); ok && params.Len() == 1 && fn.Signature().Variadic() {
			first = list.Elem()
		}
		if types.AssignableTo(t, first) {
			args := []string{types.ExprString(sel.X)}
			if call != nil && ast.Unparen(call.Fun) == ast.Expr(sel) {
				for _, arg := range call.Args {
					args = append(args, types.ExprString(arg))
				}
			}
			return fmt.Sprintf("%s.%s(%s) is a function", pkg.Name(), fn.Name(), strings.Join(args, ", "))
		}
	}
	return ""
}

// listed joins up to a dozen names after a text. It returns "" for none or more.
func listed(text string, names []string) string {
	if len(names) == 0 || len(names) > 12 {
		return ""
	}
	return text + strings.Join(names, ", ")
}

// members lists the fields and methods of a type that code of pkg can name.
func members(t types.Type, pkg *types.Package) []string {
	var names []string
	recv := t
	if _, ok := t.Underlying().(*types.Pointer); !ok && !types.IsInterface(t) {
		recv = types.NewPointer(t)
	}
	ms := types.NewMethodSet(recv)
	for m := range ms.Methods() {
		if m.Obj().Exported() || m.Obj().Pkg() == pkg {
			names = append(names, m.Obj().Name())
		}
	}
	seen := map[types.Type]bool{}
	var fields func(types.Type)
	fields = func(t types.Type) {
		st, ok := deref(t).Underlying().(*types.Struct)
		if !ok || seen[t] {
			return
		}
		seen[t] = true
		for f := range st.Fields() {
			if f.Exported() || f.Pkg() == pkg {
				names = append(names, f.Name())
			}
			if f.Embedded() {
				fields(f.Type())
			}
		}
	}
	fields(t)
	return names
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
