//go:build linux && (amd64 || arm64) && go1.26 && !go1.28

package loader

import (
	"reflect"
	"unsafe"
)

// The conversions between addresses and values of this package are in this file. The
// addresses are of memory that the collector does not move or free: that of the program, of
// units, or of values in kept.

// at returns the address of an integer as a pointer.
func at(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// bytesAt returns the n bytes at an address.
func bytesAt(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(at(addr)), n) }

// addressOf returns the address of the first byte of a non-empty slice.
func addressOf[E any](s []E) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// contents returns the bytes of a value.
func contents[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// descriptionOf returns the address of the description of a type.
func descriptionOf(t reflect.Type) uintptr {
	return uintptr((*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1])
}

// typeAt returns the type whose description is at an address.
func typeAt(addr uintptr) reflect.Type {
	var i any
	(*[2]unsafe.Pointer)(unsafe.Pointer(&i))[0] = at(addr)
	return reflect.TypeOf(i)
}

// function returns the function whose code is at an address. It has no parameters and results.
func function(entry uintptr) func() {
	closure := &entry
	return *(*func())(unsafe.Pointer(&closure))
}

// functionAt returns the function of type F whose code is at an address.
func functionAt[F any](entry uintptr) F {
	closure := &entry
	return *(*F)(unsafe.Pointer(&closure))
}

// callItabInit calls the runtime's function itabInit, whose code is at an address.
func callItabInit(entry uintptr, m *itab) {
	closure := &entry
	(*(*func(m *itab, firstTime bool) (missing string))(unsafe.Pointer(&closure)))(m, true)
}

// itabOf returns the address of the runtime's table of the methods of typ for the interface inter.
func itabOf(inter, typ reflect.Type) uintptr {
	v := reflect.New(inter)
	v.Elem().Set(reflect.Zero(typ))
	return *(*uintptr)(v.UnsafePointer())
}

// hashIn returns the hash in a description of a type or in an itab, which have it at the same offset.
func hashIn(addr uintptr) *uint32 { return (*uint32)(at(addr + 16)) }

// funcIn returns an entry of a line table.
func funcIn(table []byte, off uint32) *_func { return (*_func)(unsafe.Pointer(&table[off])) }
