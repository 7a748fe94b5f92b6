//go:build (386 && !android) || amd64 || arm64 || loong64 || riscv64

package typemaker

import "unsafe"

// stubCount is the number of stubs in stubs.h.
const stubCount = 8192

// code is the code of the stubs. Its address in Go would be that of a wrapper.
//
//lint:ignore U1000 firstStub refers to it
func code()

// firstStub returns the address of code.
func firstStub() unsafe.Pointer
