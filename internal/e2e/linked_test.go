package e2e

import (
	"debug/buildinfo"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// given lists the modules that halfnote is a program around. Tests read them from the built program:
// that go.mod requires a module does not show that the program uses it.
var given = []string{
	"github.com/go-zeromq/zmq4",
	"github.com/traefik/yaegi",
	"github.com/x448/float16",
	"gonum.org/v1/plot",
}

// onGPU is the module that only the program with the GPU backend has.
const onGPU = "gorgonia.org/cu"

// TestLinkedModules checks the modules that the program records, as "go version -m" shows them.
func TestLinkedModules(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	tags := ""
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			tags = s.Value
		}
	}
	want := slices.Clone(given)
	if slices.Contains(strings.Split(tags, ","), "cuda") {
		want = append(want, onGPU)
	}
	for _, path := range want {
		if !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return m.Path == path && m.Version != "" && m.Replace == nil }) {
			t.Errorf("%s, built with tags %q, has no module %s:\n%s", exe, tags, path, info)
		}
	}
}

// TestExportedModule checks that the hint for an exported program names the version that is linked into halfnote.
func TestExportedModule(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == "github.com/x448/float16" })
	if i < 0 {
		t.Fatal("the program has no module github.com/x448/float16")
	}
	dir := t.TempDir()
	book := filepath.Join(dir, "half.ipynb")
	const cells = `{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": null,
		"source": "import \"github.com/x448/float16\"\nfmt.Println(float16.Fromfloat32(0.1))"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(book, []byte(cells), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "main.go")
	cmd := exec.Command(exe, "export", file, book)
	out, err := cmd.CombinedOutput()
	if want := "add to its go.mod:\n\trequire github.com/x448/float16 " + info.Deps[i].Version + "\n"; err != nil || !strings.Contains(string(out), want) {
		t.Errorf("halfnote export: %v\n%s\nwant\n%s", err, out, want)
	}
	src, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(src), `"github.com/x448/float16"`) {
		t.Errorf("%v\n%s\nlacks the import", err, src)
	}
}

// TestGoroutineIdentity checks what doctor reports about a program that cannot read the numbers of goroutines.
func TestGoroutineIdentity(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"":      "identity: fast",
		"stack": "identity: by runtime.Stack, because HALFNOTE_GOID=stack",
		"8":     "identity: by runtime.Stack, because HALFNOTE_GOID=8 is not the place of the goroutine's number",
	} {
		cmd := exec.Command(exe, "doctor")
		cmd.Env = append(os.Environ(), "HALFNOTE_GOID="+value)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("HALFNOTE_GOID=%s halfnote doctor: %v\n%s\nwant %q", value, err, out, want)
		}
	}
}
