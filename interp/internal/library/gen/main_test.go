package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFilesAreFresh checks that the embedded files are those of the Go release that generated
// them. Another release is not compared.
func TestFilesAreFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to find the source of the standard library")
	}
	const dir = "../z"
	release, err := os.ReadFile(filepath.Join(dir, "release.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(release)) != runtime.Version() {
		t.Skipf("the files are those of %s, this is %s", strings.TrimSpace(string(release)), runtime.Version())
	}
	fresh, err := generate("../overlay")
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadDir(dir)
	if err != nil || len(old) != len(fresh) {
		t.Errorf("got %d files, want %d: run go generate ./interp/... (%v)", len(old), len(fresh), err)
	}
	for name, want := range fresh {
		read := os.ReadFile
		if strings.HasSuffix(name, ".go") {
			name, read = name+".gz", gunzip
		}
		if got, err := read(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./interp/... (%v)", name, err)
		}
	}
}
