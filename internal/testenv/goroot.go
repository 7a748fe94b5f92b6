package testenv

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// GOROOT returns the folder of the installed Go. The test is skipped unless its version is that
// of the running program.
func GOROOT(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOVERSION", "GOROOT").Output()
	if err != nil {
		t.Skipf("needs the go command: %v", err)
	}
	version, root, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if version != runtime.Version() {
		t.Skipf("needs %s, and %s is installed", runtime.Version(), version)
	}
	return root
}
