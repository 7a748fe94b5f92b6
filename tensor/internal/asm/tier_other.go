//go:build !amd64 || purego

package asm

func detect() []*Tier { return nil }

// Pause waits some tens of nanoseconds, as a loop that spins should.
func Pause() {}
