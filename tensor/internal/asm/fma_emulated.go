//go:build !(arm64 || ppc64 || ppc64le || riscv64 || s390x)

package asm

// FMA returns a*b + c rounded once.
func FMA(a, b, c float32) float32 { return fmaEmulated(a, b, c) }
