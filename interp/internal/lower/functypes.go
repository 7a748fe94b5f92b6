package lower

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/astutil"
)

// functionTypes writes instances of generic func types of compiled packages as the func types under them, since the back end has
// no others. The checker knows the names up to here, and a value in an interface keeps its type in a box.
//
//	func count() iter.Seq[int]    func count() func(func(int) bool)
func (u *Unit) functionTypes() {
	is := func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		return ok && (isA[*ast.IndexExpr](e) || isA[*ast.IndexListExpr](e)) && u.Info.Types[e].IsType() && u.nameless(u.Info.Types[e].Type)
	}
	for i, d := range u.File.Decls {
		u.File.Decls[i] = astutil.Apply(d, func(c *astutil.Cursor) bool {
			if s, ok := c.Node().(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					if t := f.Type; len(f.Names) == 0 && is(starless(t)) {
						f.Names = []*ast.Ident{ident(lastName(t))}
					}
				}
			}
			return true
		}, func(c *astutil.Cursor) bool {
			if is(c.Node()) {
				e := c.Node().(ast.Expr)
				c.Replace(u.as(u.typeExpr(e, u.Info.Types[e].Type), e))
			}
			return true
		}).(ast.Decl)
	}
}

func starless(t ast.Expr) ast.Expr {
	if p, ok := t.(*ast.StarExpr); ok {
		return p.X
	}
	return t
}

// nameless reports whether the back end knows only the type under t.
func (u *Unit) nameless(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && !u.ours(n.Obj()) && IsFuncType(n.Obj())
}

// IsFuncType reports whether a name is that of a generic func type.
func IsFuncType(o *types.TypeName) bool {
	n, ok := o.Type().(*types.Named)
	if !ok || n.TypeParams().Len() == 0 {
		return false
	}
	_, ok = n.Underlying().(*types.Signature)
	return ok
}
