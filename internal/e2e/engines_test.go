package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"halfnote/interp"
	"halfnote/notebooks/notebook"
)

// TestEngines checks that a notebook has the same output on all engines.
func TestEngines(t *testing.T) {
	printed := map[string]string{}
	for _, engine := range interp.Engines {
		file := filepath.Join(t.TempDir(), "out.ipynb")
		if out, code := halfnote(t, "run", "--engine", engine, "--output", file, "notebooks/00-hello.ipynb"); code != 0 {
			t.Fatalf("%s: got exit code %d\n%s", engine, code, out)
		}
		nb, err := notebook.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range nb.Cells {
			if !c.HasTag("timing") {
				printed[engine] += cellText(c)
			}
		}
	}
	first := printed[interp.Engines[0]]
	for engine, text := range printed {
		if text != first || text == "" {
			t.Errorf("on %s:\n%s\non %s:\n%s", engine, text, interp.Engines[0], first)
		}
	}
	for _, command := range []string{"run", "install", "lab"} {
		args := []string{command, "--engine", "none"}
		if command == "run" {
			args = append(args, "notebooks/00-hello.ipynb")
		}
		out, code := halfnote(t, args...)
		if code == 0 || !strings.Contains(out, `--engine must be one of "yaegi","ixgo","native" but got "none"`) {
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
	out, code := halfnote(t, "run", "--kernel", "halfnote", "--engine", "ixgo", "notebooks/00-hello.ipynb")
	if want := "--kernel and --engine can't be used together"; code == 0 || !strings.Contains(out, want) {
		t.Errorf("got exit code %d and\n%s\nwant %s", code, out, want)
	}
}
