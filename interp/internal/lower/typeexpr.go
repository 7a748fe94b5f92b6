package lower

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// Namer returns the expression for a type's name, or nil without an error if the type
// itself must be written.
type Namer func(*types.TypeName) (ast.Expr, error)

// TypeExpr returns a syntax tree that denotes t. It fails if name does: for types that
// cannot be named, such as unexported ones of other packages.
func TypeExpr(t types.Type, name Namer) (ast.Expr, error) {
	w := typeWriter{name: name}
	e := w.expr(t)
	return e, w.err
}

// FuncType returns a syntax tree of a function's type, without its type parameters.
func FuncType(sig *types.Signature, name Namer) (*ast.FuncType, error) {
	w := typeWriter{name: name}
	f := w.signature(sig)
	return f, w.err
}

// TypeParams returns a syntax tree of a list of type parameters, or nil for none.
func TypeParams(list *types.TypeParamList, name Namer) (*ast.FieldList, error) {
	if list.Len() == 0 {
		return nil, nil
	}
	w := typeWriter{name: name}
	fields := &ast.FieldList{Opening: 1, Closing: 1}
	for p := range list.TypeParams() {
		fields.List = append(fields.List, &ast.Field{
			Names: []*ast.Ident{ast.NewIdent(p.Obj().Name())},
			Type:  w.constraint(p.Constraint()),
		})
	}
	return fields, w.err
}

type typeWriter struct {
	name   Namer
	params map[*types.TypeParam]string // other names of type parameters
	err    error
	// plain, if set, returns the name of a type with its type arguments, or "". Identical types are written in the same way then.
	plain func(*types.Named) string
}

func (w *typeWriter) fail(err error) ast.Expr {
	if w.err == nil {
		w.err = err
	}
	return ast.NewIdent("any")
}

func (w *typeWriter) named(o *types.TypeName, args *types.TypeList) ast.Expr {
	e, err := w.name(o)
	if err != nil {
		return w.fail(err)
	}
	if args.Len() == 0 || e == nil {
		return e
	}
	var list []ast.Expr
	for t := range args.Types() {
		list = append(list, w.expr(t))
	}
	return Index(e, list)
}

// Index returns e[list...].
func Index(e ast.Expr, list []ast.Expr) ast.Expr {
	if len(list) == 1 {
		return &ast.IndexExpr{X: e, Index: list[0]}
	}
	return &ast.IndexListExpr{X: e, Indices: list}
}

func (w *typeWriter) expr(t types.Type) ast.Expr {
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer || t.Kind() == types.Invalid {
			return w.fail(fmt.Errorf("the type %s has no name", t))
		}
		if t.Info()&types.IsUntyped != 0 {
			return w.expr(types.Default(t))
		}
		if w.plain != nil {
			return ast.NewIdent(types.Typ[t.Kind()].Name())
		}
		return ast.NewIdent(t.Name())
	case *types.Alias:
		if w.plain != nil {
			return w.expr(types.Unalias(t))
		}
		if t.Obj().Pkg() == nil || t.Obj().Exported() {
			if e := w.named(t.Obj(), t.TypeArgs()); e != nil {
				return e
			}
		}
		return w.expr(types.Unalias(t))
	case *types.Named:
		if w.plain != nil {
			if name := w.plain(t); name != "" {
				return ast.NewIdent(name)
			}
		}
		if e := w.named(t.Obj(), t.TypeArgs()); e != nil {
			return e
		}
		return w.expr(t.Underlying())
	case *types.TypeParam:
		if name := w.params[t]; name != "" {
			return ast.NewIdent(name)
		}
		return ast.NewIdent(t.Obj().Name())
	case *types.Pointer:
		return &ast.StarExpr{X: w.expr(t.Elem())}
	case *types.Slice:
		return &ast.ArrayType{Elt: w.expr(t.Elem())}
	case *types.Array:
		return &ast.ArrayType{Len: Int(t.Len()), Elt: w.expr(t.Elem())}
	case *types.Map:
		return &ast.MapType{Key: w.expr(t.Key()), Value: w.expr(t.Elem())}
	case *types.Chan:
		dir := map[types.ChanDir]ast.ChanDir{types.SendRecv: ast.SEND | ast.RECV, types.SendOnly: ast.SEND, types.RecvOnly: ast.RECV}
		return chanOf(w.expr(t.Elem()), dir[t.Dir()])
	case *types.Signature:
		return w.signature(t)
	case *types.Struct:
		return w.structure(t)
	case *types.Interface:
		if w.plain != nil && t.Empty() {
			return ast.NewIdent("interface {}") // as in %T
		}
		return w.iface(t)
	case *types.Union:
		return w.union(t)
	}
	return w.fail(fmt.Errorf("the type %s cannot be written", t))
}

// chanOf returns the type of a channel. As text, an element of type <-chan T needs parentheses.
func chanOf(elem ast.Expr, dir ast.ChanDir) *ast.ChanType {
	if c, ok := elem.(*ast.ChanType); ok && c.Dir == ast.RECV {
		elem = &ast.ParenExpr{X: elem}
	}
	return &ast.ChanType{Dir: dir, Value: elem}
}

func (w *typeWriter) signature(t *types.Signature) *ast.FuncType {
	f := &ast.FuncType{Func: 1, Params: w.tuple(t.Params(), t.Variadic())}
	if t.Results().Len() > 0 {
		f.Results = w.tuple(t.Results(), false)
	}
	return f
}

func (w *typeWriter) tuple(t *types.Tuple, variadic bool) *ast.FieldList {
	list := &ast.FieldList{Opening: 1, Closing: 1}
	for i := range t.Len() {
		v := t.At(i)
		f := &ast.Field{}
		if last, ok := types.Unalias(v.Type()).(*types.Slice); ok && variadic && i == t.Len()-1 {
			f.Type = &ast.Ellipsis{Elt: w.expr(last.Elem())}
		} else {
			f.Type = w.expr(v.Type())
		}
		if v.Name() != "" && w.plain == nil {
			f.Names = []*ast.Ident{ast.NewIdent(v.Name())}
		}
		list.List = append(list.List, f)
	}
	return list
}

func (w *typeWriter) structure(t *types.Struct) ast.Expr {
	list := &ast.FieldList{Opening: 1, Closing: 1}
	for i := range t.NumFields() {
		v := t.Field(i)
		f := &ast.Field{Type: w.expr(v.Type())}
		if !v.Embedded() || lastName(f.Type) == "_" {
			f.Names = []*ast.Ident{ast.NewIdent(v.Name())}
		}
		if tag := t.Tag(i); tag != "" {
			f.Tag = &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(tag)}
		}
		list.List = append(list.List, f)
	}
	return &ast.StructType{Fields: list}
}

func (w *typeWriter) iface(t *types.Interface) ast.Expr {
	list := &ast.FieldList{Opening: 1, Closing: 1}
	methods := t.ExplicitMethods()
	if w.plain != nil && t.IsMethodSet() {
		methods = t.Methods()
	} else {
		for e := range t.EmbeddedTypes() {
			list.List = append(list.List, &ast.Field{Type: w.expr(e)})
		}
	}
	for m := range methods {
		list.List = append(list.List, &ast.Field{
			Names: []*ast.Ident{ast.NewIdent(m.Name())},
			Type:  w.signature(m.Signature()),
		})
	}
	return &ast.InterfaceType{Methods: list}
}

func (w *typeWriter) union(t *types.Union) ast.Expr {
	var e ast.Expr
	for term := range t.Terms() {
		x := w.expr(term.Type())
		if term.Tilde() {
			x = &ast.UnaryExpr{Op: token.TILDE, X: x}
		}
		if e == nil {
			e = x
		} else {
			e = &ast.BinaryExpr{X: e, Op: token.OR, Y: x}
		}
	}
	return e
}

// constraint writes an implicit interface, ~int | ~string, without its braces.
func (w *typeWriter) constraint(t types.Type) ast.Expr {
	if i, ok := t.(*types.Interface); ok && i.IsImplicit() && i.NumEmbeddeds() == 1 {
		return w.expr(i.EmbeddedType(0))
	}
	return w.expr(t)
}

// Int returns a literal of n.
func Int(n int64) ast.Expr {
	if n < 0 {
		return &ast.UnaryExpr{Op: token.SUB, X: Int(-n)}
	}
	return &ast.BasicLit{Kind: token.INT, Value: strconv.FormatInt(n, 10)}
}
