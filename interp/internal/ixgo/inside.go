package ixgo

import (
	"errors"
	"go/types"
	"reflect"
	"unsafe"
	"weak"

	"github.com/goplus/ixgo"
	"golang.org/x/tools/go/ssa"
)

// Units depend on two unexported fields of ixgo's Interp:
//
//   - msets holds the methods of units' types. An interpreter that finds a type of a later
//     unit in an interface must know the type, or the call jumps to a wrong address and
//     ends the process.
//   - record holds the types that the interpreter has made.
//
// They also depend on the packages of the SSA program: each later interpreter would read all
// of them, and none is ever released.

type msets = map[reflect.Type]map[string]*ssa.Function

var (
	msetsField  = field(reflect.TypeFor[ixgo.Interp](), "msets", reflect.TypeFor[msets]())
	recordField = field(reflect.TypeFor[ixgo.Interp](), "record", reflect.TypeFor[*ixgo.TypesRecord]())
	rcacheField = field(reflect.TypeFor[ixgo.TypesRecord](), "rcache", reflect.TypeFor[map[reflect.Type]types.Type]())
)

var packagesField = field(reflect.TypeFor[ssa.Program](), "packages", reflect.TypeFor[map[*types.Package]*ssa.Package]())

// discard removes a unit from the SSA program.
func (e *Engine) discard(unit *ssa.Package) {
	delete(*at[map[*types.Package]*ssa.Package](unsafe.Pointer(e.prog), packagesField), unit.Pkg)
}

// field returns a field of a struct, or nil if it is not of type want.
func field(t reflect.Type, name string, want reflect.Type) *reflect.StructField {
	f, ok := t.FieldByName(name)
	if !ok || f.Type != want {
		return nil
	}
	return &f
}

var errRelease = errors.New("ixgo: the fields of this ixgo release differ from those of v1.1.1, which the engine requires")

// unexported returns an error for the parts of ixgo that are not as this package
// expects.
func unexported() error {
	if msetsField == nil || recordField == nil || rcacheField == nil || packagesField == nil {
		return errRelease
	}
	if !asExpected() {
		return errRelease
	}
	if f, ok := reflect.TypeFor[ixgo.Interp]().FieldByName("funcs"); !ok || f.Type != reflect.MapOf(reflect.TypeFor[*ssa.Function](), reflect.PointerTo(functionType)) {
		return errRelease
	}
	return nil
}

func at[T any](p unsafe.Pointer, f *reflect.StructField) *T { return (*T)(unsafe.Add(p, f.Offset)) }

// typesOf returns the types that an interpreter has made.
func typesOf(in *ixgo.Interp) map[reflect.Type]types.Type {
	record := *at[*ixgo.TypesRecord](unsafe.Pointer(in), recordField)
	return *at[map[reflect.Type]types.Type](unsafe.Pointer(record), rcacheField)
}

// interpreters holds the interpreters that are still referenced.
type interpreters []weak.Pointer[ixgo.Interp]

// add adds an interpreter. all holds the types of units so far, and fresh the new ones among
// them. The maps are replaced and not changed: their owners may be reading them.
func (l *interpreters) add(in *ixgo.Interp, all, fresh []reflect.Type) {
	know(in, all)
	live := (*l)[:0]
	for _, w := range *l {
		if p := w.Value(); p != nil {
			if len(fresh) > 0 {
				know(p, fresh)
			}
			live = append(live, w)
		}
	}
	*l = append(live, weak.Make(in))
}

// know marks types as types of units for an interpreter, so that ixgo finds their
// methods itself.
func know(in *ixgo.Interp, list []reflect.Type) {
	field := at[msets](unsafe.Pointer(in), msetsField)
	m := make(msets, len(*field)+len(list))
	for t, methods := range *field {
		m[t] = methods
	}
	for _, t := range list {
		if m[t] == nil {
			m[t] = map[string]*ssa.Function{}
		}
	}
	*field = m
}
