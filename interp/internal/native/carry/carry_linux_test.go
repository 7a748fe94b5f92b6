package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/native/loader"
	"halfnote/interp/internal/native/object"
	"halfnote/interp/internal/native/toolchain"
)

const notebook = `{"cells": [
 {"cell_type": "code", "id": "a", "execution_count": null, "metadata": {}, "outputs": [], "source": "type T struct{ n int }\nfunc f[E any](n E) T { return T{len(fmt.Sprint(n))} }\nt := f(\"four\")"},
 {"cell_type": "code", "id": "b", "execution_count": null, "metadata": {}, "outputs": [], "source": "x := tensor.Ones(2, 3)\nfmt.Println(\"t\", t.n, x.Sum().Item())"}
], "metadata": {"kernelspec": {"name": "halfnote", "display_name": "Go", "language": "go"}}, "nbformat": 4, "nbformat_minor": 5}`

// variant is a way to build the program.
type variant struct {
	name, cgo string
	command   []string
	need      string // part of HALFNOTE_REQUIRE without which the build is left out
}

var variants = []variant{
	{"without cgo", "0", []string{"go"}, "native"},
	{"cuda", "1", []string{"sh", "cuda/build.sh"}, "gcc"},
}

// build builds a stripped program.
func (v variant) build(t *testing.T) (program string) {
	t.Helper()
	if !testenv.Requires("native") || !testenv.Requires(v.need) {
		t.Skipf("HALFNOTE_REQUIRE does not list native and %s", v.need)
	}
	if err := loader.Supported(); err != nil {
		testenv.Missing(t, "native", err)
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("CGO_ENABLED", v.cgo)
	program = filepath.Join(t.TempDir(), "halfnote")
	cmd := exec.CommandContext(t.Context(), v.command[0], slices.Concat(v.command[1:], []string{"build"}, flags, []string{"-o", program, "."})...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// add appends to a program what compiled cells need.
func (v variant) add(t *testing.T, program string) (int64, error) {
	return toolchain.Append(t.Context(), program, toolchain.Build{Dir: root, Command: v.command, Flags: flags, Trim: object.Trim})
}

const root = "../../../.."

// flags are those of a program that is stripped as far as the go command can.
var flags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="}

// run runs a program without an installed Go, and without what forbid names. It returns what the program prints, and
// its exit status.
func run(t *testing.T, forbid, program, cache string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=/nowhere", "HOME=" + cmd.Dir, "XDG_CACHE_HOME=" + cache}
	if forbid != "" {
		restrict(t, cmd, forbid)
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// doctor returns the report of a program.
func doctor(t *testing.T, forbid, program, cache string) string {
	t.Helper()
	out, status := run(t, forbid, program, cache, "doctor")
	if status != 0 {
		t.Errorf("doctor: exit status %d\n%s", status, out)
	}
	return out
}

// cells runs the notebook as compiled cells. It returns what the command prints and the notebook with its outputs, or the exit
// status.
func cells(t *testing.T, forbid, program, cache string) (string, int) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.ipynb"), filepath.Join(dir, "out.ipynb")
	if err := os.WriteFile(in, []byte(notebook), 0o666); err != nil {
		t.Fatal(err)
	}
	printed, status := run(t, forbid, program, cache, "run", "--engine", "native", in, "--output", out)
	got, err := os.ReadFile(out)
	if (err == nil) != (status == 0) {
		t.Errorf("exit status %d, and the notebook: %v", status, err)
	}
	return printed + string(got), status
}

// A stripped program without an installed Go runs compiled cells if it carries its compiler, and
// says what it lacks if it does not.
func TestCarry(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			program := v.build(t)
			testenv.CheckModules(t, program)
			cache := filepath.Join(t.TempDir(), "cache")
			const yes, no = "cells can be compiled", "neither carries a compiler"
			if got := doctor(t, "", program, cache); !strings.Contains(got, no) {
				t.Errorf("a program without a compiler: doctor says\n%s\nwant %q", got, no)
			}
			if n, err := v.add(t, program); err != nil || n == 0 {
				t.Fatalf("appended %d bytes: %v", n, err)
			}
			if _, err := v.add(t, program); err == nil {
				t.Error("appended twice: got no error")
			}
			for range 2 { // unpacks, and finds what is unpacked
				if got := doctor(t, "", program, cache); !strings.Contains(got, yes) {
					t.Errorf("doctor says\n%s\nwant %q", got, yes)
				}
				if got, status := cells(t, "", program, cache); status != 0 || !strings.Contains(got, `t 4 6\n`) || !strings.Contains(got, "compiled cells\n") {
					t.Errorf("got exit status %d and\n%s\nwant the output \"t 4 6\" of compiled cells", status, got)
				}
			}
			if v.cgo == "0" { // another loader would need to map code
				testForbidden(t, program, cache)
			}
		})
	}
}
