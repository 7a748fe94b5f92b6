package hints

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"halfnote/internal/near"
	"halfnote/interp/internal/exports"
)

// fieldHint suggests the fields of a struct with names similar to that of a key, or lists all fields.
func (a *Attempt) fieldHint(m Mistake) string {
	lit, ok := within[*ast.CompositeLit](m.path)
	id, isName := m.path[0].(*ast.Ident)
	if !ok || !isName {
		return ""
	}
	t := cmp.Or(a.Info.TypeOf(lit), a.Info.TypeOf(lit.Type), a.elementOf(lit, m.path))
	if t == nil {
		return ""
	}
	var names []string
	if st, ok := exports.Deref(t).Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			names = append(names, f.Name())
		}
	}
	return cmp.Or(meant(id.Name, names), listed("the fields are ", names))
}

// memberHint suggests the fields and methods with similar names.
func (a *Attempt) memberHint(m Mistake) string {
	path := m.path
	if h := a.otherCaseHint(m); h != "" {
		return h
	}
	sel, ok := within[*ast.SelectorExpr](path)
	if !ok {
		return ""
	}
	t := a.Info.TypeOf(sel.X)
	if t == nil {
		return ""
	}
	if h := containerHint(t, sel.Sel.Name); h != "" {
		return h
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
	if name := cmp.Or(respelled(sel.Sel.Name, members(t, a.Pkg)), a.torchMember(sel.Sel.Name, t)); name != "" {
		return a.renamed(sel, name, path)
	}
	if pkg := near.Fold(sel.Sel.Name); exports.Preloaded[pkg] != "" {
		return packageHint(pkg)
	}
	return a.membersHint(sel.Sel.Name, t)
}

// torchMember returns the method that a type has in place of one of torch's, or "". Its comment cites torch's name, as that of
// CurrentScale cites GradScaler.get_scale, or its name is torch's without "get".
func (a *Attempt) torchMember(name string, t types.Type) string {
	named, ok := types.Unalias(exports.Deref(t)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == a.Pkg {
		return ""
	}
	names := members(t, a.Pkg)
	for _, n := range names {
		if near.Fold(citedName(named.Obj().Pkg(), named.Obj().Name()+"."+n)) == near.Fold(name) {
			return n
		}
	}
	if rest, ok := strings.CutPrefix(near.Fold(name), "get"); ok {
		return respelled(rest, names)
	}
	return ""
}

// elementOf returns the type of a literal without one, which is an element of the literal around it, or nil.
func (a *Attempt) elementOf(lit *ast.CompositeLit, path []ast.Node) types.Type {
	around, ok := within[*ast.CompositeLit](path[slices.Index(path, ast.Node(lit))+1:])
	if !ok || lit.Type != nil {
		return nil
	}
	t := cmp.Or(a.Info.TypeOf(around), a.Info.TypeOf(around.Type))
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
func (a *Attempt) membersHint(name string, t types.Type) string {
	names := members(t, a.Pkg)
	h := meant(name, names)
	names = slices.DeleteFunc(names, func(n string) bool {
		o, _, _ := types.LookupFieldOrMethod(t, true, a.Pkg, n)
		return exports.Displays(o)
	})
	named, ok := types.Unalias(exports.Deref(t)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == a.Pkg {
		return h
	}
	return strings.TrimSpace(h + " " + listed(exports.TypeString(t, a.Pkg)+" has ", slices.Sorted(slices.Values(names))))
}

// functionHint suggests the function that does what a missing method would, such as
// nn.Parameters(net) for net.Parameters(), or returns "". The call, if any, has the other arguments.
func (a *Attempt) functionHint(sel *ast.SelectorExpr, call *ast.CallExpr, t types.Type) string {
	var pkgs []*types.Package
	if named, ok := types.Unalias(exports.Deref(t)).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg() != a.Pkg {
		pkgs = append(pkgs, named.Obj().Pkg())
	} else if p, ok := types.Unalias(t).(*types.Pointer); ok {
		if named, ok := types.Unalias(p.Elem()).(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg() != a.Pkg {
			pkgs = append(pkgs, named.Obj().Pkg())
		}
	}
	pkgs = append(pkgs, a.Pkg.Imports()...)
	var args []ast.Expr
	if call != nil && ast.Unparen(call.Fun) == ast.Expr(sel) {
		args = call.Args
	} else {
		call = nil
	}
	var found *types.Func
	for _, pkg := range pkgs {
		for _, fn := range functionsNamed(pkg, sel.Sel.Name) {
			if !acceptsFirst(fn, t) {
				continue
			}
			if a.takesRest(fn, args) {
				return a.functionInstead(fn, sel, call, args)
			}
			found = cmp.Or(found, fn)
		}
	}
	if found == nil {
		return ""
	}
	return a.functionInstead(found, sel, call, args)
}

// functionInstead mends the call of a missing method with the call of a function.
func (a *Attempt) functionInstead(fn *types.Func, sel *ast.SelectorExpr, call *ast.CallExpr, args []ast.Expr) string {
	f := &ast.SelectorExpr{X: &ast.Ident{NamePos: sel.Pos(), Name: fn.Pkg().Name()}, Sel: &ast.Ident{NamePos: sel.Pos(), Name: fn.Name()}}
	new := callOf(f, append([]ast.Expr{sel.X}, args...)...)
	if call != nil {
		a.Fixes[call] = new
	}
	h := code(new) + " is a function"
	if results := fn.Signature().Results(); results.Len() == 1 {
		if list, ok := results.At(0).Type().(*types.Slice); ok && list.Elem().Underlying() != list.Elem() {
			h += listed("; elements of its result have ", members(list.Elem(), a.Pkg))
		}
	}
	return h
}

// functionsNamed returns the functions of a package with a name, in any spelling, and those whose comments say that they are
// torch's method of this name.
func functionsNamed(pkg *types.Package, name string) []*types.Func {
	var named, cited []*types.Func
	for _, n := range exportedNames(pkg.Scope()) {
		fn, ok := pkg.Scope().Lookup(n).(*types.Func)
		switch {
		case !ok:
		case near.Fold(n) == near.Fold(name):
			named = append(named, fn)
		case strings.HasPrefix(pkg.Path(), "halfnote/") && near.Fold(citedName(pkg, n)) == near.Fold(name):
			cited = append(cited, fn)
		}
	}
	return append(named, cited...)
}

// acceptsFirst reports whether a function can take a value of type t as its first argument.
func acceptsFirst(fn *types.Func, t types.Type) bool {
	params := fn.Signature().Params()
	if params.Len() == 0 {
		return false
	}
	first := params.At(0).Type()
	if list, ok := first.(*types.Slice); ok && params.Len() == 1 && fn.Signature().Variadic() {
		first = list.Elem()
	}
	return types.AssignableTo(t, first)
}

// takesRest reports whether a function can take args after its first argument.
func (a *Attempt) takesRest(fn *types.Func, args []ast.Expr) bool {
	params := fn.Signature().Params()
	if fn.Signature().Variadic() {
		return true
	}
	if params.Len() != len(args)+1 {
		return false
	}
	for i, arg := range args {
		if t := a.typeSoFar(arg); t != nil && !fitsParameter(t, params.At(i+1).Type()) {
			return false
		}
	}
	return true
}

// typeSoFar returns the type of an expression, or nil if it is not known. The checker has not yet seen the arguments of a
// function that it does not know.
func (a *Attempt) typeSoFar(x ast.Expr) types.Type {
	if t := a.Info.TypeOf(x); t != nil && t != types.Typ[types.Invalid] {
		return t
	}
	switch x := ast.Unparen(x).(type) {
	case *ast.Ident:
		if s := a.Pkg.Scope().Innermost(x.Pos()); s != nil {
			if _, o := s.LookupParent(x.Name, x.Pos()); o != nil {
				return o.Type()
			}
		}
	case *ast.SelectorExpr:
		id, ok := x.X.(*ast.Ident)
		if !ok {
			return nil
		}
		if pkg := imported(a.Pkg, exports.Preloaded[id.Name], map[*types.Package]bool{}); pkg != nil {
			if o := pkg.Scope().Lookup(x.Sel.Name); o != nil {
				return o.Type()
			}
		}
	}
	return nil
}

// imported returns the package with a path that pkg imports, at any depth, or nil. Types of another importer's package would not
// be identical.
func imported(pkg *types.Package, path string, seen map[*types.Package]bool) *types.Package {
	for _, p := range pkg.Imports() {
		if seen[p] {
			continue
		}
		seen[p] = true
		if p.Path() == path {
			return p
		}
		if found := imported(p, path, seen); found != nil {
			return found
		}
	}
	return nil
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
		st, ok := exports.Deref(t).Underlying().(*types.Struct)
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
