package exports

import "go/types"

// TypeString returns a type as code of pkg spells it: with the names of other packages, not their paths.
func TypeString(t types.Type, pkg *types.Package) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	})
}

// Deref returns the type that a pointer type points to, or t if it is another type.
func Deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
