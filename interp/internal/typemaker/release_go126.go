//go:build !go1.27

package typemaker

import "unsafe"

// known reports whether the structures of this package are those of the release that builds it.
const known = true

// mapType is abi.MapType of Go 1.26.
type mapType struct {
	common
	key, elem, group             *common
	hasher                       func(unsafe.Pointer, uintptr) uintptr
	groupSize, slotSize, elemOff uintptr
	flags                        uint32
}
