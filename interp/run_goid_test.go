package interp

import (
	"testing"

	"halfnote/internal/testenv"
)

// TestSlowIdentity runs scripts with goroutines and interrupts where goroutines are identified by runtime.Stack.
func TestSlowIdentity(t *testing.T) {
	if testing.Short() {
		t.Skip("repeats scripts")
	}
	testenv.SlowIdentity(t, "TestScripts$/^(autocast|defer|goroutines|interrupt|panics|streams|survival)$")
}
