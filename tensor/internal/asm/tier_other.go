//go:build !amd64 || purego

package asm

func detect() []*Tier { return nil }

// Converts returns the tier's conversions, which may be nil.
func (t *Tier) Converts() Converts { return Converts{} }

// Pause waits some tens of nanoseconds, as a loop that spins should.
func Pause() {}
