package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/native/object"
	"halfnote/interp/internal/native/toolchain"
)

const notebook = `{"cells": [
 {"cell_type": "code", "id": "a", "execution_count": null, "metadata": {}, "outputs": [], "source": "type T struct{ n int }\nfunc f[E any](n E) T { return T{len(fmt.Sprint(n))} }\nt := f(\"four\")"},
 {"cell_type": "code", "id": "b", "execution_count": null, "metadata": {}, "outputs": [], "source": "x := tensor.Ones(2, 3)\nfmt.Println(\"t\", t.n, x.Sum().Item())"}
], "metadata": {"kernelspec": {"name": "halfnote", "display_name": "Go", "language": "go"}}, "nbformat": 4, "nbformat_minor": 5}`

// A stripped program without an installed Go runs compiled cells if it carries its compiler, and
// says what it lacks if it does not.
func TestCarry(t *testing.T) {
	if !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		testenv.Missing(t, "native", fmt.Errorf("cells are not compiled on %s/%s", runtime.GOOS, runtime.GOARCH))
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "in.ipynb")
	if err := os.WriteFile(in, []byte(notebook), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(program, cache string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=/nowhere", "HOME=" + dir, "XDG_CACHE_HOME=" + cache}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	t.Setenv("GOFLAGS", "")
	for _, tt := range []struct {
		name, cgo string
		command   []string
		need      string // part of HALFNOTE_REQUIRE without which the build is left out
	}{
		{"without cgo", "0", []string{"go"}, "native"},
		{"cuda", "1", []string{"sh", filepath.Join(root, "cuda/build.sh")}, "gcc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !testenv.Requires(tt.need) {
				t.Skipf("HALFNOTE_REQUIRE does not list %s", tt.need)
			}
			t.Setenv("CGO_ENABLED", tt.cgo)
			program := filepath.Join(t.TempDir(), "halfnote")
			build := append(tt.command[1:len(tt.command):len(tt.command)], "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", program, ".")
			cmd := exec.CommandContext(t.Context(), tt.command[0], build...)
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			cache := filepath.Join(t.TempDir(), "cache")
			const yes, no = "cells can be compiled", "neither carries a compiler"
			if got := run(program, cache, "doctor"); !strings.Contains(got, no) {
				t.Errorf("a program without a compiler: doctor says\n%s\nwant %q", got, no)
			}
			b := toolchain.Build{Dir: root, Command: tt.command, Flags: []string{"-trimpath", "-buildvcs=false", "-ldflags=-w -buildid="}, Trim: object.Trim}
			n, err := toolchain.Append(t.Context(), program, b)
			if err != nil || n == 0 {
				t.Fatalf("appended %d bytes: %v", n, err)
			}
			if _, err := toolchain.Append(t.Context(), program, b); err == nil {
				t.Error("appended twice: got no error")
			}
			for range 2 { // unpacks, and finds what is unpacked
				if got := run(program, cache, "doctor"); !strings.Contains(got, yes) {
					t.Errorf("doctor says\n%s\nwant %q", got, yes)
				}
				out := filepath.Join(t.TempDir(), "out.ipynb")
				run(program, cache, "run", "--engine", "native", in, "--output", out)
				got, err := os.ReadFile(out)
				if err != nil || !strings.Contains(string(got), `t 4 6\n`) || strings.Contains(string(got), "not compiled") {
					t.Errorf("%v: got\n%s\nwant the output \"t 4 6\", and no note", err, got)
				}
			}
		})
	}
}
