package cpu

import (
	"testing"

	"halfnote/tensor/drivertest"
	"halfnote/tensor/internal/asm"
)

// TestNorms runs the conformance tests of normalisations on every tier and on portable
// code.
func TestNorms(t *testing.T) {
	defer func(l asm.Loops, n asm.Norms) { loops, norms = l, n }(loops, norms)
	for _, tier := range append([]*asm.Tier{nil}, asm.Tiers()...) {
		loops, norms = loopsOf(tier), normsOf(tier)
		drivertest.Norms(t, on(2, tier))
	}
}
