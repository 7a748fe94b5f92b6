package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestEngineNames checks that an engine that does not exist is an error with the names of those that do.
func TestEngineNames(t *testing.T) {
	for _, command := range []string{"run", "install", "lab"} {
		args := []string{command, "--engine", "none"}
		if command == "run" {
			args = append(args, "notebooks/00-hello.ipynb")
		}
		out, code := halfnote(t, args...)
		if code == 0 || !strings.Contains(out, `--engine must be one of "yaegi","native" but got "none"`) {
			t.Errorf("%s: got exit code %d and %q, want an error with the names of the engines", command, code, out)
		}
	}
}

// TestRunKernel runs a notebook on an installed kernel, with the engine of its kernelspec.
func TestRunKernel(t *testing.T) {
	prefix := t.TempDir()
	if out, code := halfnote(t, "install", "--prefix", prefix); code != 0 {
		t.Fatalf("install: exit code %d\n%s", code, out)
	}
	t.Setenv("JUPYTER_PATH", filepath.Join(prefix, "share", "jupyter"))
	if out, code := halfnote(t, "run", "--kernel", "halfnote", "--output", filepath.Join(prefix, "out.ipynb"), "notebooks/00-hello.ipynb"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	out, code := halfnote(t, "run", "--kernel", "halfnote", "--engine", "native", "notebooks/00-hello.ipynb")
	if want := "--kernel and --engine can't be used together"; code == 0 || !strings.Contains(out, want) {
		t.Errorf("got exit code %d and\n%s\nwant %s", code, out, want)
	}
}
