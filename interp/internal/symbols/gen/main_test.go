package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/exports/list"
)

// TestTablesAreFresh checks that the tables match the current packages. It compares the
// standard library only if this Go release generated the files.
func TestTablesAreFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to read packages")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("needs linux/amd64: elsewhere it would compile the standard library")
	}
	paths := slices.Clone(list.Own)
	release, err := os.ReadFile("../../exports/z/release.txt")
	if err != nil {
		t.Fatal(err)
	}
	std := strings.TrimSpace(string(release)) == runtime.Version()
	if std {
		paths = append(paths, list.Std...)
	}
	fresh, err := generate(paths)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range fresh {
		if got, err := os.ReadFile(filepath.Join("..", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./interp/... (%v)", name, err)
		}
	}
	files, err := filepath.Glob("../z_*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, ok := fresh[filepath.Base(file)]; !ok && std {
			t.Errorf("%s belongs to no listed package: run go generate ./interp/...", file)
		}
	}
}
