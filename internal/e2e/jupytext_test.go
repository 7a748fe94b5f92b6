package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestJupytext checks that the lessons survive a turn as text, and that a paired text that was changed is run.
func TestJupytext(t *testing.T) {
	python := jupyter(t, "jupytext")
	notebooks, err := filepath.Glob("notebooks/*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatalf("%d notebooks, error %v", len(notebooks), err)
	}
	dir := t.TempDir()
	out, err := python(append([]string{"internal/e2e/testdata/jupyter/pairing.py", dir}, notebooks...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	executed := filepath.Join(dir, "executed.ipynb")
	if out, code := halfnote(t, "run", "--allow-errors", "--output", executed, filepath.Join(dir, filepath.Base(notebooks[0]))); code != 0 {
		t.Fatalf("run: exit code %d\n%s", code, out)
	}
	if got := readExecuted(t, executed).printed(); !strings.HasPrefix(got, "changed in the text\n") {
		t.Errorf("got %.200q, want the output of the changed cell first", got)
	}
}
