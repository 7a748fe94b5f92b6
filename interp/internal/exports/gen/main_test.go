package main

import (
	"bytes"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/exports"
	"halfnote/interp/internal/exports/list"
)

// What package exports embeds must be what the packages say now. The standard
// library is compared when the Go release is the one that generated the files.
func TestFilesAreFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to read packages")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("would compile the standard library for linux/amd64")
	}
	const dir = "../z"
	paths := slices.Clone(list.Own)
	release, err := os.ReadFile(filepath.Join(dir, "release.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if std := strings.TrimSpace(string(release)) == runtime.Version(); std {
		paths = append(paths, list.Std...)
	}
	fresh, err := generate(paths, list.Documented)
	if err != nil {
		t.Fatal(err)
	}
	index := readIndex(filepath.Join(dir, "index.txt"))
	for name, want := range fresh {
		if strings.HasSuffix(name, ".txt") {
			continue
		}
		got, err := gunzip(filepath.Join(dir, name+".gz"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./interp/... (%v)", name, err)
		}
	}
	for path, line := range readLines(fresh["index.txt"]) {
		if index[path] != line {
			t.Errorf("index.txt is stale: run go generate ./interp/... (got %q, want %q)", index[path], line)
		}
	}
	for path := range index {
		if _, ok := fresh[path+".types"]; !ok && slices.Contains(list.Own, path) {
			t.Errorf("package %s is gone: run go generate ./interp/...", path)
		}
	}
}

func TestListIsSorted(t *testing.T) {
	for _, l := range [][]string{list.Own, list.Std} {
		if !slices.IsSorted(l) || len(slices.Compact(slices.Clone(l))) != len(l) {
			t.Errorf("list is not sorted or has doubles: %v", l)
		}
	}
}

// Cells meet types of other packages of ours under names that listed packages
// give them: help must know those.
func TestDocumentedIsComplete(t *testing.T) {
	imp := exports.Importer()
	for _, path := range list.Own {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			n, ok := types.Unalias(o.Type()).(*types.Named)
			if !ok || n.Obj().Pkg() == nil {
				continue
			}
			from := n.Obj().Pkg().Path()
			if strings.HasPrefix(from, "halfnote/") && !slices.Contains(list.Own, from) && !slices.Contains(list.Documented, from) {
				t.Errorf("%s.%s is a %s: %s is missing in list.Documented", path, name, n, from)
			}
		}
	}
}
