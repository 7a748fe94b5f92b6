package core

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"halfnote/interp/internal/lower"
)

// reader tells the types of nodes: the checker's, those that rewrites have recorded, and what follows from them.
type reader struct {
	u     *lower.Unit
	info  *types.Info
	made  map[string]types.Type // types of the names that have been declared, for identifiers that rewrites have made
	funcs map[string]bool       // functions of the unit
	seen  map[ast.Expr]types.Type
	stars map[*ast.StarExpr]bool // whether those seen are types
}

// support is the type of what support functions return, as far as it is not recorded.
var support types.Type = types.NewNamed(types.NewTypeName(token.NoPos, nil, "support", nil), types.NewInterfaceType(nil, nil), nil)

// typeOf returns the type of an expression, or nil if it is not known.
func (r *reader) typeOf(e ast.Expr) types.Type {
	if tv, ok := r.info.Types[e]; ok && tv.Type != nil && tv.Type != types.Typ[types.Invalid] {
		return tv.Type
	}
	if t := r.u.Written(e); t != nil {
		return t
	}
	if id, ok := e.(*ast.Ident); ok {
		return r.ident(id)
	}
	if t, ok := r.seen[e]; ok {
		return t
	}
	t := r.derive(e)
	r.seen[e] = t
	return t
}

func (r *reader) object(id *ast.Ident) types.Object {
	if o := r.info.Uses[id]; o != nil {
		return o
	}
	return r.info.Defs[id]
}

func (r *reader) ident(id *ast.Ident) types.Type {
	if o := r.object(id); o != nil {
		if t := o.Type(); t != types.Typ[types.Invalid] {
			return t
		}
	}
	if t, ok := r.made[id.Name]; ok {
		return t
	}
	if o := types.Universe.Lookup(id.Name); o != nil {
		return o.Type()
	}
	if o := r.u.Pkg.Scope().Lookup(id.Name); o != nil {
		return o.Type()
	}
	return nil
}

// derive returns the type that follows from those of the operands.
func (r *reader) derive(e ast.Expr) types.Type {
	switch x := e.(type) {
	case *ast.BasicLit:
		return literalTypes[x.Kind]
	case *ast.ParenExpr:
		return r.typeOf(x.X)
	case *ast.StarExpr:
		t := r.typeOf(x.X)
		if t == nil {
			return nil
		}
		if r.isType(x.X) {
			return types.NewPointer(t)
		}
		if t == support {
			return support
		}
		if p, ok := t.Underlying().(*types.Pointer); ok {
			return p.Elem()
		}
	case *ast.UnaryExpr:
		t := r.typeOf(x.X)
		if t == nil {
			return nil
		}
		switch x.Op {
		case token.AND:
			return types.NewPointer(t)
		case token.ARROW:
			if c, ok := t.Underlying().(*types.Chan); ok {
				return c.Elem()
			}
			return nil
		}
		return t
	case *ast.BinaryExpr:
		switch x.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ, token.LAND, token.LOR:
			return types.Typ[types.Bool]
		case token.SHL, token.SHR:
			return r.typeOf(x.X)
		}
		t := r.typeOf(x.X)
		if b, ok := t.(*types.Basic); t == nil || ok && b.Info()&types.IsUntyped != 0 {
			return r.typeOf(x.Y)
		}
		return t
	case *ast.CallExpr:
		return r.call(x)
	case *ast.IndexExpr:
		return elementOf(r.typeOf(x.X))
	case *ast.SliceExpr:
		t := r.typeOf(x.X)
		if t == nil {
			return nil
		}
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if a, ok := t.Underlying().(*types.Array); ok {
			return types.NewSlice(a.Elem())
		}
		return t
	case *ast.SelectorExpr:
		return r.selector(x)
	case *ast.TypeAssertExpr:
		if x.Type != nil {
			return r.typeOf(x.Type)
		}
	case *ast.CompositeLit:
		if x.Type != nil {
			return r.typeOf(x.Type)
		}
	case *ast.FuncLit:
		return r.signature(x.Type)
	case *ast.FuncType:
		return r.signature(x)
	case *ast.ArrayType:
		t := r.typeOf(x.Elt)
		if t == nil {
			return nil
		}
		if x.Len == nil {
			return types.NewSlice(t)
		}
		return types.NewArray(t, 1) // only the kind matters
	case *ast.MapType:
		if k, t := r.typeOf(x.Key), r.typeOf(x.Value); k != nil && t != nil {
			return types.NewMap(k, t)
		}
	case *ast.ChanType:
		if t := r.typeOf(x.Value); t != nil {
			return types.NewChan(types.SendRecv, t)
		}
	case *ast.InterfaceType:
		return types.NewInterfaceType(nil, nil)
	case *ast.StructType:
		return r.structure(x)
	}
	return nil
}

var literalTypes = map[token.Token]types.Type{
	token.INT: types.Typ[types.UntypedInt], token.FLOAT: types.Typ[types.UntypedFloat], token.IMAG: types.Typ[types.UntypedComplex],
	token.CHAR: types.Typ[types.UntypedRune], token.STRING: types.Typ[types.UntypedString],
}

func elementOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	u := t.Underlying()
	if p, ok := u.(*types.Pointer); ok {
		u = p.Elem().Underlying()
	}
	switch u := u.(type) {
	case *types.Map:
		return u.Elem()
	case *types.Basic:
		return types.Typ[types.Byte]
	case interface{ Elem() types.Type }:
		return u.Elem()
	}
	return nil
}

// call returns the type of the results of a call.
func (r *reader) call(x *ast.CallExpr) types.Type {
	if r.isType(x.Fun) {
		return r.typeOf(x.Fun)
	}
	if name := r.builtin(x.Fun); name != "" {
		switch name {
		case "len", "cap", "copy":
			return types.Typ[types.Int]
		case "make":
			return r.typeOf(x.Args[0])
		case "new":
			if t := r.typeOf(x.Args[0]); t != nil {
				return types.NewPointer(t)
			}
			return nil
		case "recover":
			return types.Universe.Lookup("any").Type()
		case "append", "min", "max":
			return r.typeOf(x.Args[0])
		case "real", "imag":
			return types.Typ[types.Float64]
		case "complex":
			return types.Typ[types.Complex128]
		}
		return types.NewTuple()
	}
	if r.isSupport(x.Fun) {
		return support
	}
	t := r.typeOf(x.Fun)
	if t == nil || t == support {
		return t
	}
	sig, ok := t.Underlying().(*types.Signature)
	if !ok {
		return nil
	}
	if sig.Results().Len() == 1 {
		return sig.Results().At(0).Type()
	}
	return sig.Results()
}

func (r *reader) selector(x *ast.SelectorExpr) types.Type {
	if r.isSupport(x) {
		return support
	}
	if o := r.info.Uses[x.Sel]; o != nil {
		return o.Type()
	}
	if id, ok := x.X.(*ast.Ident); ok && r.isPackage(id) {
		return nil
	}
	t := r.typeOf(x.X)
	if t == nil || t == support {
		return t
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Name() == x.Sel.Name {
				return f.Type()
			}
		}
	}
	pkg := r.u.Pkg
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil {
		pkg = n.Obj().Pkg()
	}
	if o, _, _ := types.LookupFieldOrMethod(t, true, pkg, x.Sel.Name); o != nil {
		return o.Type()
	}
	return nil
}

func (r *reader) signature(f *ast.FuncType) types.Type {
	variadic := false
	tuple := func(list *ast.FieldList) *types.Tuple {
		var vars []*types.Var
		if list == nil {
			return nil
		}
		for _, f := range list.List {
			e := f.Type
			if d, ok := e.(*ast.Ellipsis); ok {
				variadic, e = true, d.Elt
			}
			t := r.typeOf(e)
			if t == nil {
				t = support
			}
			if variadic {
				t = types.NewSlice(t)
			}
			for range max(1, len(f.Names)) {
				vars = append(vars, types.NewParam(token.NoPos, nil, "", t))
			}
		}
		return types.NewTuple(vars...)
	}
	params := tuple(f.Params)
	v := variadic
	variadic = false
	return types.NewSignatureType(nil, nil, nil, params, tuple(f.Results), v)
}

func (r *reader) structure(x *ast.StructType) types.Type {
	var fields []*types.Var
	for _, f := range x.Fields.List {
		t := r.typeOf(f.Type)
		if t == nil {
			t = support
		}
		for _, id := range f.Names {
			fields = append(fields, types.NewField(token.NoPos, r.u.Pkg, id.Name, t, false))
		}
		if len(f.Names) == 0 {
			fields = append(fields, types.NewField(token.NoPos, r.u.Pkg, "embedded", t, true))
		}
	}
	return types.NewStruct(fields, nil)
}

// isType reports whether an expression is a type.
func (r *reader) isType(e ast.Expr) bool {
	if tv, ok := r.info.Types[e]; ok && tv.IsType() {
		return true
	}
	if r.u.Written(e) != nil {
		return true
	}
	switch x := e.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType, *ast.StructType:
		return true
	case *ast.ParenExpr:
		return r.isType(x.X)
	case *ast.StarExpr:
		is, known := r.stars[x]
		if !known {
			is = r.isType(x.X)
			if r.stars == nil {
				r.stars = map[*ast.StarExpr]bool{}
			}
			r.stars[x] = is
		}
		return is
	case *ast.SelectorExpr:
		_, ok := r.info.Uses[x.Sel].(*types.TypeName)
		return ok
	case *ast.Ident:
		o := r.object(x)
		if o == nil {
			if _, made := r.made[x.Name]; made {
				return false
			}
			if o = types.Universe.Lookup(x.Name); o == nil {
				o = r.u.Pkg.Scope().Lookup(x.Name)
			}
		}
		_, ok := o.(*types.TypeName)
		return ok
	}
	return false
}

// builtin returns the name of the built-in function that an expression denotes, or "".
func (r *reader) builtin(e ast.Expr) string {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return ""
	}
	o := r.object(id)
	if o == nil {
		if _, made := r.made[id.Name]; made {
			return ""
		}
		o = types.Universe.Lookup(id.Name)
	}
	if b, ok := o.(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// isPackage reports whether an identifier is the name of a package.
func (r *reader) isPackage(id *ast.Ident) bool {
	if o := r.object(id); o != nil {
		_, ok := o.(*types.PkgName)
		return ok
	}
	return strings.HasPrefix(id.Name, "p__")
}

// isSupport reports whether an expression names a support symbol.
func (r *reader) isSupport(e ast.Expr) bool {
	x, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := x.X.(*ast.Ident)
	return ok && id.Name == "p__"+lower.SupportPath
}
