package front

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"halfnote/interp/internal/exports"
)

// memberHint suggests the fields and methods with similar names.
func (a *attempt) memberHint(msg string, path []ast.Node) string {
	if h := a.otherCaseHint(msg, path); h != "" {
		return h
	}
	if strings.HasPrefix(msg, "unknown field ") {
		lit, ok := within[*ast.CompositeLit](path)
		id, isID := path[0].(*ast.Ident)
		if !ok || !isID {
			return ""
		}
		t := cmp.Or(a.info.TypeOf(lit), a.info.TypeOf(lit.Type), a.elementOf(lit, path))
		if t == nil {
			return ""
		}
		var names []string
		if st, ok := Deref(t).Underlying().(*types.Struct); ok {
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
	if isTensor(t) {
		if h := a.torchMethodHint(sel, path); h != "" {
			return h
		}
	}
	call, _ := within[*ast.CallExpr](path)
	if h := a.functionHint(sel, call, t); h != "" {
		return h
	}
	if name := respelled(sel.Sel.Name, members(t, a.pkg)); name != "" {
		return a.renamed(sel, name, path)
	}
	return a.membersHint(sel.Sel.Name, t)
}

// elementOf returns the type of a literal without one, which is an element of the literal around it, or nil.
func (a *attempt) elementOf(lit *ast.CompositeLit, path []ast.Node) types.Type {
	around, ok := within[*ast.CompositeLit](path[slices.Index(path, ast.Node(lit))+1:])
	if !ok || lit.Type != nil {
		return nil
	}
	t := cmp.Or(a.info.TypeOf(around), a.info.TypeOf(around.Type))
	if t == nil {
		return nil
	}
	if list, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return list.Elem()
	}
	return nil
}

// membersHint suggests the members of a type with names similar to name. If a type of a package has
// few members, it lists all of them.
func (a *attempt) membersHint(name string, t types.Type) string {
	names := members(t, a.pkg)
	h := meant(name, names)
	names = slices.DeleteFunc(names, func(n string) bool {
		o, _, _ := types.LookupFieldOrMethod(t, true, a.pkg, n)
		return exports.Displays(o)
	})
	named, ok := types.Unalias(Deref(t)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == a.pkg {
		return h
	}
	return strings.TrimSpace(h + " " + listed(TypeString(t, a.pkg)+" has ", slices.Sorted(slices.Values(names))))
}

// functionHint suggests the function that does what a missing method would, such as
// nn.Parameters(net) for net.Parameters(), or returns "". The call, if any, has the other arguments.
func (a *attempt) functionHint(sel *ast.SelectorExpr, call *ast.CallExpr, t types.Type) string {
	var pkgs []*types.Package
	if named, ok := types.Unalias(Deref(t)).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg() != a.pkg {
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
			fn, ok = pkg.Scope().Lookup(respelled(sel.Sel.Name, exportedNames(pkg.Scope()))).(*types.Func)
		}
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
			f := &ast.SelectorExpr{X: &ast.Ident{NamePos: sel.Pos(), Name: pkg.Name()}, Sel: &ast.Ident{NamePos: sel.Pos(), Name: fn.Name()}}
			if call != nil && ast.Unparen(call.Fun) == ast.Expr(sel) {
				new := callOf(f, append([]ast.Expr{sel.X}, call.Args...)...)
				a.mends[call] = new
				return code(new) + " is a function"
			}
			return code(callOf(f, sel.X)) + " is a function"
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
		st, ok := Deref(t).Underlying().(*types.Struct)
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

func Deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
