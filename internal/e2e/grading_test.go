package e2e

import (
	"testing"
)

// TestGrading takes an assignment through nbgrader. A right submission gets all points; the others lose those of
// the test cells that they fail.
func TestGrading(t *testing.T) {
	python := jupyter(t, "nbgrader")
	course := t.TempDir()
	if out, code := halfnote(t, "nbgrader", course); code != 0 {
		t.Fatalf("halfnote nbgrader: exit code %d\n%s", code, out)
	}
	out, err := python("-W", "ignore", "internal/e2e/testdata/jupyter/grading.py", course, t.TempDir()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const want = `right again=1 dtypes=1.5 norm=3 note=1 scale=2
wrong again=1 dtypes=0 norm=0 note=1 scale=0
partial again=1 dtypes=1 norm=0 note=1 scale=2
stderr again=1 dtypes=1.5 norm=0 note=0 scale=2
broken again=1 dtypes=1.5 norm=3 note=1 scale=0
empty again=1 dtypes=0 norm=0 note=0 scale=0
`
	if string(out) != want {
		t.Errorf("got points\n%swant\n%s", out, want)
	}
}
