package typemaker

//lint:file-ignore U1000 fields have the places of those of package internal/abi

import (
	"reflect"
	"unsafe"
)

// The structures of this file are those of package internal/abi with which the compiler and package
// reflect describe types. A description begins with the structure of its kind. If the type has a
// name or methods, an uncommon follows, then the parameters of a function type, then the methods.
// The description of a map depends on the release of Go; see release_*.go. TestLayout compares all
// of them with the source of Go.

// common is abi.Type.
type common struct {
	size, ptrBytes                 uintptr
	hash                           uint32
	tflag, align, fieldAlign, kind uint8
	equal                          func(p, q unsafe.Pointer) bool
	gcData                         *byte
	str, ptrToThis                 int32
}

// The flags of a common.
const (
	tflagUncommon       = 1 << 0
	tflagExtraStar      = 1 << 1
	tflagNamed          = 1 << 2
	tflagGCMaskOnDemand = 1 << 4
	tflagDirectIface    = 1 << 5
)

type arrayType struct {
	common
	elem, slice *common
	len         uintptr
}

type chanType struct {
	common
	elem *common
	dir  int
}

type funcType struct {
	common
	inCount, outCount uint16
}

type interfaceType struct {
	common
	pkgPath *byte
	methods []imethod
}

type imethod struct{ name, typ int32 }

type ptrType struct {
	common
	elem *common
}

type sliceType struct {
	common
	elem *common
}

type structType struct {
	common
	pkgPath *byte
	fields  []structField
}

type structField struct {
	name   *byte
	typ    *common
	offset uintptr
}

// uncommon is abi.UncommonType. moff is the distance from its beginning to the methods.
type uncommon struct {
	pkgPath        int32
	mcount, xcount uint16
	moff, _        uint32
}

// method is abi.Method. Its numbers are those of addReflectOff. An interface calls the code ifn with
// the word that it holds, reflect's Type.Method gives the code tfn, whose receiver has the type.
type method struct{ name, mtyp, ifn, tfn int32 }

// The flags in the first byte of a name, which its length and its text follow.
const (
	nameExported = 1 << 0
	nameTagged   = 1 << 1
	nameEmbedded = 1 << 3
)

const wordSize = unsafe.Sizeof(uintptr(0))

// sizes has the sizes of the structures of kinds that are not described by a common alone.
var sizes = map[reflect.Kind]uintptr{
	reflect.Array:     unsafe.Sizeof(arrayType{}),
	reflect.Chan:      unsafe.Sizeof(chanType{}),
	reflect.Func:      unsafe.Sizeof(funcType{}),
	reflect.Interface: unsafe.Sizeof(interfaceType{}),
	reflect.Map:       unsafe.Sizeof(mapType{}),
	reflect.Pointer:   unsafe.Sizeof(ptrType{}),
	reflect.Slice:     unsafe.Sizeof(sliceType{}),
	reflect.Struct:    unsafe.Sizeof(structType{}),
}

// words returns the size in words of the description of a kind, without what follows it.
func words(k reflect.Kind) int {
	size, ok := sizes[k]
	if !ok {
		size = unsafe.Sizeof(common{})
	}
	return int(size / wordSize)
}

// The sizes in words of what may follow.
const (
	uncommonWords = int(unsafe.Sizeof(uncommon{}) / wordSize)
	methodWords   = int(unsafe.Sizeof(method{}) / wordSize)
)

// description returns the description of a type.
func description(t reflect.Type) *common {
	return (*common)((*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1])
}

// described returns the type that c describes.
func described(c *common) reflect.Type {
	var v any
	(*[2]unsafe.Pointer)(unsafe.Pointer(&v))[0] = unsafe.Pointer(c)
	return reflect.TypeOf(v)
}
