package lower

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// literalElements adds keys to the elements of composite literals. Yaegi determines the
// types of elements without a key before it looks at their operands, and fails at an index
// in them whose operand is from a compiled package.
//
//	[]float64{1, o.Groups()[0].LR}    []float64{0: 1, 1: o.Groups()[0].LR}
func (u *Unit) literalElements() {
	ast.Inspect(u.File, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			u.elementKeys(lit)
		}
		return true
	})
}

func (u *Unit) elementKeys(lit *ast.CompositeLit) {
	t := u.typeOf(lit)
	if t == nil || !u.anyNested(lit.Elts) {
		return
	}
	if p, ok := t.Underlying().(*types.Pointer); ok { // &T left out
		t = p.Elem()
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for i, e := range lit.Elts {
			if _, keyed := e.(*ast.KeyValueExpr); keyed || t.Field(i).Name() == "_" {
				return
			}
		}
		for i, e := range lit.Elts {
			lit.Elts[i] = &ast.KeyValueExpr{Key: ident(u.fieldName(t.Field(i))), Colon: e.Pos(), Value: e}
		}
	case *types.Slice, *types.Array:
		next := int64(0)
		for i, e := range lit.Elts {
			if kv, keyed := e.(*ast.KeyValueExpr); keyed {
				next, _ = constant.Int64Val(constant.ToInt(u.Info.Types[kv.Key].Value))
			} else {
				lit.Elts[i] = &ast.KeyValueExpr{Key: Int(next), Colon: e.Pos(), Value: e}
			}
			next++
		}
	}
}

// anyNested reports whether the type of an element without a key depends on that of an
// index, slice, assertion or call inside it.
func (u *Unit) anyNested(list []ast.Expr) bool {
	found := false
	for _, e := range list {
		if _, keyed := e.(*ast.KeyValueExpr); keyed {
			continue
		}
		top := ast.Unparen(e)
		ast.Inspect(top, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.CompositeLit:
				return false
			case *ast.IndexExpr, *ast.SliceExpr, *ast.TypeAssertExpr, *ast.CallExpr, *ast.StarExpr:
				found = found || n != top || e != top
			}
			return !found
		})
	}
	return found
}
