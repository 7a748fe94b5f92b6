package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp"
)

// The tests that TestCompiledCells runs, and those that it adds if HALFNOTE_REQUIRE lists course.
const (
	compiledTests = "JupyterConformance|Kernel(Hostile|Scripts)|Protocol|Debugger|SliderWhileTraining|OutputMagic|Lab(Debugger|Magics|Charts)"
	furtherTests  = "|Lab.*|Jupyter.*|Console.*|Gateway|Papermill.*|KernelEnds|Outputs.*"
)

// TestCompiledCells runs tests of this package with compiled cells, in a separate process: the messages, attacks and exchanges
// of front ends, and notebooks in JupyterLab.
func TestCompiledCells(t *testing.T) {
	if !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	if out, code := halfnote(t, "doctor"); !strings.Contains(out, "cells can be compiled") {
		t.Fatalf("halfnote doctor: exit code %d\n%s\nwant: cells can be compiled", code, out)
	}
	tests := compiledTests
	if testenv.Requires("course") {
		tests += furtherTests
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-engine", interp.Compiled, "-program", exe, "-test.run", "^Test("+tests+")$")
	cmd.Dir = "internal/e2e"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
