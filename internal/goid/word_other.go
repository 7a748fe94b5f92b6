//go:build !(amd64 || arm64 || 386 || riscv64 || wasm)

package goid

const readable = false

func word(uintptr) uint64 { panic("goid: descriptions are not readable") }

func address() uintptr { panic("goid: descriptions are not readable") }
