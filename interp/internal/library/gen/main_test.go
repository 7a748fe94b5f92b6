package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What package library embeds must be what the Go release says that it was
// generated from. Another release is not compared.
func TestFilesAreFresh(t *testing.T) {
	const dir = "../z"
	release, err := os.ReadFile(filepath.Join(dir, "release.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(release)) != runtime.Version() {
		t.Skipf("the files are those of %s, this is %s", strings.TrimSpace(string(release)), runtime.Version())
	}
	if _, err := os.Stat(filepath.Join(runtime.GOROOT(), "src")); err != nil {
		t.Skipf("needs the source of the standard library: %v", err)
	}
	fresh, err := generate("../overlay")
	if err != nil {
		t.Fatal(err)
	}
	old, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(old) != len(fresh) {
		t.Errorf("got %d files, want %d: run go generate ./interp/... (%v)", len(old), len(fresh), err)
	}
	for name, want := range fresh {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./interp/... (%v)", name, err)
		}
	}
}
