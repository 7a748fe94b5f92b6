//go:build !go1.27

package typemaker

//lint:file-ignore U1000 fields have the places of those of package internal/abi

import "unsafe"

// mapType is abi.MapType of Go 1.26.
type mapType struct {
	common
	key, elem, group             *common
	hasher                       func(unsafe.Pointer, uintptr) uintptr
	groupSize, slotSize, elemOff uintptr
	flags                        uint32
}
