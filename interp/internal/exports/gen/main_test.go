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

// TestFilesAreFresh checks that the embedded files match the current packages. It compares
// the standard library only if this Go release generated the files.
func TestFilesAreFresh(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command to read packages")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("needs linux/amd64: elsewhere it would compile the standard library")
	}
	const dir = "../z"
	own := slices.Concat(list.Own, list.Met)
	paths := slices.Clone(own)
	release, err := os.ReadFile(filepath.Join(dir, "release.txt"))
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
	if got, err := os.ReadFile(filepath.Join(dir, pageFile)); std && (err != nil || !bytes.Equal(got, embeds(fresh))) {
		t.Errorf("%s is stale: run go generate ./interp/... (%v)", pageFile, err)
	}
	index := readIndex(filepath.Join(dir, "index.txt"))
	for name, want := range fresh {
		var got []byte
		switch {
		case name == "index.txt" || name == "release.txt":
			continue
		case strings.HasSuffix(name, ".txt"):
			got, err = os.ReadFile(filepath.Join(dir, name))
		default:
			got, err = gunzip(filepath.Join(dir, name+".gz"))
		}
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
		if _, ok := fresh[path+".types.txt"]; !ok && slices.Contains(own, path) {
			t.Errorf("package %s no longer exists: run go generate ./interp/...", path)
		}
	}
}

func TestListIsSorted(t *testing.T) {
	for _, l := range [][]string{list.Own, list.Std} {
		if !slices.IsSorted(l) || len(slices.Compact(slices.Clone(l))) != len(l) {
			t.Errorf("list is not sorted or has duplicates: %v", l)
		}
	}
}

// TestInternalsAreLeftOut checks that cells do not see the functions for packages of this module only.
func TestInternalsAreLeftOut(t *testing.T) {
	imp := exports.Importer()
	for _, p := range loaded(t, []string{"halfnote/tensor", "halfnote/tensor/nn", "halfnote/amp"}) {
		if p.Types.Scope().Lookup("Internal") == nil {
			t.Fatalf("%s: no function Internal: this test looks for another name", p.Path)
		}
		docs, err := p.Docs()
		if err != nil {
			t.Fatal(err)
		}
		seen, err := imp.Import(p.Path)
		if err != nil {
			t.Fatal(err)
		}
		_, documented := docs["Internal"]
		listed := slices.ContainsFunc(p.Exported(), func(o types.Object) bool { return o.Name() == "Internal" })
		if documented || listed || seen.Scope().Lookup("Internal") != nil {
			t.Errorf("%s: cells see Internal", p.Path)
		}
	}
}

// TestReachableTypesAreListed checks that package list has the package of every type that
// can be reached from the packages that cells import: a variable of a cell can have that
// type.
func TestReachableTypesAreListed(t *testing.T) {
	// Types of package syscall differ between operating systems.
	listed := slices.Concat(list.Own, list.Met, list.Std, []string{"syscall"})
	imp := exports.Importer()
	seen := map[types.Type]bool{}
	var walk func(t types.Type)
	missing := map[string]string{}
	walk = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			walk(types.Unalias(t))
		case *types.Named:
			if pkg := t.Obj().Pkg(); pkg != nil && t.Obj().Exported() && !slices.Contains(listed, pkg.Path()) && !strings.Contains("/"+pkg.Path(), "/internal/") {
				missing[pkg.Path()] = t.Obj().Name()
			}
			for m := range t.Methods() {
				if m.Exported() {
					walk(m.Type())
				}
			}
			for arg := range t.TypeArgs().Types() {
				walk(arg)
			}
			walk(t.Underlying())
		case *types.Signature:
			for v := range t.Params().Variables() {
				walk(v.Type())
			}
			for v := range t.Results().Variables() {
				walk(v.Type())
			}
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() {
					walk(f.Type())
				}
			}
		case *types.Interface:
			for m := range t.Methods() {
				walk(m.Type())
			}
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case interface{ Elem() types.Type }:
			walk(t.Elem())
		}
	}
	for _, path := range exports.Packages() {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				walk(o.Type())
			}
		}
	}
	for path, name := range missing {
		t.Errorf("type %s.%s can be reached: list the package in package list", path, name)
	}
}
