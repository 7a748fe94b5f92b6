package assist

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// expected describes the value that the code at the cursor must have: an argument, the value of
// a field or an assigned value. A nil type means that any value fits.
type expected struct {
	typ   types.Type
	fn    *types.Func     // the function whose argument it is, or nil
	words map[string]bool // words of the function's comment: those that are names of options come first
}

// expects returns what the code at the cursor must be.
func (p *probe) expects() expected {
	if p.ident() == nil {
		return expected{}
	}
	at, path := ast.Expr(p.ident()), p.path[1:]
	if sel, ok := first(path).(*ast.SelectorExpr); ok && sel.Sel == at {
		at, path = sel, path[1:]
	}
	var want expected
	switch outer := first(path).(type) {
	case *ast.CallExpr:
		want = p.argument(outer, slices.Index(outer.Args, at))
	case *ast.KeyValueExpr:
		if key, ok := outer.Key.(*ast.Ident); ok && outer.Value == at {
			if field, ok := p.info.Uses[key].(*types.Var); ok && field.IsField() {
				want.typ = field.Type()
			}
		}
	case *ast.AssignStmt:
		if i := slices.Index(outer.Rhs, at); i >= 0 && len(outer.Lhs) == len(outer.Rhs) && outer.Tok == token.ASSIGN {
			want.typ = p.info.TypeOf(outer.Lhs[i])
		}
	case *ast.ValueSpec:
		if outer.Type != nil && slices.Contains(outer.Values, at) {
			want.typ = p.info.TypeOf(outer.Type)
		}
	}
	if want.typ == nil || !isValid(want.typ) || types.Identical(want.typ.Underlying(), types.NewInterfaceType(nil, nil)) {
		return expected{}
	}
	if want.fn != nil && want.fn.Pkg() != nil && want.fn.Pkg() != p.pkg {
		want.words = p.named(want.fn, map[types.Object]bool{})
	}
	return want
}

func first(path []ast.Node) ast.Node {
	if len(path) == 0 {
		return nil
	}
	return path[0]
}

// argument returns what argument i of a call must be.
func (p *probe) argument(call *ast.CallExpr, i int) expected {
	tv := p.info.Types[call.Fun]
	if i < 0 || tv.Type == nil || tv.IsType() {
		return expected{}
	}
	sig, ok := tv.Type.Underlying().(*types.Signature)
	if !ok || sig.TypeParams() != nil || sig.Params().Len() == 0 {
		return expected{}
	}
	var want expected
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		want.fn, _ = p.object(f).(*types.Func)
	case *ast.SelectorExpr:
		want.fn, _ = p.object(f.Sel).(*types.Func)
	}
	last := sig.Params().Len() - 1
	switch {
	case i < last || i == last && !sig.Variadic():
		want.typ = sig.Params().At(i).Type()
	case sig.Variadic():
		want.typ = sig.Params().At(last).Type().(*types.Slice).Elem()
	}
	return want
}

// fit is how well a name fits at the cursor.
type fit int

const (
	noFit    fit = iota
	typeFits     // it, or the result of its call, has the expected type
	namedFit     // and the comment of the called function names it
)

// fit judges an object.
func (want expected) fit(o types.Object) fit {
	if want.typ == nil || !want.takes(o) {
		return noFit
	}
	if want.words[o.Name()] && want.fn.Pkg() == o.Pkg() {
		return namedFit
	}
	return typeFits
}

func (want expected) takes(o types.Object) bool {
	switch o := o.(type) {
	case *types.Const:
		if b, ok := o.Type().(*types.Basic); ok && b.Info()&types.IsUntyped != 0 && (o.Name() == "iota" || !types.Identical(want.typ, want.typ.Underlying())) {
			return false // a number is not a dtype
		}
		return types.AssignableTo(o.Type(), want.typ)
	case *types.Var:
		return types.AssignableTo(o.Type(), want.typ)
	case *types.Func:
		sig := o.Type().(*types.Signature)
		return types.AssignableTo(sig, want.typ) ||
			sig.TypeParams() == nil && sig.Results().Len() == 1 && types.AssignableTo(sig.Results().At(0).Type(), want.typ)
	}
	return false
}

// choices offers the members of packages that make the expected value, with their package:
// amp.InitScale for an amp.ScalerOption, tensor.Float16 for a dtype, nn.NewLinear for an
// nn.Module, and optim.CycleOptions{ for a struct. Pointers are made in too many ways.
func (c *completer) choices() {
	named, ok := types.Unalias(c.want.typ).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return
	}
	pkgs := []*types.Package{named.Obj().Pkg()}
	if c.want.fn != nil && c.want.fn.Pkg() != nil && c.want.fn.Pkg() != pkgs[0] {
		pkgs = append(pkgs, c.want.fn.Pkg())
	}
	for _, pkg := range pkgs {
		name := c.probe.nameOf(pkg)
		if name == "" {
			continue
		}
		scope := pkg.Scope()
		for _, n := range scope.Names() {
			if o := scope.Lookup(n); o.Exported() && c.want.fit(o) > noFit {
				c.qualified(name, o)
			}
		}
		if _, ok := named.Underlying().(*types.Struct); ok && named.Obj().Pkg() == pkg && named.Obj().Exported() && len(c.matches) == 0 {
			c.offer(rankKey, name+"."+named.Obj().Name()+"{", "type", c.probe.typeString(named.Underlying()))
		}
	}
}

// qualified offers a member of a package with the package's name, also where the prefix is
// that of the member.
func (c *completer) qualified(pkg string, o types.Object) {
	inner := completer{code: c.code, probe: c.probe, want: c.want, seen: map[string]bool{}}
	if n := len(c.prefix); n <= len(o.Name()) && strings.EqualFold(o.Name()[:n], c.prefix) || strings.HasPrefix(pkg+"."+o.Name(), c.prefix) {
		inner.object(rankPackage, o)
	}
	for _, m := range inner.matches {
		m.Text = pkg + "." + m.Text
		if !c.seen[m.Text] {
			c.seen[m.Text] = true
			c.matches = append(c.matches, m)
		}
	}
}

// nameOf returns the name by which the cell can refer to a package, or "".
func (p *probe) nameOf(pkg *types.Package) string {
	for _, name := range slices.Sorted(maps.Keys(p.Imports)) {
		if p.Imports[name] == pkg.Path() {
			return name
		}
	}
	for name, paths := range p.missing {
		if paths[0] == pkg.Path() {
			return name
		}
	}
	return ""
}
