package ixgo

import (
	"go/token"
	"go/types"
	"path"
	"reflect"
)

// walk visits the types and the table values of a compiled package's exports in parallel. It
// finds the reflect types of types that have no entry: unexported types and instances of
// generic types.
func (l *loader) walk(pkg *types.Package) {
	if l.walked[pkg] {
		return
	}
	l.walked[pkg] = true
	w := walker{l, map[reflect.Type]bool{}}
	table := l.tableOf(pkg.Path())
	for _, name := range pkg.Scope().Names() {
		v, ok := table[name]
		if !ok {
			continue
		}
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.TypeName:
			if v.Kind() == reflect.Pointer && v.IsNil() {
				w.pair(o.Type(), v.Type().Elem())
			}
		case *types.Func:
			if v.Kind() == reflect.Func {
				w.pair(o.Type(), v.Type())
			}
		case *types.Var:
			w.pair(o.Type(), v.Type())
		}
	}
}

type walker struct {
	*loader
	seen map[reflect.Type]bool
}

func (w walker) pair(t types.Type, r reflect.Type) {
	t = types.Unalias(t)
	if r.Name() != "" || r.Kind() == reflect.Struct || r.Kind() == reflect.Interface {
		if w.seen[r] {
			return
		}
		w.seen[r] = true
	}
	if n, ok := t.(*types.Named); ok {
		if n.Obj().Pkg() == nil {
			return
		}
		if w.toReflect.At(n) == nil {
			w.set(n, r)
		}
		if n.Obj().Pkg() != nil {
			w.methods(n, r)
		}
		t = n.Underlying()
	}
	switch t := t.(type) {
	case *types.Pointer:
		if r.Kind() == reflect.Pointer {
			w.pair(t.Elem(), r.Elem())
		}
	case *types.Slice:
		if r.Kind() == reflect.Slice {
			w.pair(t.Elem(), r.Elem())
		}
	case *types.Array:
		if r.Kind() == reflect.Array {
			w.pair(t.Elem(), r.Elem())
		}
	case *types.Chan:
		if r.Kind() == reflect.Chan {
			w.pair(t.Elem(), r.Elem())
		}
	case *types.Map:
		if r.Kind() == reflect.Map {
			w.pair(t.Key(), r.Key())
			w.pair(t.Elem(), r.Elem())
		}
	case *types.Signature:
		if r.Kind() == reflect.Func {
			w.signature(t, r, 0)
		}
	case *types.Struct:
		if r.Kind() == reflect.Struct && r.NumField() == t.NumFields() {
			for i := range r.NumField() {
				w.pair(t.Field(i).Type(), r.Field(i).Type)
			}
		}
	case *types.Interface:
		if r.Kind() == reflect.Interface {
			w.interfaceMethods(t, r)
		}
	}
}

// signature pairs parameters and results; the first skip parameters of r have no
// counterpart in t.
func (w walker) signature(t *types.Signature, r reflect.Type, skip int) {
	if t.TypeParams().Len() > 0 || t.Params().Len() != r.NumIn()-skip || t.Results().Len() != r.NumOut() {
		return
	}
	for i := range t.Params().Len() {
		w.pair(t.Params().At(i).Type(), r.In(i+skip))
	}
	for i := range t.Results().Len() {
		w.pair(t.Results().At(i).Type(), r.Out(i))
	}
}

func (w walker) methods(n *types.Named, r reflect.Type) {
	if r.Kind() == reflect.Interface {
		return
	}
	p := reflect.PointerTo(r)
	for i := range n.NumMethods() {
		if m, ok := p.MethodByName(n.Method(i).Name()); ok {
			w.signature(n.Method(i).Signature(), m.Type, 1)
		}
	}
}

func (w walker) interfaceMethods(t *types.Interface, r reflect.Type) {
	for i := range t.NumMethods() {
		if m, ok := r.MethodByName(t.Method(i).Name()); ok {
			w.signature(t.Method(i).Signature(), m.Type, 0)
		}
	}
}

// typeOf returns the checker's type for a type of compiled code. It serves the support
// functions, which use few types.
func (l *loader) typeOf(r reflect.Type) types.Type {
	if t, ok := l.toTypes[r]; ok {
		return t
	}
	if r == reflect.TypeFor[error]() {
		return types.Universe.Lookup("error").Type()
	}
	if r.Name() != "" && r.PkgPath() != "" {
		if pkg, err := l.importer.Import(r.PkgPath()); err == nil {
			if o := pkg.Scope().Lookup(r.Name()); o != nil {
				l.set(o.Type(), r)
				return o.Type()
			}
		}
		return l.opaque(r)
	}
	switch r.Kind() {
	case reflect.Pointer:
		return types.NewPointer(l.typeOf(r.Elem()))
	case reflect.Slice:
		return types.NewSlice(l.typeOf(r.Elem()))
	case reflect.Array:
		return types.NewArray(l.typeOf(r.Elem()), int64(r.Len()))
	case reflect.Map:
		return types.NewMap(l.typeOf(r.Key()), l.typeOf(r.Elem()))
	case reflect.Chan:
		dir := map[reflect.ChanDir]types.ChanDir{reflect.BothDir: types.SendRecv, reflect.SendDir: types.SendOnly, reflect.RecvDir: types.RecvOnly}
		return types.NewChan(dir[r.ChanDir()], l.typeOf(r.Elem()))
	case reflect.Func:
		list := func(n int, at func(int) reflect.Type) *types.Tuple {
			var vars []*types.Var
			for i := range n {
				vars = append(vars, types.NewParam(0, nil, "", l.typeOf(at(i))))
			}
			return types.NewTuple(vars...)
		}
		return types.NewSignatureType(nil, nil, nil, list(r.NumIn(), r.In), list(r.NumOut(), r.Out), r.IsVariadic())
	case reflect.Struct:
		if r.NumField() == 0 {
			return types.NewStruct(nil, nil)
		}
	case reflect.Interface:
		if r.NumMethod() == 0 {
			return types.Universe.Lookup("any").Type()
		}
	default:
		if o := types.Universe.Lookup(r.Kind().String()); o != nil {
			return o.Type()
		}
	}
	panic("ixgo: no type for " + r.String())
}

// opaque makes a type with methods and without fields for a type that cells cannot
// name.
func (l *loader) opaque(r reflect.Type) types.Type {
	pkg := l.bound[r.PkgPath()]
	if pkg == nil {
		pkg = types.NewPackage(r.PkgPath(), path.Base(r.PkgPath()))
		pkg.MarkComplete()
		l.bound[r.PkgPath()] = pkg
	}
	name := types.NewTypeName(token.NoPos, pkg, r.Name(), nil)
	n := types.NewNamed(name, types.NewStruct(nil, nil), nil)
	pkg.Scope().Insert(name)
	l.set(n, r)
	p := reflect.PointerTo(r)
	for i := range p.NumMethod() {
		m := p.Method(i)
		sig := l.typeOf(m.Type).(*types.Signature)
		var params []*types.Var
		for i := 1; i < sig.Params().Len(); i++ {
			params = append(params, sig.Params().At(i))
		}
		var recv types.Type = n
		if _, ok := r.MethodByName(m.Name); !ok {
			recv = types.NewPointer(n)
		}
		sig = types.NewSignatureType(types.NewParam(token.NoPos, pkg, "", recv), nil, nil, types.NewTuple(params...), sig.Results(), sig.Variadic())
		n.AddMethod(types.NewFunc(token.NoPos, pkg, m.Name, sig))
	}
	return n
}
