package assist

import "go/types"

// isValid reports whether the checker knows a type.
func isValid(t types.Type) bool { return t != nil && t != types.Typ[types.Invalid] }

// pointee returns the type that a pointer type points to, and other types unchanged.
func pointee(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
