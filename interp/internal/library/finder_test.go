package library

import (
	"errors"
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
