package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// sliceTest returns the test of the bounds of a slice expression, which must be in
// order and must not exceed the capacity, or the length of a string or array.
func (k *checker) sliceTest(x *ast.SliceExpr) *ast.IfStmt {
	u := k.u
	if !u.simple(x.X) {
		return nil
	}
	bounds := []ast.Expr{x.Low, x.High, x.Max}
	for _, e := range bounds {
		if e != nil && !u.simple(e) {
			return nil
		}
	}
	size, length := "cap", func() ast.Expr { return call(ident("len"), u.copy(x.X)) }
	switch t := orInvalid(u.typeOf(x.X)).Underlying().(type) {
	case *types.Slice:
	case *types.Basic:
		size = "len"
	case *types.Array:
		size, length = "len", func() ast.Expr { return Int(t.Len()) }
	case *types.Pointer:
		a, ok := t.Elem().Underlying().(*types.Array)
		if !ok {
			return nil
		}
		size, length = "len", func() ast.Expr { return Int(a.Len()) }
	default:
		return nil
	}
	limit := length
	if size == "cap" {
		limit = func() ast.Expr { return call(ident("cap"), u.copy(x.X)) }
	}
	// Each bound is compared with the next one that is given.
	var cond ast.Expr
	next, above := limit, ast.Expr(nil)
	if x.High == nil {
		next = length
	}
	for i := len(bounds) - 1; i >= 0; i-- {
		e := bounds[i]
		if e == nil {
			continue
		}
		if !u.inOrder(e, above) {
			e := e
			c := ast.Expr(&ast.BinaryExpr{X: u.asInt(e), Op: token.GTR, Y: next()})
			cond = or(c, cond)
		}
		above, next = e, func() ast.Expr { return u.asInt(e) }
	}
	if above == nil {
		return nil
	}
	if !u.positive(above) {
		cond = or(&ast.BinaryExpr{X: u.asInt(above), Op: token.LSS, Y: Int(0)}, cond)
	}
	if cond == nil {
		return nil
	}
	given := int64(0)
	args := []ast.Expr{nil}
	for i, e := range bounds {
		if e == nil {
			args = append(args, Int(0))
			continue
		}
		given |= 1 << i
		args = append(args, u.asInt(e))
	}
	args[0] = Int(given)
	args = append(args, length(), limit(), ident(map[string]string{"len": "false", "cap": "true"}[size]))
	u.imports = true
	return &ast.IfStmt{If: x.Lbrack, Cond: cond, Body: block(expr(Support("Slice", args...)))}
}

func or(x, y ast.Expr) ast.Expr {
	if y == nil {
		return x
	}
	return &ast.BinaryExpr{X: x, Op: token.LOR, Y: y}
}

// positive reports whether an index cannot be negative.
func (u *Unit) positive(e ast.Expr) bool {
	if v := u.Info.Types[e].Value; v != nil {
		return constant.Sign(v) >= 0
	}
	b, ok := orInvalid(u.typeOf(e)).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// inOrder reports whether two bounds are constants, whose order the checker has
// verified, or the lower one is 0.
func (u *Unit) inOrder(low, high ast.Expr) bool {
	v := u.Info.Types[low].Value
	if v == nil {
		return false
	}
	return constant.Sign(v) == 0 && (high == nil || u.positive(high)) || high != nil && u.Info.Types[high].Value != nil
}
