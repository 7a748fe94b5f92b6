//go:build !amd64 || purego

package asm

func detect() []*Tier {
	tileState = "this build has portable code only"
	return nil
}

// WithTiles returns nil, because this build has no assembly.
func WithTiles(Tiles) *Tier { return nil }

// Pause waits some tens of nanoseconds, as a loop that spins should.
func Pause() {}
