package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
)

// test returns the test of one index.
func (k *checker) test(x *ast.IndexExpr) *ast.IfStmt {
	u := k.u
	t := u.typeOf(x.X)
	if t == nil || !u.simple(x.X) || !u.simple(x.Index) {
		return nil
	}
	array := false
	switch c := t.Underlying().(type) {
	case *types.Slice:
	case *types.Array:
		array = true
	case *types.Basic:
		if c.Info()&types.IsString == 0 {
			return nil
		}
	case *types.Pointer:
		if _, ok := c.Elem().Underlying().(*types.Array); !ok {
			return nil
		}
	default:
		return nil
	}
	index := u.Info.Types[x.Index]
	b, ok := index.Type.Underlying().(*types.Basic)
	if !ok {
		return nil
	}
	positive := b.Info()&types.IsUnsigned != 0
	if index.Value != nil {
		if array || u.Info.Types[x.X].Value != nil {
			u.safe[x] = true // the compiler has checked it
			return nil
		}
		positive = constant.Sign(index.Value) >= 0
	}
	if id, ok := ast.Unparen(x.Index).(*ast.Ident); ok {
		for _, b := range k.bound {
			if o := u.Info.Uses[id]; o != nil && o == b.index {
				positive = true
				if l, ok := ast.Unparen(x.X).(*ast.Ident); ok && b.list != nil && u.Info.Uses[l] == b.list {
					u.safe[x] = true
					return nil
				}
			}
		}
	}
	asInt := func() ast.Expr { return u.asInt(x.Index) }
	length := func() ast.Expr { return call(ident("len"), u.copy(x.X)) }
	var cond ast.Expr = &ast.BinaryExpr{X: asInt(), Op: token.GEQ, Y: length()}
	if !positive {
		cond = &ast.BinaryExpr{X: &ast.BinaryExpr{X: asInt(), Op: token.LSS, Y: Int(0)}, Op: token.LOR, Y: cond}
	}
	u.imports = true
	return &ast.IfStmt{If: x.Lbrack, Cond: cond, Body: block(expr(Support("Index", asInt(), length())))}
}

// shiftTest returns the test of a shift count, which must not be negative.
func (k *checker) shiftTest(pos token.Pos, count ast.Expr) *ast.IfStmt {
	u := k.u
	if !u.simple(count) || u.positive(count) {
		return nil
	}
	u.imports = true
	return &ast.IfStmt{
		If:   pos,
		Cond: &ast.BinaryExpr{X: u.asInt(count), Op: token.LSS, Y: Int(0)}, Body: block(expr(Support("Shift"))),
	}
}

// asInt returns a copy of a simple expression as an int.
func (u *Unit) asInt(e ast.Expr) ast.Expr {
	b, ok := orInvalid(u.typeOf(e)).Underlying().(*types.Basic)
	if ok && (b.Kind() == types.Int || b.Kind() == types.UntypedInt) {
		return u.copy(e)
	}
	return call(ident("int"), u.copy(e))
}

// simple reports whether an expression is cheap to evaluate twice.
func (u *Unit) simple(e ast.Expr) bool {
	if u.Info.Types[e].Value != nil {
		return true
	}
	switch x := e.(type) {
	case *ast.Ident:
		_, ok := u.Info.Uses[x].(*types.Var)
		return ok || u.isTemporary(x) && u.Info.Types[x].Type != nil
	case *ast.ParenExpr:
		return u.simple(x.X)
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		return s != nil && s.Kind() == types.FieldVal && u.simple(x.X)
	case *ast.IndexExpr:
		t := u.typeOf(x.X)
		return t != nil && !u.isGeneric(x.X) && u.simple(x.X) && u.simple(x.Index)
	case *ast.BinaryExpr:
		return (x.Op == token.ADD || x.Op == token.SUB) && u.simple(x.X) && u.simple(x.Y)
	case *ast.CallExpr:
		if len(x.Args) != 1 || !u.simple(x.Args[0]) {
			return false
		}
		if u.Info.Types[x.Fun].IsType() {
			return true
		}
		return u.isBuiltin(x.Fun, "len")
	}
	return false
}

// copy returns a tree like that of a simple expression, without positions.
func (u *Unit) copy(e ast.Expr) ast.Expr {
	var c ast.Expr
	switch x := e.(type) {
	case *ast.Ident:
		id := ident(x.Name)
		if o := u.Info.Uses[x]; o != nil {
			u.Info.Uses[id] = o
		}
		c = id
	case *ast.BasicLit:
		c = &ast.BasicLit{Kind: x.Kind, Value: x.Value}
	case *ast.ParenExpr:
		c = &ast.ParenExpr{X: u.copy(x.X)}
	case *ast.SelectorExpr:
		s := &ast.SelectorExpr{X: u.copy(x.X), Sel: ident(x.Sel.Name)}
		if sel := u.Info.Selections[x]; sel != nil {
			u.Info.Selections[s] = sel
		}
		if o := u.Info.Uses[x.Sel]; o != nil {
			u.Info.Uses[s.Sel] = o
		}
		c = s
	case *ast.IndexExpr:
		c = &ast.IndexExpr{X: u.copy(x.X), Index: u.copy(x.Index)}
		u.safe[c] = u.safe[x]
	case *ast.BinaryExpr:
		c = &ast.BinaryExpr{X: u.copy(x.X), Op: x.Op, Y: u.copy(x.Y)}
	case *ast.UnaryExpr:
		c = &ast.UnaryExpr{Op: x.Op, X: u.copy(x.X)}
	case *ast.CallExpr:
		n := &ast.CallExpr{Fun: u.copy(x.Fun)}
		for _, a := range x.Args {
			n.Args = append(n.Args, u.copy(a))
		}
		c = n
	default:
		return e
	}
	return u.as(c, e)
}
