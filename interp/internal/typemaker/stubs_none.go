//go:build !((386 && !android) || amd64 || arm64 || loong64 || riscv64)

package typemaker

import "unsafe"

// stubCount is the number of stubs. Wasm cannot jump from function to function, and the other
// processors have no stubs here yet.
const stubCount = 0

func firstStub() unsafe.Pointer { return nil }
