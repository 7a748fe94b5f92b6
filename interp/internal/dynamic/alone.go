package dynamic

import (
	"errors"
	"go/ast"
	"go/parser"
	"reflect"
	"strconv"

	"halfnote/interp/internal/typemaker"
)

// hasOwnMethods reports whether a type is an interface with methods that interpreted code declares. Its values are in the form of an empty
// interface.
func (f form) hasOwnMethods() bool {
	return f.t != nil && f.t.Kind == reflect.Interface && len(f.t.Methods) > 0 && f.r.NumMethod() == 0
}

var (
	errValues = errors.New("compiled code knows values of which it is the type of a part, without its methods")
	errTypes  = errors.New("its methods have types that only the interpreter knows")
)

// alone returns a type with the methods of an interface that interpreted code declares, for compiled code that gets the type and no value of it, for
// example to ask which types implement it. Mirrors of types with such a part would have another type in its place, and are refused.
func (f form) alone() reflect.Type {
	mirrors.Lock()
	defer mirrors.Unlock()
	if w := mirrors.alone[f.t]; w != nil {
		return w
	}
	if mirrors.to[f] != nil {
		panic(NoMirror{f.t.Name, errValues})
	}
	var methods []typemaker.Method
	for _, m := range f.t.Methods {
		e, err := parser.ParseExpr(m.Sig)
		t := written(e)
		if err != nil || t == nil {
			panic(NoMirror{f.t.Name, errTypes})
		}
		methods = append(methods, typemaker.Method{Name: m.Name, Type: t})
	}
	path, name := "", f.t.Name
	if f.t.Named {
		path, name = f.t.pathAndName()
	}
	w, err := typemaker.Requires(path, name, methods)
	if err != nil {
		panic(NoMirror{f.t.Name, err})
	}
	mirrors.alone[f.t] = w
	return w
}

// written returns the type that an expression denotes, or nil if it has a part other than predeclared types.
func written(e ast.Expr) reflect.Type {
	switch e := e.(type) {
	case *ast.Ident:
		return predeclared[e.Name]
	case *ast.InterfaceType:
		if len(e.Methods.List) == 0 {
			return predeclared["any"]
		}
	case *ast.StarExpr:
		if t := written(e.X); t != nil {
			return reflect.PointerTo(t)
		}
	case *ast.ArrayType:
		t := written(e.Elt)
		if t == nil || e.Len == nil {
			return sliceOf(t)
		}
		if n, ok := e.Len.(*ast.BasicLit); ok {
			if n, err := strconv.Atoi(n.Value); err == nil {
				return reflect.ArrayOf(n, t)
			}
		}
	case *ast.Ellipsis:
		return sliceOf(written(e.Elt))
	case *ast.MapType:
		if k, t := written(e.Key), written(e.Value); k != nil && t != nil {
			return reflect.MapOf(k, t)
		}
	case *ast.FuncType:
		variadic := false
		types := func(list *ast.FieldList) (all []reflect.Type, ok bool) {
			if list == nil {
				return nil, true
			}
			for _, f := range list.List {
				_, rest := f.Type.(*ast.Ellipsis)
				variadic = variadic || rest
				all = append(all, written(f.Type))
				if all[len(all)-1] == nil {
					return nil, false
				}
			}
			return all, true
		}
		in, known := types(e.Params)
		out, ok := types(e.Results)
		if known && ok {
			return reflect.FuncOf(in, out, variadic)
		}
	}
	return nil
}

func sliceOf(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	return reflect.SliceOf(t)
}

// predeclared holds the types of the language by name.
var predeclared = func() map[string]reflect.Type {
	m := map[string]reflect.Type{"any": reflect.TypeFor[any](), "error": reflect.TypeFor[error](), "byte": reflect.TypeFor[byte](), "rune": reflect.TypeFor[rune]()}
	for _, v := range []any{false, 0, int8(0), int16(0), int32(0), int64(0), uint(0), uint8(0), uint16(0), uint32(0), uint64(0), uintptr(0), float32(0), 0.0, complex64(0), 0i, ""} {
		t := reflect.TypeOf(v)
		m[t.Name()] = t
	}
	return m
}()
