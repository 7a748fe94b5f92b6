package loader

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestUnknownRelease compiles the packages of compiled cells as the release after the last known one does: without a layout
// of the runtime, they refuse to load objects, and Yaegi runs the cells.
func TestUnknownRelease(t *testing.T) {
	testenv.GOROOT(t)
	last := releases[len(releases)-1]
	minor, err := strconv.Atoi(strings.TrimPrefix(last, "go1."))
	if err != nil {
		t.Fatal(err)
	}
	next := fmt.Sprintf("go1.%d", minor+1)
	tags := strings.Join(append(slices.Clone(releases), next), ",")
	list := func(what, pkg string) string {
		out, err := exec.Command("go", "list", "-tags", tags, "-f", what, pkg).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	for pkg, want := range map[string]string{".": "other.go", "../object": "unknown.go"} {
		if files := list("{{.GoFiles}}", pkg); !strings.Contains(files, want) || strings.Contains(files, "layout") || strings.Contains(files, "zbuiltins") {
			t.Errorf("%s with %s: got the files %s; want %s, and none of a known release", pkg, next, files, want)
		}
	}
	if out, err := exec.Command("go", "build", "-tags", tags, "halfnote/interp/internal/native/...").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
