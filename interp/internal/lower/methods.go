package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// function returns the name of the function that a method of the session has become: a
// variable that holds its latest version, or the function itself.
func (u *Unit) function(typ, method string) string {
	if u.Hook != nil {
		if hook := u.Hook(typ, method); hook != "" {
			return hook
		}
	}
	return typ + "__" + method
}

// plainMethods turns the unit's methods into functions, and declares them to package
// dynamic.
func (u *Unit) plainMethods() {
	var decls []ast.Decl
	var known []ast.Stmt
	for _, d := range u.File.Decls {
		fd, ok := d.(*ast.FuncDecl)
		if !ok || fd.Recv == nil {
			decls = append(decls, d)
			continue
		}
		typ, method := lastName(fd.Recv.List[0].Type), fd.Name.Name
		name := u.function(typ, method)
		if method != "_" {
			known = append(known, u.declaration(fd, typ, name))
		}
		if name != typ+"__"+method {
			continue // the variable replaces the method
		}
		if u.Functions == nil {
			u.Functions = map[string]string{}
		}
		u.Functions[name] = method
		NameParams(fd.Recv)
		NameParams(fd.Type.Params)
		fd.Type.Params.List = append(append([]*ast.Field{}, fd.Recv.List...), fd.Type.Params.List...)
		fd.Recv, fd.Name = nil, ident(name)
		decls = append(decls, fd)
	}
	known = append(u.setup, known...)
	if len(known) > 0 {
		f := &ast.FuncDecl{
			Name: ident(fmt.Sprintf("declare__%d", u.Seq)),
			Type: &ast.FuncType{Func: u.Outer.Pos(), Params: &ast.FieldList{}}, Body: block(known...),
		}
		u.Generated[f] = true
		decls = append(decls, f)
		u.Outer.Body.List = append([]ast.Stmt{expr(call(ident(f.Name.Name)))}, u.Outer.Body.List...)
	}
	u.File.Decls = append(decls, u.helpers...)
}

// declaration declares a method to package dynamic.
func (u *Unit) declaration(fd *ast.FuncDecl, typ, function string) ast.Stmt {
	n, fn := u.methodNamed(typ, fd.Name.Name)
	if fn == nil {
		u.unsupported(fd, "method %s of an unknown type", fd.Name.Name)
	}
	u.describe(n)
	sig := fn.Signature()
	u.describe(types.NewSignatureType(nil, nil, nil, sig.Params(), sig.Results(), sig.Variadic()))
	_, pointer := types.Unalias(sig.Recv().Type()).(*types.Pointer)
	adapter := func(t types.Type, deref bool) ast.Expr {
		params, args, ellipsis := u.parameters(fd, sig)
		recv := u.assert(fd, ident("r__"), t)
		if deref {
			recv = &ast.StarExpr{X: recv}
		}
		x := &ast.CallExpr{Fun: ident(function), Args: append([]ast.Expr{recv}, args...), Ellipsis: ellipsis}
		return u.literal(fd, append([]*ast.Field{{Names: []*ast.Ident{ident("r__")}, Type: emptyInterface()}}, params...), sig, x)
	}
	var value ast.Expr = ident("nil")
	if !pointer {
		value = adapter(n, false)
	}
	return expr(Support("Declare", text(u.id(n)), text(fn.Name()), text("func"+signatureText(sig, u.engineName)),
		value, adapter(types.NewPointer(n), !pointer)))
}

// methodNamed finds a method by the engine's name of its type.
func (u *Unit) methodNamed(typ, method string) (*types.Named, *types.Func) {
	if u.named == nil {
		u.named = map[string]*types.Named{}
		for _, name := range u.Pkg.Scope().Names() {
			if o, ok := u.Pkg.Scope().Lookup(name).(*types.TypeName); ok {
				if n, ok := o.Type().(*types.Named); ok && !o.IsAlias() {
					u.named[u.nameOf(o)] = n
				}
			}
		}
	}
	n := u.named[typ]
	if n == nil {
		return nil, nil
	}
	for m := range n.Methods() {
		if m.Name() == method {
			return n, m
		}
	}
	return n, nil
}

// parameters returns the parameters of a literal, and the arguments that pass them on.
func (u *Unit) parameters(at ast.Node, sig *types.Signature) (params []*ast.Field, args []ast.Expr, ellipsis token.Pos) {
	t, err := FuncType(sig, u.Name)
	if err != nil {
		u.unsupported(at, "%v", err)
	}
	for i, f := range t.Params.List {
		f.Names = []*ast.Ident{ident(fmt.Sprintf("a__%d", i))}
		args = append(args, u.typed(ident(f.Names[0].Name), sig.Params().At(i).Type()))
	}
	if sig.Variadic() {
		ellipsis = 1
	}
	return t.Params.List, args, ellipsis
}

// literal returns a function literal that makes one call.
func (u *Unit) literal(at ast.Node, params []*ast.Field, sig *types.Signature, x ast.Expr) *ast.FuncLit {
	t, err := FuncType(sig, u.Name)
	if err != nil {
		u.unsupported(at, "%v", err)
	}
	lit := &ast.FuncLit{Type: &ast.FuncType{Func: at.Pos(), Params: &ast.FieldList{List: params}}, Body: block(expr(x))}
	if t.Results != nil {
		for i, f := range t.Results.List {
			lit.Type.Results = addField(lit.Type.Results, &ast.Field{Type: u.typed(f.Type, sig.Results().At(i).Type())})
		}
		lit.Body = block(&ast.ReturnStmt{Results: []ast.Expr{x}})
	}
	return lit
}

func addField(l *ast.FieldList, f *ast.Field) *ast.FieldList {
	if l == nil {
		l = &ast.FieldList{}
	}
	l.List = append(l.List, f)
	return l
}

// withReceiver returns the type of a method as a function, whose first parameter is the
// receiver.
func withReceiver(recv types.Type, sig *types.Signature) *types.Signature {
	params := []*types.Var{types.NewParam(token.NoPos, nil, "", recv)}
	for v := range sig.Params().Variables() {
		params = append(params, v)
	}
	return types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
}

var (
	anyName = types.Universe.Lookup("any")
	anyType = anyName.Type()
)

// helper adds a function that is not the user's code to the unit.
func (u *Unit) helper(name string, lit *ast.FuncLit) {
	f := &ast.FuncDecl{Name: ident(name), Type: lit.Type, Body: lit.Body}
	u.Generated[f] = true
	u.helpers = append(u.helpers, f)
}
