package lower

import (
	"go/ast"
	"go/token"
	"go/types"
)

// genericCycles refuses generic types that refer to each other in a circle: Yaegi's
// compiler follows them until the stack of the process is full, from which nothing
// recovers.
func (u *Unit) genericCycles() {
	for _, d := range u.File.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			spec := spec.(*ast.TypeSpec)
			o, ok := u.Info.Defs[spec.Name].(*types.TypeName)
			if !ok {
				continue
			}
			n, ok := o.Type().(*types.Named)
			if !ok || n.TypeParams().Len() == 0 {
				continue
			}
			seen := map[*types.Named]bool{}
			var reach func(from *types.Named)
			reach = func(from *types.Named) {
				for _, to := range mentioned(from.Underlying()) {
					if to != from && !seen[to] {
						seen[to] = true
						reach(to)
					}
				}
			}
			reach(n)
			if seen[n] {
				u.unsupported(spec, "generic types that refer to each other in a circle, as %s does", o.Name())
			}
		}
	}
}

// mentioned lists the named types that occur in t, instances by their generic
// type.
func mentioned(t types.Type) []*types.Named {
	var list []*types.Named
	seen := map[types.Type]bool{}
	var walk func(types.Type)
	walk = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := types.Unalias(t).(type) {
		case *types.Named:
			list = append(list, t.Origin())
			for a := range t.TypeArgs().Types() {
				walk(a)
			}
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Chan:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				walk(f.Type())
			}
		case *types.Signature:
			for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
				for v := range tuple.Variables() {
					walk(v.Type())
				}
			}
		case *types.Interface:
			for m := range t.ExplicitMethods() {
				walk(m.Signature())
			}
			for e := range t.EmbeddedTypes() {
				walk(e)
			}
		}
	}
	walk(t)
	return list
}
