package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestTracked checks that only tracked files count that were not deleted.
func TestTracked(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "own"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.go", "ünlaut b.go", "gone.go", "own/c.go"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "a.go", "ünlaut b.go", "gone.go"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("needs git: %v\n%s", err, out)
		}
	}
	if err := os.Remove(filepath.Join(dir, "gone.go")); err != nil {
		t.Fatal(err)
	}
	if got, want := Tracked(t, dir), []string{"a.go", "ünlaut b.go"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
