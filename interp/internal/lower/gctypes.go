package lower

import (
	"go/ast"
	"go/types"
	"slices"
)

// gcSizes are the sizes of types in compiled code. Those of 64-bit machines agree in what matters here.
var gcSizes = types.SizesFor("gc", "amd64")

func isText(t types.Type) bool {
	b, ok := orInvalid(t).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// isBytes reports whether a type is a slice of bytes or runes.
func isBytes(t types.Type) bool {
	s, ok := orInvalid(t).Underlying().(*types.Slice)
	return ok && isBasic(s.Elem())
}

// bytesKey reports whether a key of a map is made of bytes, which the compiler does not copy for the search: it makes that at once
// (cmd/compile/internal/walk, mapKeyReplaceStrConv).
func (u *Unit) bytesKey(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		if !u.Info.Types[x.Fun].IsType() || !isText(u.typeOf(x)) {
			return false
		}
		s, ok := orInvalid(u.typeOf(x.Args[0])).Underlying().(*types.Slice)
		return ok && types.Identical(s.Elem().Underlying(), types.Typ[types.Byte])
	case *ast.CompositeLit:
		return slices.ContainsFunc(u.parts(x), func(o *ast.Expr) bool { return u.bytesKey(*o) })
	}
	return false
}

func isComposite(t types.Type) bool {
	switch orInvalid(t).Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// sole returns the type of which a value consists.
func sole(t types.Type) types.Type {
	switch u := orInvalid(t).Underlying().(type) {
	case *types.Struct:
		if u.NumFields() == 1 {
			return sole(u.Field(0).Type())
		}
	case *types.Array:
		if u.Len() == 1 {
			return sole(u.Elem())
		}
	}
	return orInvalid(t)
}

func holdsPointer(t types.Type) bool {
	switch t := orInvalid(t).Underlying().(type) {
	case *types.Basic:
		return t.Info()&types.IsString != 0 || t.Kind() == types.UnsafePointer
	case *types.Array:
		return t.Len() > 0 && holdsPointer(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if holdsPointer(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}

// inWord reports whether the compiler keeps values of a type in the word of an interface: pointers and what consists of one
// (cmd/compile/internal/types, IsDirectIface).
func inWord(t types.Type) bool {
	switch t := sole(t).Underlying().(type) {
	case *types.Pointer, *types.Chan, *types.Map, *types.Signature:
		return true
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	}
	return false
}

// inRegisters reports whether the compiler keeps values of a type in registers (cmd/compile/internal/ssa, CanSSA).
func inRegisters(t types.Type) bool {
	if gcSizes.Sizeof(t) > 32 {
		return false
	}
	switch t := t.Underlying().(type) {
	case *types.Array:
		return t.Len() <= 1 && inRegisters(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if !inRegisters(f.Type()) {
				return false
			}
		}
		return t.NumFields() <= 4
	}
	return true
}

// byAddress reports whether the compiler passes the address of a value to the function that puts it into an interface
// (cmd/compile/internal/walk, dataWordFuncName).
func byAddress(t types.Type) bool {
	t = orInvalid(t)
	switch size, align := gcSizes.Sizeof(t), gcSizes.Alignof(t); {
	case size == 2 && align == 2, (size == 4 || size == 8) && align == size && !holdsPointer(t):
		return false
	}
	_, slice := sole(t).Underlying().(*types.Slice)
	return !slice && !isText(sole(t))
}

// smallElements reports whether a map has functions for keys in registers (cmd/compile/internal/walk, mapfast).
func smallElements(m *types.Map) bool { return gcSizes.Sizeof(m.Elem()) <= 128 }

// lateKeys reports whether the Go compiler makes the calls of an entry's value before it computes the key: whether it passes keys of the type to the
// map in a register.
func lateKeys(t types.Type) bool {
	m, ok := t.Underlying().(*types.Map)
	if !ok || !smallElements(m) {
		return false
	}
	switch k := sole(m.Key()).Underlying().(type) {
	case *types.Pointer, *types.Chan:
		return true
	case *types.Basic:
		return k.Info()&types.IsString != 0 || k.Info()&types.IsInteger != 0 && gcSizes.Sizeof(k) >= 4
	}
	return false
}

// keyAsMemory reports whether the compiler copies keys of a type to a number first: structs and arrays of plain memory with 4 or 8 bytes.
func keyAsMemory(m *types.Map) bool {
	size := gcSizes.Sizeof(m.Key())
	return isComposite(m.Key()) && smallElements(m) && (size == 4 || size == 8) && inMemory(m.Key())
}

// inMemory reports whether values of a type are equal if their memory is.
func inMemory(t types.Type) bool {
	switch t := orInvalid(t).Underlying().(type) {
	case *types.Basic:
		return t.Info()&(types.IsInteger|types.IsBoolean) != 0 || t.Kind() == types.UnsafePointer
	case *types.Pointer, *types.Chan:
		return true
	case *types.Array:
		return inMemory(t.Elem())
	case *types.Struct:
		size := int64(0)
		for f := range t.Fields() {
			if f.Name() == "_" || !inMemory(f.Type()) {
				return false
			}
			size += gcSizes.Sizeof(f.Type())
		}
		return size == gcSizes.Sizeof(t)
	}
	return false
}

// addressable reports whether the compiler takes an expression for a variable.
func (u *Unit) addressable(e ast.Expr) bool {
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := u.Info.Uses[x].(*types.Var)
		return ok
	case *ast.StarExpr:
		return true
	case *ast.IndexExpr:
		switch orInvalid(u.typeOf(x.X)).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		case *types.Array:
			return u.addressable(x.X)
		}
	case *ast.SelectorExpr:
		s := u.Info.Selections[x]
		return s == nil || s.Kind() == types.FieldVal && (s.Indirect() || u.addressable(x.X))
	}
	return false
}
