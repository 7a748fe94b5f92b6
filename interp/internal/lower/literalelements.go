package lower

import (
	"go/ast"
	"go/constant"
	"go/types"
)

// literalElements writes the lengths and keys of arrays and slices in composite literals as
// numbers: Yaegi evaluates neither. It adds keys to elements without one. Yaegi determines the
// types of these before it looks at their operands, and fails at an index in them whose operand is
// from a compiled package. Fields have keys in any case: without one, a struct of a compiled package does not take a function of a cell.
//
//	[]float64{1, o.Groups()[0].LR}    []float64{0: 1, 1: o.Groups()[0].LR}
//	[...]string{Red: "red"}           [1]string{0: "red"}
func (u *Unit) literalElements() {
	ast.Inspect(u.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if a, ok := n.Type.(*ast.ArrayType); ok && isA[*ast.Ellipsis](a.Len) {
				a.Len = Int(u.typeOf(n).Underlying().(*types.Array).Len())
			}
			u.numberKeys(n)
			u.elementKeys(n)
		}
		return true
	})
}

// numberKeys writes the keys of an array or a slice as numbers.
func (u *Unit) numberKeys(lit *ast.CompositeLit) {
	switch orInvalid(u.typeOf(lit)).Underlying().(type) {
	case *types.Array, *types.Slice, *types.Pointer:
	default:
		return
	}
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if v := u.Info.Types[kv.Key].Value; v != nil {
			n, _ := constant.Int64Val(constant.ToInt(v))
			kv.Key = u.as(Int(n), kv.Key)
		}
	}
}

func (u *Unit) elementKeys(lit *ast.CompositeLit) {
	t := orInvalid(u.typeOf(lit))
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
		if !u.anyNested(lit.Elts) {
			return
		}
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
