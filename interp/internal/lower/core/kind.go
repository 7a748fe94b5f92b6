package core

import (
	"go/types"
	"strings"
)

// Kind is a set of kinds of types.
type Kind uint32

// Kinds of types. Unknown is that of an expression whose type nothing records: a row that lists it does not look at the type.
const (
	Unknown Kind = 1 << iota
	Bool
	Int
	Uint
	Uintptr
	Float
	Complex
	String
	Array
	Slice
	Struct
	Empty // struct{}
	Map
	Func
	VariadicFunc
	Chan
	Pointer
	Interface
	Results // none or several results of a call
	Made    // what support functions return, as far as no rewrite records its type

	beyondKinds
	AnyKind = beyondKinds - 1
	Basic   = Bool | Int | Uint | Uintptr | Float | Complex | String
)

var kindNames = []string{
	"unknown type", "bool", "int", "uint", "uintptr", "float", "complex", "string", "array", "slice", "struct", "struct{}", "map", "func", "variadic func",
	"channel", "pointer", "interface", "results", "made by a support function",
}

func (k Kind) String() string {
	var list []string
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

func kindOf(t types.Type) Kind {
	switch t {
	case nil:
		return Unknown
	case support:
		return Made
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return basicKind(t)
	case *types.Array:
		return Array
	case *types.Slice:
		return Slice
	case *types.Struct:
		if t.NumFields() == 0 {
			return Empty
		}
		return Struct
	case *types.Map:
		return Map
	case *types.Signature:
		if t.Variadic() {
			return VariadicFunc
		}
		return Func
	case *types.Chan:
		return Chan
	case *types.Pointer:
		return Pointer
	case *types.Interface:
		return Interface
	case *types.Tuple:
		if t.Len() == 1 {
			return kindOf(t.At(0).Type())
		}
		return Results
	}
	return Unknown
}

func basicKind(t *types.Basic) Kind {
	switch i := t.Info(); {
	case i&types.IsBoolean != 0:
		return Bool
	case t.Kind() == types.Uintptr:
		return Uintptr
	case i&types.IsUnsigned != 0:
		return Uint
	case i&types.IsInteger != 0:
		return Int
	case i&types.IsFloat != 0:
		return Float
	case i&types.IsComplex != 0:
		return Complex
	case i&types.IsString != 0:
		return String
	case t.Kind() == types.UnsafePointer, t.Kind() == types.UntypedNil:
		return Pointer
	}
	return Unknown
}
