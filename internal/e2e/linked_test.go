package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestLinkedModules checks the modules that the built program records.
func TestLinkedModules(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	testenv.CheckModules(t, exe)
}

// TestExportedModule checks that the hint for an exported program names the version that is linked into halfnote.
func TestExportedModule(t *testing.T) {
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	version := testenv.CheckModules(t, exe)["github.com/x448/float16"]
	dir := t.TempDir()
	book := filepath.Join(dir, "half.ipynb")
	const cells = `{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": null,
		"source": "import \"github.com/x448/float16\"\nfmt.Println(float16.Fromfloat32(0.1))"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
	if err := os.WriteFile(book, []byte(cells), 0o666); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "main.go")
	cmd := exec.Command(exe, "export", book, file)
	out, err := cmd.CombinedOutput()
	if want := "add to its go.mod:\n\trequire github.com/x448/float16 " + version + "\n"; err != nil || !strings.Contains(string(out), want) {
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
