package library

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestFind checks where packages are found from the folder work of a tree of files. Results
// are relative to the root of the tree.
func TestFind(t *testing.T) {
	const cached = `
-- cache/m.org/a@v1.0.0/go.mod --
module m.org/a
-- cache/m.org/a@v1.0.0/x/x.go --
-- cache/m.org/a@v1.2.0/x/x.go --
-- cache/m.org/a@v1.10.0/x/x.go --
-- cache/m.org/a/x@v0.1.0/x.go --
-- cache/m.org/!big@v1.0.0-rc.1/b.go --
-- cache/cache/download/m.org/a/@v/v1.0.0.mod --
module m.org/a
go 1.16
require m.org/deep v1.0.0
-- cache/cache/download/m.org/a/@v/v1.10.0.mod --
module m.org/a
-- cache/m.org/deep@v1.0.0/d.go --
-- local/go.mod --
module m.org/local
-- local/sub/s.go --
`
	tests := []struct{ name, files, pkg, want string }{
		{"own package", "-- work/go.mod --\nmodule me\n-- work/p/p.go --\n", "me/p", "work/p"},
		{"from a folder above", "-- go.mod --\nmodule me\n-- p/p.go --\n-- work/notebook --\n", "me/p", "p"},
		{"required", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0 // indirect\n", "m.org/a/x", "cache/m.org/a@v1.0.0/x"},
		{"block and quotes", "-- work/go.mod --\nmodule \"me\"\nrequire (\n\t\"m.org/a\" v1.0.0\n)\n", "m.org/a/x", "cache/m.org/a@v1.0.0/x"},
		{"versions are numbers", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.2.0\nrequire m.org/a v1.10.0\n", "m.org/a/x", "cache/m.org/a@v1.10.0/x"},
		{"longest module", "-- work/go.mod --\nmodule me\nrequire (\nm.org/a v1.0.0\nm.org/a/x v0.1.0\n)\n", "m.org/a/x", "cache/m.org/a/x@v0.1.0"},
		{"capital letters", "-- work/go.mod --\nmodule me\nrequire m.org/Big v1.0.0-rc.1\n", "m.org/Big", "cache/m.org/!big@v1.0.0-rc.1"},
		{"required by an old module", "-- work/go.mod --\nmodule me\ngo 1.16\nrequire m.org/a v1.0.0\n", "m.org/deep", "cache/m.org/deep@v1.0.0"},
		{"not listed by a new module", "-- work/go.mod --\nmodule me\ngo 1.17\nrequire m.org/a v1.0.0\n", "m.org/deep", "no module that"},
		{"replaced by a folder", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\nreplace m.org/a => ../local\n", "m.org/a/sub", "local/sub"},
		{"replaced by a version", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\nreplace m.org/a v1.0.0 => m.org/a v1.2.0\n", "m.org/a/x", "cache/m.org/a@v1.2.0/x"},
		{"another version is replaced", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\nreplace m.org/a v1.1.0 => ../local\n", "m.org/a/x", "cache/m.org/a@v1.0.0/x"},
		{"replacement is gone", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\nreplace m.org/a => ../nothing\n", "m.org/a/x", "replaced by the folder"},
		{"excluded", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\nrequire m.org/a v1.10.0\nexclude m.org/a v1.10.0\n", "m.org/a/x", "cache/m.org/a@v1.0.0/x"},
		{"not in the cache", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.9.9\n", "m.org/a/x", "m.org/a@v1.9.9 is not in the module cache"},
		{"no such folder", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\n", "m.org/a/y", "has no folder for package"},
		{"no module", "-- work/x --\n", "m.org/a", "cannot find a go.mod"},
		{"vendor", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\n-- work/vendor/modules.txt --\n# m.org/a v1.0.0\n## explicit; go 1.20\nm.org/a/x\n-- work/vendor/m.org/a/x/x.go --\n", "m.org/a/x", "work/vendor/m.org/a/x"},
		{"not vendored", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\n-- work/vendor/modules.txt --\n# m.org/a v1.0.0\n", "m.org/a/x", "go mod vendor"},
		{"vendor of another version", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.2.0\n-- work/vendor/modules.txt --\n# m.org/a v1.0.0\n", "m.org/a/x", "m.org/a@v1.2.0 is required in go.mod, but not marked in vendor/modules.txt"},
		{"vendor of a module that is replaced", "-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\nreplace m.org/a => ../local\n-- work/vendor/modules.txt --\n# m.org/a v1.0.0 => ../local\n## explicit\nm.org/a/x\n-- work/vendor/m.org/a/x/x.go --\n", "m.org/a/x", "work/vendor/m.org/a/x"},
		{"vendor of an old module", "-- work/go.mod --\nmodule me\ngo 1.13\nrequire m.org/a v1.0.0\n-- work/vendor/modules.txt --\n", "m.org/a/x", "cache/m.org/a@v1.0.0/x"},
		{"without vendor", "flags -mod=mod\n-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\n-- work/vendor/modules.txt --\n", "m.org/a/x", "cache/m.org/a@v1.0.0/x"},
		{"the last flag counts", "flags -mod=vendor -v --mod=readonly\n-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\n-- work/vendor/modules.txt --\n", "m.org/a/x", "cache/m.org/a@v1.0.0/x"},
		{"only vendor", "flags -mod=vendor\n-- work/go.mod --\nmodule me\nrequire m.org/a v1.0.0\n", "m.org/a/x", "run go mod vendor"},
		{"workspace", "-- go.work --\ngo 1.22\nuse (\n\t./work\n\t./local\n)\n-- work/go.mod --\nmodule me\n", "m.org/local/sub", "local/sub"},
		{"workspace takes the highest", "-- go.work --\nuse ./work\nuse ./other\n-- work/go.mod --\nmodule me\nrequire m.org/a v1.2.0\n-- other/go.mod --\nmodule other\nrequire m.org/a v1.10.0\n", "m.org/a/x", "cache/m.org/a@v1.10.0/x"},
		{"workspace replaces", "-- go.work --\nuse ./work\nreplace m.org/a => ./local\n-- work/go.mod --\nmodule me\nrequire m.org/a v1.2.0\nreplace m.org/a => ../nothing\n", "m.org/a/sub", "local/sub"},
		{"broken go.mod", "-- work/go.mod --\nmodule me\nrequire x\n", "me", "go.mod:2: usage: require module/path v1.2.3"},
		{"not a go.mod", "-- work/go.mod --\nthis is not a go.mod\n", "m.org/a", "go.mod:1: unknown directive: this"},
		{"a go.mod without a module", "-- work/go.mod --\ngo 1.26\n", "m.org/a", "go.mod: module declaration missing"},
		{"other lines", "-- work/go.mod --\nmodule me\ngo 1.99\ntoolchain go1.30.0\nretract [v1.0.0, v1.1.0] // wrong\nfuture thing\n-- work/p/p.go --\n", "me/p", "work/p"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			a := txtar.Parse([]byte(tt.files + cached))
			flags, _ := strings.CutPrefix(string(a.Comment), "flags ")
			t.Setenv("GOFLAGS", strings.TrimSpace(flags))
			for _, f := range a.Files {
				name := filepath.Join(root, filepath.FromSlash(f.Name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, f.Data, 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("GOMODCACHE", filepath.Join(root, "cache"))
			t.Setenv("GOWORK", "")
			record(t, root)
			f, err := NewFinder(filepath.Join(root, "work"))
			got := ""
			if err == nil {
				var p Place
				if p, err = f.Find(tt.pkg); err == nil {
					got, _ = filepath.Rel(root, p.Dir)
					got = filepath.ToSlash(got)
				}
			}
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// record gives the modules in the cache below root checksums, and lists those in the go.sum of the folder work and of a workspace.
func record(t *testing.T, root string) {
	t.Helper()
	sum := "h1:" + strings.Repeat("A", 43) + "="
	var list strings.Builder
	for _, pattern := range []string{"cache/m.org/*@*", "cache/m.org/*/*@*"} {
		dirs, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range dirs {
			name, err := filepath.Rel(filepath.Join(root, "cache"), dir)
			if err != nil {
				t.Fatal(err)
			}
			path, version, _ := strings.Cut(filepath.ToSlash(name), "@")
			fmt.Fprintln(&list, strings.ReplaceAll(path, "!big", "Big"), version, sum)
			write(t, filepath.Join(root, "cache", "cache", "download", path, "@v", version+".ziphash"), sum)
		}
	}
	write(t, filepath.Join(root, "work", "go.sum"), list.String())
	write(t, filepath.Join(root, "go.work.sum"), list.String())
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// TestSums checks which modules of the cache may be imported: those that go.sum describes.
func TestSums(t *testing.T) {
	a, b := "h1:"+strings.Repeat("A", 43)+"=", "h1:"+strings.Repeat("B", 42)+"A="
	for _, c := range []struct{ name, sum, hash, flags, want string }{
		{"the same", "m.org/a v1.0.0 " + a, a, "", ""},
		{"one of two", "m.org/a v1.0.0 " + b + "\nm.org/a v1.0.0 " + a, a, "", ""},
		{"another", "m.org/a v1.0.0 " + b, a, "", "verifying m.org/a@v1.0.0: checksum mismatch"},
		{"another, with a flag", "m.org/a v1.0.0 " + b, a, "-mod=mod", "checksum mismatch"},
		{"none", "m.org/b v1.0.0 " + b, a, "", "no checksum in go.sum: %go get m.org/a@v1.0.0 adds it"},
		{"none, with a flag", "", a, "-mod=mod", ""},
		{"that of go.mod", "m.org/a v1.0.0 " + a + "\nm.org/a v1.0.0/go.mod " + b, a, "", "verifying m.org/a@v1.0.0/go.mod: checksum mismatch"},
		{"not recorded", "m.org/a v1.0.0 " + a, "", "", "neither a checksum nor the archive"},
		{"a broken record", "m.org/a v1.0.0 " + a, "h1:x", "", "neither a checksum nor the archive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			t.Setenv("GOMODCACHE", filepath.Join(root, "cache"))
			t.Setenv("GOWORK", "off")
			t.Setenv("GOFLAGS", c.flags)
			for file, text := range map[string]string{
				"work/go.mod": "module me\ngo 1.16\nrequire m.org/a v1.0.0\n", "work/go.sum": c.sum, "cache/m.org/a@v1.0.0/a.go": "package a\n",
				"cache/cache/download/m.org/a/@v/v1.0.0.mod": "module m.org/a\n", "cache/cache/download/m.org/a/@v/v1.0.0.ziphash": c.hash,
			} {
				write(t, filepath.Join(root, filepath.FromSlash(file)), text)
			}
			f, err := NewFinder(filepath.Join(root, "work"))
			if err == nil {
				_, err = f.Find("m.org/a")
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
