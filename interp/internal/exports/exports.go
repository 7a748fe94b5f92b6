// Package exports describes the packages that cells can import: their types, for go/types,
// and the comments of their declarations. The data is embedded in the binary and can be read
// without a Go toolchain: for the standard library it has the format of
// golang.org/x/tools/go/gcexportdata, and for halfnote's own packages it is text with one
// declaration per line. So the Go release that builds the binary may differ from the one
// that generated the files. The package has no functions that cells could call; package
// symbols holds those, and is generated from the same list.
//
// The types are those of linux/amd64. The packages were chosen so that their names are
// the same elsewhere; values of a few constants, such as os.PathSeparator, differ, and sessions
// take those of the program.
package exports

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/gcexportdata"
)

//go:generate go run ./gen

// entry is one line of the index.
type entry struct {
	path, name, synopsis string
	met                  bool // whether cells see its types but cannot import it
	system               bool // whether the program of a page in a browser leaves it out, and this is one
}

// index lists the packages, sorted by path.
var index = sync.OnceValue(func() []entry {
	data, err := files.ReadFile("z/index.txt")
	if err != nil {
		panic("exports: " + err.Error())
	}
	var list []entry
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		system := f[2] == "system" && runtime.GOOS == "js"
		list = append(list, entry{path: f[0], name: f[1], met: f[2] == "meet" || system, system: system, synopsis: f[3]})
	}
	return list
})

func find(path string) (entry, bool) {
	i, ok := slices.BinarySearchFunc(index(), path, func(e entry, path string) int { return strings.Compare(e.path, path) })
	if !ok {
		return entry{}, false
	}
	return index()[i], true
}

// Packages returns the import paths that cells can import, sorted.
func Packages() []string {
	var paths []string
	for _, e := range index() {
		if !e.met {
			paths = append(paths, e.path)
		}
	}
	return paths
}

// Name returns the name of the package at path, "rand" for "math/rand/v2", without
// reading the package; "" for unknown paths.
func Name(path string) string {
	e, _ := find(path)
	return e.name
}

// Named returns the import paths of the packages of that name that cells can import,
// shortest first.
func Named(name string) []string { return byName()[name] }

var byName = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for _, e := range index() {
		if !e.met {
			m[e.name] = append(m[e.name], e.path)
		}
	}
	for _, paths := range m {
		slices.SortStableFunc(paths, func(a, b string) int { return len(a) - len(b) })
	}
	return m
})

// Importable returns nil if cells can import the package at path. Its error suggests
// similar paths.
func Importable(path string) error {
	if e, ok := find(path); !ok || e.met {
		return unknown(path)
	}
	return nil
}

// Importer returns a new importer of the packages that cells can import, and of those
// whose types they see: tensor.DType belongs to one. Its methods may be called from any
// goroutine. Packages are read on first use; each call with the same path returns the
// same package. The error for any other path is that of Importable.
func Importer() types.ImporterFrom {
	return &importer{fset: token.NewFileSet(), packages: map[string]*types.Package{"unsafe": types.Unsafe}}
}

type importer struct {
	mu       sync.Mutex
	fset     *token.FileSet
	packages map[string]*types.Package // packages, including incomplete ones that others refer to
}

func (m *importer) Import(path string) (*types.Package, error) {
	if _, ok := find(path); !ok {
		return nil, unknown(path)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	p, err := m.load(path)
	if err != nil {
		return nil, fmt.Errorf("exports: package %q: %w", path, err)
	}
	return p, nil
}

// load reads a package, which may be an internal one that others refer to. The caller
// holds m.mu.
func (m *importer) load(path string) (*types.Package, error) {
	if p := m.packages[path]; p != nil && p.Complete() {
		return p, nil
	}
	if header, err := files.ReadFile("z/" + path + ".types.txt"); err == nil {
		return m.check(path, header)
	}
	data, err := read(files, path+".types.gz")
	if err != nil {
		return nil, err
	}
	return gcexportdata.Read(bytes.NewReader(data), m.fset, m.packages, path)
}

func (m *importer) ImportFrom(path, _ string, _ types.ImportMode) (*types.Package, error) {
	return m.Import(path)
}

func read(from fs.FS, name string) ([]byte, error) {
	f, err := from.Open("z/" + name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
