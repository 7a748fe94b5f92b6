package front

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"halfnote/internal/near"
	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/syntax"
)

// more adds a continuation message of the type checker to the previous problem.
func (a *attempt) more(msg string, at token.Position) {
	if len(a.errs) == 0 {
		return
	}
	p := &a.errs[len(a.errs)-1]
	if n := syntax.CellOf(at.Filename); n != 0 {
		msg = fmt.Sprintf("%s: %s, line %d", msg, syntax.Label(n), at.Line)
	}
	p.Hint = strings.TrimPrefix(p.Hint+"\n"+msg, "\n")
}

// hint suggests a fix for an error of the type checker, or returns "".
func (c *checker) hint(e types.Error, a *attempt) string {
	path := a.enclosing(e.Pos)
	if len(path) == 0 {
		return ""
	}
	switch {
	case strings.HasPrefix(e.Msg, "cannot use _ as value"), e.Msg == "undefined: Out", e.Msg == "undefined: In":
		return "In, Out and _ refer to earlier cells only in a cell's statements, not in its declarations"
	case strings.Contains(e.Msg, "(but have "):
		return ""
	}
	if h := a.uncalledHint(e.Msg, path); h != "" {
		return h
	}
	switch {
	case strings.HasPrefix(e.Msg, "use of package "):
		name, _, _ := strings.Cut(strings.TrimPrefix(e.Msg, "use of package "), " ")
		return c.packageNameHint(name, path)
	case strings.HasPrefix(e.Msg, "undefined: "), strings.Contains(e.Msg, " not exported by package "):
		return c.undefinedHint(e, a, path)
	case strings.Contains(e.Msg, " has no field or method "), strings.HasPrefix(e.Msg, "unknown field "):
		return a.memberHint(e.Msg, path)
	case strings.HasPrefix(e.Msg, "not enough arguments in call to "), strings.HasPrefix(e.Msg, "too many arguments in call to "),
		strings.HasPrefix(e.Msg, "cannot use ") && strings.Contains(e.Msg, " value in argument to "):
		return a.callHint(e.Pos, path)
	case strings.HasPrefix(e.Msg, "too many arguments in conversion to "), strings.HasPrefix(e.Msg, "missing argument in conversion to "), strings.HasPrefix(e.Msg, "cannot convert "):
		if h := a.constructorHint(path); h != "" {
			return h
		}
	case strings.HasPrefix(e.Msg, "label ") && strings.HasSuffix(e.Msg, " declared and not used"):
		return c.lineHint(e)
	case strings.HasPrefix(e.Msg, "too few values in struct literal"):
		return expressionHint(e.Msg)
	case strings.HasPrefix(e.Msg, "invalid operation: "), strings.HasPrefix(e.Msg, "invalid argument: "), strings.HasPrefix(e.Msg, "cannot index "),
		strings.HasPrefix(e.Msg, "cannot slice "), strings.HasPrefix(e.Msg, "cannot range over "):
		if h := cmp.Or(a.operatorHint(path), expressionHint(e.Msg)); h != "" {
			return h
		}
	}
	switch {
	case strings.HasPrefix(e.Msg, "assignment mismatch: "):
		return a.countHint(path)
	case strings.Contains(e.Msg, "(mismatched types "):
		return a.mismatchHint(path)
	case strings.HasPrefix(e.Msg, "non-boolean condition in "):
		return a.conditionHint(path)
	case strings.HasPrefix(e.Msg, "missing return"):
		return "every path through a function with results must end in return, panic or an endless loop"
	case strings.HasPrefix(e.Msg, "no new variables"):
		return "use = to assign again in the same cell; another cell may declare the name again"
	}
	return ""
}

// enclosing returns the nodes around a position, innermost first.
func (a *attempt) enclosing(pos token.Pos) []ast.Node {
	var path []ast.Node
	for _, f := range a.files {
		if f.FileStart > pos || pos > f.FileEnd {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil || !n.Pos().IsValid() || n.Pos() > pos || pos > n.End() {
				return n != nil && !n.Pos().IsValid()
			}
			path = append(path, n)
			return true
		})
	}
	slices.Reverse(path)
	return path
}

// within returns the innermost node of type T.
func within[T ast.Node](path []ast.Node) (n T, ok bool) {
	for _, p := range path {
		if n, ok := p.(T); ok {
			return n, true
		}
	}
	return n, false
}

// undefinedHint suggests declared names that are similar to an undefined one.
func (c *checker) undefinedHint(e types.Error, a *attempt, path []ast.Node) string {
	if sel, ok := within[*ast.SelectorExpr](path); ok && sel.Sel.Pos() == e.Pos {
		if id, ok := sel.X.(*ast.Ident); ok {
			if p, ok := a.info.Uses[id].(*types.PkgName); ok {
				return cmp.Or(constructor(p.Imported(), sel.Sel.Name), a.packageHint(p.Imported(), sel, path), c.qualifiedHint(sel.Sel.Name), meant(sel.Sel.Name, exportedNames(p.Imported().Scope())))
			}
		}
	}
	name, ok := strings.CutPrefix(e.Msg, "undefined: ")
	if !ok {
		return ""
	}
	if h := cmp.Or(c.failedHint(name), foreignNames[name], c.packageNameHint(name, path), c.importHint(name, path), c.qualifiedHint(name)); h != "" {
		return h
	}
	call, ok := within[*ast.CallExpr](path)
	called := false
	if id, isName := path[0].(*ast.Ident); isName && ok {
		called = call.Fun == ast.Expr(id)
	}
	selected := false // new has no members
	if sel, ok := within[*ast.SelectorExpr](path); ok {
		selected = sel.X == path[0]
	}
	var names []string
	for s := a.pkg.Scope().Innermost(e.Pos); s != nil; s = s.Parent() {
		for _, n := range s.Names() {
			if _, builtin := s.Lookup(n).(*types.Builtin); (!called || callable(s.Lookup(n))) && !(selected && builtin) {
				names = append(names, n)
			}
		}
	}
	for n, b := range c.Env.Cur {
		if !called || b.Kind == KindFunc || b.Kind == KindType || strings.HasPrefix(b.Typ, "func(") {
			names = append(names, n)
		}
	}
	if !called {
		names = slices.AppendSeq(names, maps.Keys(exports.Preloaded))
		names = slices.AppendSeq(names, maps.Keys(c.Env.Imports))
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "__") })
	if d, ok := within[*ast.FuncDecl](path); ok {
		names = slices.DeleteFunc(names, func(n string) bool { return n == d.Name.Name })
	}
	h := meant(name, names)
	if id, ok := path[0].(*ast.Ident); ok && h == "" {
		if st, ok := within[*ast.AssignStmt](path); ok && st.Tok == token.ASSIGN && slices.Contains(st.Lhs, ast.Expr(id)) {
			h = name + " := … declares it"
		}
	}
	if called && !c.inStatements(e.Pos) {
		h += fmt.Sprintf("\nfunctions that call each other belong in one cell: declare %s in this one", name)
	}
	return strings.TrimPrefix(h, "\n")
}

// constructor names the function of a package that makes a value of the type name, or returns "".
func constructor(pkg *types.Package, name string) string {
	if pkg.Scope().Lookup("New"+name) == nil {
		return ""
	}
	return fmt.Sprintf("%s.New%s is the constructor", pkg.Name(), name)
}

// constructorHint names the constructor of a type that is called like a function, or returns "".
func (a *attempt) constructorHint(path []ast.Node) string {
	for _, n := range path {
		call, ok := n.(*ast.CallExpr)
		if !ok || !a.info.Types[call.Fun].IsType() {
			continue
		}
		named, ok := types.Unalias(a.info.TypeOf(call.Fun)).(*types.Named)
		if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg() == a.pkg {
			return ""
		}
		return constructor(named.Obj().Pkg(), named.Obj().Name())
	}
	return ""
}

// callable reports whether an object can be called.
func callable(o types.Object) bool {
	switch o := o.(type) {
	case *types.TypeName, *types.Builtin:
		return true
	case *types.Var, *types.Func:
		_, ok := o.Type().Underlying().(*types.Signature)
		return ok
	}
	return false
}

// inStatements reports whether a position is outside the cell's declarations.
func (c *checker) inStatements(pos token.Pos) bool { return c.Fset.File(pos) == c.Stmts.Tok }

// exportedNames returns the exported names of a package.
func exportedNames(s *types.Scope) []string {
	return slices.DeleteFunc(s.Names(), func(n string) bool { return !token.IsExported(n) })
}

// importHint suggests the packages that an undefined name could denote. Where the name is
// followed by a selector, these are the packages that export it.
func (c *Input) importHint(name string, path []ast.Node) string {
	sel, isSel := within[*ast.SelectorExpr](path)
	if id, ok := path[0].(*ast.Ident); !ok || !isSel || sel.X != ast.Expr(id) {
		return "" // net := …; net alone is a variable
	}
	var found []string
	for _, p := range exports.Packages() {
		if exports.Name(p) != name {
			continue
		}
		if pkg, err := c.Importer.Import(p); err == nil && pkg.Scope().Lookup(sel.Sel.Name) != nil {
			found = append(found, fmt.Sprintf("import %q", p))
		}
	}
	return strings.Join(found, " or ")
}

// qualifiedHint names the preloaded packages that export an undefined name, or returns "".
func (c *Parsed) qualifiedHint(name string) string {
	if !token.IsExported(name) {
		return ""
	}
	var found []string
	for short, path := range exports.Preloaded {
		if pkg, err := c.Importer.Import(path); err == nil && pkg.Scope().Lookup(name) != nil {
			found = append(found, short+"."+name)
		}
	}
	slices.Sort(found)
	if len(found) == 0 || len(found) > 3 {
		return ""
	}
	return fmt.Sprintf("did you mean %s?", strings.Join(found, " or "))
}

// countHint gives the results of the call in an assignment.
func (a *attempt) countHint(path []ast.Node) string {
	var values []ast.Expr
	if st, ok := within[*ast.AssignStmt](path); ok {
		values = st.Rhs
	} else if v, ok := within[*ast.ValueSpec](path); ok {
		values = v.Values
	}
	if len(values) != 1 {
		return ""
	}
	call, ok := ast.Unparen(values[0]).(*ast.CallExpr)
	if !ok {
		return ""
	}
	sig, ok := a.info.TypeOf(call.Fun).(*types.Signature)
	if !ok || sig.Results().Len() < 2 {
		return ""
	}
	return fmt.Sprintf("the call returns %s; use _ for results that are not needed", TypeString(sig.Results(), a.pkg))
}

// mismatchHint suggests a conversion for operands of different numeric types.
func (a *attempt) mismatchHint(path []ast.Node) string {
	for _, n := range path {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			l, r := a.numeric(n.X), a.numeric(n.Y)
			if l == nil || r == nil {
				return ""
			}
			if types.Identical(a.info.TypeOf(n.X), a.info.TypeOf(n.Y)) {
				continue // an operand of the one with the mistake
			}
			if l.Info()&types.IsInteger != 0 && r.Info()&types.IsInteger == 0 {
				return "convert one of them, for example " + a.convert(n.X, a.info.TypeOf(n.Y))
			}
			return "convert one of them, for example " + a.convert(n.Y, a.info.TypeOf(n.X))
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 || a.numeric(n.Lhs[0]) == nil || a.numeric(n.Rhs[0]) == nil {
				return ""
			}
			h := fmt.Sprintf("write %s %s %s", code(n.Lhs[0]), n.Tok, a.convert(n.Rhs[0], a.info.TypeOf(n.Lhs[0])))
			if d := a.declaredWhole(n.Lhs[0]); d != "" && a.numeric(n.Rhs[0]).Info()&types.IsFloat != 0 {
				h += ", or declare " + d
			}
			return h
		case ast.Stmt:
			return ""
		}
	}
	return ""
}

// numeric returns the basic type of a number that is not an untyped constant, or nil.
func (a *attempt) numeric(x ast.Expr) *types.Basic {
	t := a.info.TypeOf(x)
	if t == nil {
		return nil
	}
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&types.IsNumeric == 0 || b.Info()&types.IsUntyped != 0 {
		return nil
	}
	return b
}

// convert mends x with its conversion to a type and returns the conversion's text.
func (a *attempt) convert(x ast.Expr, t types.Type) string {
	return strings.TrimPrefix(a.write(x, callOf(&ast.Ident{NamePos: x.Pos(), Name: TypeString(t, a.pkg)}, ast.Unparen(x))), "write ")
}

// meant suggests the similar names among names.
func meant(name string, names []string) string {
	list := near.Names(name, names, 3)
	if len(list) == 0 {
		return ""
	}
	return "did you mean " + strings.Join(list, ", ") + "?"
}
