package lower

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// recursiveTypes makes Yaegi build structs that refer to themselves in an order that it can
// handle. While Yaegi builds a struct, it treats every reference to an unfinished struct as
// a reference to the last such struct. So referenced types come first, and among structs
// that refer to each other, the first is the only one that all of them lead back to.
//
//	type A struct { b *B; next *A }; type B struct { next *B }
//	var shape__B *B; var shape__A *A
func (u *Unit) recursiveTypes() {
	g := shapes{u: u, specs: map[*types.Named]*ast.TypeSpec{}, built: map[*types.Named]bool{}}
	var typeDecls, rest []ast.Decl
	for _, d := range u.File.Decls {
		if t, ok := d.(*ast.GenDecl); ok && t.Tok == token.TYPE {
			typeDecls = append(typeDecls, d)
			for _, s := range t.Specs {
				g.add(s.(*ast.TypeSpec))
			}
			continue
		}
		rest = append(rest, d)
	}
	for _, d := range rest { // types in functions, to refuse those that would end the process
		ast.Inspect(d, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if n, ok := u.Info.Defs[s.Name].Type().(*types.Named); ok {
					g.uses(n)
				}
			}
			return true
		})
	}
	var vars []ast.Decl
	for _, n := range g.order {
		for _, first := range g.build(n) {
			name := g.specs[first].Name.Name
			vars = append(vars, &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{
				Names: []*ast.Ident{ident("shape__" + name)}, Type: &ast.StarExpr{X: ident(name)},
			}}})
		}
	}
	u.File.Decls = slices.Concat(typeDecls, vars, rest)
}

// shapes holds the declared types of a unit.
type shapes struct {
	u     *Unit
	specs map[*types.Named]*ast.TypeSpec
	order []*types.Named
	built map[*types.Named]bool
}

func (g *shapes) add(s *ast.TypeSpec) {
	o, ok := g.u.Info.Defs[s.Name].(*types.TypeName)
	if !ok || s.Assign.IsValid() || s.TypeParams != nil {
		return
	}
	n, ok := o.Type().(*types.Named)
	if !ok || types.IsInterface(n) {
		return
	}
	g.specs[n] = s
	if _, ok := n.Underlying().(*types.Struct); ok {
		g.order = append(g.order, n)
		return
	}
	g.uses(n) // refuses some types
}

// build returns the types with which Yaegi must begin so that it builds n correctly, in
// order.
func (g *shapes) build(n *types.Named) (list []*types.Named) {
	if g.built[n] {
		return nil
	}
	group := g.group(n)
	for _, m := range group {
		g.built[m] = true // ends the recursion
	}
	for _, m := range group {
		for _, to := range g.uses(m) {
			if !slices.Contains(group, to.Named) {
				list = append(list, g.build(to.Named)...)
			}
		}
	}
	if len(group) == 1 && !slices.ContainsFunc(g.uses(n), func(r reference) bool { return r.Named == n }) {
		return list
	}
	for _, m := range group {
		if g.leadsBack(m, group) {
			return append(list, m)
		}
	}
	var names []string
	for _, m := range group {
		names = append(names, name(m))
	}
	g.u.unsupported(g.specs[n].Name, "the types %s, which refer to each other and to themselves; declare one of the fields as any", strings.Join(names, ", "))
	return nil
}

func name(n *types.Named) string { return n.Obj().Name() }

// reference is a use of a type in another, either indirect, for example behind a
// pointer, or direct.
type reference struct {
	*types.Named
	indirect bool
}

// uses lists the unit's structs that n refers to.
func (g *shapes) uses(n *types.Named) (list []reference) {
	within := map[*types.Named]bool{n: true}
	var walk func(t types.Type, indirect bool)
	walk = func(t types.Type, indirect bool) {
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			_, isStruct := t.Underlying().(*types.Struct)
			switch {
			case t.Obj().Pkg() != g.u.Pkg, types.IsInterface(t):
			case isStruct:
				if g.specs[t] != nil {
					list = append(list, reference{t, indirect})
				}
			case within[t]:
				if _, ok := t.Underlying().(*types.Signature); ok {
					break // Yaegi supports some of these
				}
				g.u.unsupported(t.Obj(), "the type %s, which refers to itself and is not a struct; make it a struct with such a field", name(t))
			default:
				within[t] = true
				walk(t.Underlying(), indirect)
				delete(within, t)
			}
		case *types.Pointer:
			walk(t.Elem(), true)
		case *types.Slice:
			walk(t.Elem(), true)
		case *types.Array:
			walk(t.Elem(), indirect)
		case *types.Chan:
			walk(t.Elem(), true)
		case *types.Map:
			walk(t.Key(), true)
			walk(t.Elem(), true)
		case *types.Struct:
			for f := range t.Fields() {
				walk(f.Type(), indirect)
			}
		case *types.Signature:
			for v := range t.Params().Variables() {
				walk(v.Type(), true)
			}
			for v := range t.Results().Variables() {
				walk(v.Type(), true)
			}
		}
	}
	walk(n.Underlying(), false)
	return list
}

// group lists the types that n refers to and that refer to n, including n.
func (g *shapes) group(n *types.Named) []*types.Named {
	to := g.reached(n)
	var list []*types.Named
	for _, m := range g.order {
		if m == n || to[m] && g.reached(m)[n] {
			list = append(list, m)
		}
	}
	return list
}

func (g *shapes) reached(n *types.Named) map[*types.Named]bool {
	seen := map[*types.Named]bool{}
	list := g.uses(n)
	for len(list) > 0 {
		next := list[len(list)-1].Named
		list = list[:len(list)-1]
		if !seen[next] {
			seen[next] = true
			list = append(list, g.uses(next)...)
		}
	}
	return seen
}

// leadsBack reports whether Yaegi, starting with first, meets no unfinished type of the
// group except first, and that one behind a pointer.
func (g *shapes) leadsBack(first *types.Named, group []*types.Named) bool {
	open, done := map[*types.Named]bool{}, map[*types.Named]bool{}
	var visit func(n *types.Named) bool
	visit = func(n *types.Named) bool {
		open[n] = true
		defer func() { done[n] = true }()
		for _, r := range g.uses(n) {
			switch {
			case !slices.Contains(group, r.Named), done[r.Named]:
			case open[r.Named]:
				if r.Named != first || !r.indirect {
					return false
				}
			case !visit(r.Named):
				return false
			}
		}
		return true
	}
	return visit(first)
}
