package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/interp"
	"halfnote/kernel/client"
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

// TestEngineRefused checks that a command that is told to compile cells where it cannot ends with status 2 and the
// reason, and that a kernel that a front end starts runs the cells on Yaegi and says so.
func TestEngineRefused(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, value := range map[string]string{"PATH": "/nowhere", "XDG_CACHE_HOME": filepath.Join(dir, "cache"), "GOROOT": ""} {
		t.Setenv(name, value)
	}
	out, _ := halfnote(t, "doctor")
	_, why, ok := strings.Cut(out, "compiled ")
	if !ok {
		t.Fatalf("halfnote doctor:\n%s", out)
	}
	why, _, _ = strings.Cut(strings.TrimSpace(why), "\n")
	if strings.Contains(why, "can be compiled") { // it carries its compiler
		t.Skip(why)
	}
	file := filepath.Join(dir, "out.ipynb")
	for _, args := range [][]string{
		{"run", "--engine", "native", "--output", file, "notebooks/00-hello.ipynb"},
		{"install", "--engine", "native", "--prefix", dir},
		{"lab", "--engine", "native", "--no-browser", "--dir", dir},
	} {
		out, code := halfnote(t, args...)
		if want := "--engine native: cells cannot be compiled: " + why; code != 2 || !strings.Contains(out, want) || strings.Count(out, why) != 1 {
			t.Errorf("%q: got exit code %d and %s\nwant 2 and, once, %s", args, code, out, want)
		}
	}
	if written, _ := filepath.Glob(filepath.Join(dir, "*.ipynb")); len(written) > 0 {
		t.Errorf("%q were written", written)
	}
	if _, err := os.Stat(filepath.Join(dir, "share")); err == nil {
		t.Error("a kernelspec was written")
	}

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	k, err := client.Start(ctx, client.Spec{Argv: []string{exe, "kernel", "--engine", interp.Compiled, "{connection_file}"}}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if info := k.Info(); info.Engine != "cells run by yaegi" || !strings.HasSuffix(info.Banner, "\nNote: cells are not compiled but interpreted by yaegi: "+why) {
		t.Errorf("got engine %q and banner %q, want yaegi's and the reason: %s", info.Engine, info.Banner, why)
	}
	for i, want := range []bool{false, true, false} { // only the first cell that shows its output has the note
		call, err := k.Submit("1 + 1", client.ExecuteOptions{Silent: i == 0})
		if err != nil {
			t.Fatal(err)
		}
		var printed strings.Builder
		_, err = call.Wait(ctx, func(m client.Message) { printed.Write(m.Content) })
		if err != nil || strings.Contains(printed.String(), "not compiled but interpreted by yaegi") != want {
			t.Errorf("cell %d: got %v and %s; a note is wanted: %t", i, err, printed.String(), want)
		}
	}
}

// TestEngineNamed checks that a run names the engine of its cells.
func TestEngineNamed(t *testing.T) {
	for engine, want := range map[string]string{"": "cells run by yaegi\n", "yaegi": "cells run by yaegi\n"} {
		args := []string{"run", "notebooks/00-hello.ipynb"}
		if engine != "" {
			args = append(args, "--engine", engine)
		}
		if out, code := halfnote(t, args...); code != 0 || !strings.Contains(out, want) {
			t.Errorf("engine %q: got exit code %d and\n%s\nwant %s", engine, code, out, want)
		}
	}
}

// TestGoRun checks that the program that go run makes of this checkout compiles cells, and offers both kernels.
func TestGoRun(t *testing.T) {
	if !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache))) // of packages; that of compiled cells is new
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	prefix := t.TempDir()
	for _, tt := range []struct{ command, want string }{
		{"doctor", "cells can be compiled: --engine native"},
		{"run --engine native notebooks/00-hello.ipynb", ", compiled cells\n"},
		{"install --prefix " + prefix, "next to it is a second one, whose cells are compiled"},
	} {
		out, err := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, strings.Fields(tt.command)...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("go run . %s: %v\n%s\nwant %s", tt.command, err, out, tt.want)
		}
	}
	if specs, _ := filepath.Glob(filepath.Join(prefix, "share/jupyter/kernels/*/kernel.json")); len(specs) != 2 {
		t.Errorf("got the kernelspecs %q, want two", specs)
	}
}
