package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Tracked returns the files below dir that git tracks, by their paths from dir, with slashes. Tests that read the
// sources read these, so that a user's own files in a checkout do not fail them. It leaves out files that were deleted and
// skips the test outside of a checkout.
func Tracked(t testing.TB, dir string) (files []string) {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("needs git and a checkout: %v", err)
	}
	// The go command uses the result of an earlier run again unless a file that the test has looked at has changed: the index is one.
	cmd = exec.Command("git", "rev-parse", "--path-format=absolute", "--git-path", "index")
	cmd.Dir = dir
	if index, err := cmd.Output(); err == nil {
		os.Stat(strings.TrimSpace(string(index)))
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file))); err == nil && !info.IsDir() {
			files = append(files, file)
		}
	}
	return files
}
