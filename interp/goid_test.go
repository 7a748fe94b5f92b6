package interp

import (
	"os"
	"os/exec"
	"testing"

	"halfnote/internal/goid"
)

// slowTests are run where goroutines are identified by runtime.Stack: cells with goroutines, and interrupts.
const slowTests = "TestScripts$/^(autocast|defer|goroutines|interrupt|panics|streams|survival)$"

// TestSlowIdentity runs scripts in a process that cannot read the numbers of goroutines from memory.
func TestSlowIdentity(t *testing.T) {
	if !goid.Fast() {
		t.Skip("the other tests run so")
	}
	if testing.Short() {
		t.Skip("repeats scripts")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", slowTests)
	cmd.Env = append(os.Environ(), "HALFNOTE_GOID=stack")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
