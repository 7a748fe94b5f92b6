//go:build arm64 || ppc64 || ppc64le || riscv64 || s390x

package asm

// FMA returns a*b + c rounded once: here the compiler fuses the two.
func FMA(a, b, c float32) float32 { return a*b + c }
