//go:build amd64 || arm64 || 386 || riscv64 || wasm

package goid

// readable reports whether word and address work.
const readable = true

// word returns the 8 bytes at an offset in the description of the calling goroutine. The race detector and the checks of
// pointers do not see the access.
func word(offset uintptr) uint64

// address returns the address of the description of the calling goroutine.
func address() uintptr
