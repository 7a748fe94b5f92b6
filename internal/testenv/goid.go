package testenv

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// SlowIdentity runs the tests that match a pattern again, in a process that identifies goroutines by runtime.Stack, as it does on
// processors and with releases of Go where halfnote cannot read their numbers.
func SlowIdentity(t *testing.T, tests string) {
	t.Helper()
	const variable = "HALFNOTE_GOID"
	if os.Getenv(variable) != "" {
		t.Skip("runs in the process that starts the other one")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", tests, "-test.v")
	cmd.Env = append(os.Environ(), variable+"=stack")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%s with %s=stack: %v\n%s", tests, variable, err, out)
	}
}
