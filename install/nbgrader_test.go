package install

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNBGrader(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "course")
	path, err := NBGrader(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != NBGraderConfig || path != filepath.Join(dir, "nbgrader_config.py") {
		t.Errorf("got %s, %v:\n%s", path, err, got)
	}
	if err := os.WriteFile(path, []byte("own"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := NBGrader(dir); err == nil || !strings.Contains(err.Error(), "exists; want") {
		t.Errorf("a second time: got error %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "own" {
		t.Errorf("the file was replaced by %q", got)
	}
	if _, err := NBGrader(path); err == nil || !strings.Contains(err.Error(), "install: nbgrader: ") {
		t.Errorf("a file in place of the folder: got error %v", err)
	}
}
