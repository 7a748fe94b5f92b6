package library

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/exports"
)

// TestStandardLibrary checks that each package of the standard library is compiled in, or has a reason why cells cannot import it.
func TestStandardLibrary(t *testing.T) {
	release, err := os.ReadFile("../exports/z/release.txt")
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(release)) != runtime.Version() {
		t.Skipf("needs %s, of whose packages there are tables", release)
	}
	out, err := exec.Command("go", "list", "std").Output()
	if err != nil {
		t.Skip("needs the go command to list packages: ", err)
	}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if parts := strings.Split(path, "/"); parts[0] == "vendor" || slices.Contains(parts, "internal") {
			continue
		}
		if compiled, refused := exports.Importable(path) == nil, exports.Refused(path) != nil; compiled == refused {
			t.Errorf("%s: compiled in %v, refused with a reason %v: package list names it, or exports says why not", path, compiled, refused)
		}
	}
}
