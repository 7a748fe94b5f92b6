package cpu

import (
	"testing"

	"halfnote/tensor/drivertest"
)

// TestNorms runs the conformance tests of normalisations on every tier and on portable code.
func TestNorms(t *testing.T) {
	eachTier(func(string) { drivertest.Norms(t, InBrief(t, New(2))) })
}
