package front

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"halfnote/interp/internal/lower"
)

// headerOf returns the declaration of o for the checker, without bodies.
func headerOf(o types.Object, name lower.Namer) ([]ast.Decl, error) {
	id := ast.NewIdent(o.Name())
	switch o := o.(type) {
	case *types.Var:
		t, err := lower.TypeExpr(o.Type(), name)
		return []ast.Decl{&ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{Names: []*ast.Ident{id}, Type: t}}}}, err
	case *types.Const:
		v := &ast.ValueSpec{Names: []*ast.Ident{id}, Values: []ast.Expr{lower.Constant(o.Val())}}
		var err error
		if b, ok := o.Type().(*types.Basic); !ok || b.Info()&types.IsUntyped == 0 {
			v.Type, err = lower.TypeExpr(o.Type(), name)
		} else if b.Kind() == types.UntypedRune {
			v.Values[0] = untypedRune(o.Val())
		}
		return []ast.Decl{&ast.GenDecl{Tok: token.CONST, Specs: []ast.Spec{v}}}, err
	case *types.Func:
		f, err := funcHeader(o, nil, name)
		return []ast.Decl{f}, err
	case *types.TypeName:
		spec := &ast.TypeSpec{Name: id}
		var err error
		if a, ok := o.Type().(*types.Alias); ok {
			spec.Assign = 1
			if spec.TypeParams, err = lower.TypeParams(a.TypeParams(), name); err == nil {
				spec.Type, err = lower.TypeExpr(a.Rhs(), name)
			}
		} else {
			n := o.Type().(*types.Named)
			if spec.TypeParams, err = lower.TypeParams(n.TypeParams(), name); err == nil {
				spec.Type, err = lower.TypeExpr(n.Underlying(), name)
			}
		}
		return []ast.Decl{&ast.GenDecl{Tok: token.TYPE, Specs: []ast.Spec{spec}}}, err
	}
	return nil, fmt.Errorf("%s cannot be declared", o)
}

func untypedRune(v constant.Value) ast.Expr {
	n, _ := constant.Int64Val(v)
	return &ast.BinaryExpr{X: &ast.BasicLit{Kind: token.CHAR, Value: `'\x00'`}, Op: token.ADD, Y: lower.Int(n)}
}

// funcHeader returns the header of a function or of a method, whose receiver type recv
// is the binding's identifier.
func funcHeader(f *types.Func, recv ast.Expr, name lower.Namer) (*ast.FuncDecl, error) {
	sig := f.Signature()
	t, err := lower.FuncType(sig, name)
	if err != nil {
		return nil, err
	}
	d := &ast.FuncDecl{Name: ast.NewIdent(f.Name()), Type: t}
	if sig.TypeParams().Len() > 0 {
		if t.TypeParams, err = lower.TypeParams(sig.TypeParams(), name); err != nil {
			return nil, err
		}
	}
	if recv != nil {
		d.Recv = &ast.FieldList{Opening: 1, Closing: 1, List: []*ast.Field{{Names: []*ast.Ident{ast.NewIdent("_")}, Type: recv}}}
	}
	if sig.TypeParams().Len() > 0 || sig.RecvTypeParams().Len() > 0 {
		// The checker requires a body for generic functions.
		d.Body = &ast.BlockStmt{List: []ast.Stmt{&ast.ExprStmt{X: &ast.CallExpr{
			Fun: ast.NewIdent("panic"), Args: []ast.Expr{lower.Int(0)},
		}}}}
	}
	return d, nil
}
