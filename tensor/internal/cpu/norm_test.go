package cpu

import (
	"testing"

	"halfnote/tensor/drivertest"
	"halfnote/tensor/internal/asm"
)

// TestNorms runs the conformance tests of normalisations on every tier and on portable
// code.
func TestNorms(t *testing.T) {
	defer func(l asm.Loops, n asm.Norms, s asm.Selects) { loops, norms, selects = l, n, s }(loops, norms, selects)
	for _, tier := range append([]*asm.Tier{nil}, asm.Tiers()...) {
		loops, norms, selects = loopsOf(tier), normsOf(tier), selectsOf(tier)
		drivertest.Norms(t, on(2, tier))
	}
}
