package lower

import (
	"go/ast"
	"go/types"
)

// keys writes field names into literals of the session's struct types: another unit may
// set unexported fields only by name.
func (u *Unit) keys() {
	ast.Inspect(u.File, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		if !ok || len(lit.Elts) == 0 {
			return true
		}
		if _, keyed := lit.Elts[0].(*ast.KeyValueExpr); keyed {
			return true
		}
		t := u.typeOf(lit)
		if t == nil {
			return true
		}
		if p, ok := t.Underlying().(*types.Pointer); ok { // &T left out
			t = p.Elem()
		}
		s, ok := t.Underlying().(*types.Struct)
		if !ok || s.NumFields() != len(lit.Elts) {
			return true
		}
		for f := range s.Fields() {
			if f.Name() == "_" { // cannot be named
				return true
			}
		}
		for i, e := range lit.Elts {
			lit.Elts[i] = &ast.KeyValueExpr{Key: ident(u.fieldName(s.Field(i))), Colon: e.Pos(), Value: e}
		}
		return true
	})
}
