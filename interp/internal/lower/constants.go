package lower

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// constants replaces every constant expression by its value, which the checker has
// computed exactly. Declarations of constants become empty.
func (u *Unit) constants() {
	for i, d := range u.File.Decls {
		u.File.Decls[i] = astutil.Apply(d, func(c *astutil.Cursor) bool {
			switch n := c.Node().(type) {
			case *ast.KeyValueExpr:
				// A key may be the name of a field, which has no value.
			case *ast.ArrayType: // Yaegi takes a length that is not an int for 0
				if v := u.Info.Types[n.Len].Value; n.Len != nil && v != nil {
					n.Len = u.typed(Constant(constant.ToInt(v)), types.Typ[types.Int])
				}
			case *ast.DeclStmt:
				if n.Decl.(*ast.GenDecl).Tok == token.CONST && c.Index() >= 0 {
					c.Delete()
					return false
				}
			case ast.Expr:
				if e := u.constant(n); e != nil {
					c.Replace(u.as(e, n))
					return false
				}
			}
			return true
		}, nil).(ast.Decl)
	}
}

// constant returns an expression for the value of e, or nil if it has none or is already
// simple.
func (u *Unit) constant(e ast.Expr) ast.Expr {
	tv, ok := u.Info.Types[e]
	if !ok || tv.Value == nil || tv.Value.Kind() == constant.Unknown {
		return nil
	}
	if lit, ok := e.(*ast.BasicLit); ok {
		if b, ok := tv.Type.(*types.Basic); ok && plain(b, lit) {
			return nil
		}
	}
	v := tv.Value
	b, ok := tv.Type.Underlying().(*types.Basic)
	if !ok { // a type parameter: the value is that of an untyped constant
		if _, isName := e.(*ast.Ident); !isName {
			return nil
		}
		return Constant(v)
	}
	switch {
	case b.Info()&types.IsInteger != 0:
		v = constant.ToInt(v)
	case b.Info()&types.IsFloat != 0:
		v = constant.ToFloat(v)
	case b.Info()&types.IsComplex != 0:
		v = constant.ToComplex(v)
	}
	x := Constant(v)
	switch tv.Type {
	case types.Typ[types.Bool], types.Typ[types.String], types.Typ[types.Int], types.Typ[types.Float64],
		types.Typ[types.Complex128], types.Typ[types.UntypedBool], types.Typ[types.UntypedInt],
		types.Typ[types.UntypedString], types.Typ[types.UntypedFloat], types.Typ[types.UntypedComplex]:
		return x
	case types.Typ[types.UntypedRune]:
		return call(ident("rune"), x)
	}
	t, err := TypeExpr(tv.Type, u.Name)
	if err != nil {
		return nil
	}
	return call(t, x)
}

// plain reports whether a literal has the type b without a conversion.
func plain(b *types.Basic, lit *ast.BasicLit) bool {
	switch lit.Kind.String() {
	case "INT":
		return b.Kind() == types.Int || b.Kind() == types.UntypedInt
	case "FLOAT":
		return b.Kind() == types.Float64 || b.Kind() == types.UntypedFloat
	case "STRING":
		return b.Kind() == types.String || b.Kind() == types.UntypedString
	case "CHAR":
		return b.Kind() == types.Int32 || b.Kind() == types.UntypedRune
	case "IMAG":
		return b.Kind() == types.Complex128 || b.Kind() == types.UntypedComplex
	}
	return false
}

// dotImports writes the package before names that come from dot imports, as if it had been
// written there.
func (u *Unit) dotImports() {
	u.each(func(c *astutil.Cursor) {
		id, ok := c.Node().(*ast.Ident)
		if !ok {
			return
		}
		if sel, ok := c.Parent().(*ast.SelectorExpr); ok && sel.Sel == id {
			return
		}
		o := u.Info.Uses[id]
		if o == nil || o.Pkg() == nil || o.Pkg() == u.Pkg || o.Parent() != o.Pkg().Scope() {
			return
		}
		x := ident(u.Import(o.Pkg().Path()))
		u.Info.Uses[x] = types.NewPkgName(id.Pos(), u.Pkg, x.Name, o.Pkg())
		sel := &ast.SelectorExpr{X: x, Sel: id}
		c.Replace(u.as(sel, id))
	})
}
