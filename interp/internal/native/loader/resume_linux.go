//go:build amd64 || arm64

package loader

import "unsafe"

// callOld calls a function that takes its argument on the stack, as functions in assembly do, by the address of its code.
func callOld(entry uintptr, argument unsafe.Pointer)
