package library

import (
	"fmt"
	"go/parser"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Own reports whether a package belongs to the user: its files are neither in the module cache,
// nor vendored, nor part of the Go installation.
func (l *Loader) Own(p *Package) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.finder
	return f != nil && p.Module != "" && !within(p.Dir, f.cache) && !within(p.Dir, f.vendor)
}

func within(dir, root string) bool {
	return root != "" && (dir == root || strings.HasPrefix(dir, root+string(filepath.Separator)))
}

// Retired is a package that has been read again, as it was before.
type Retired struct {
	Old *Package // as it was loaded
	// Kept is the old package under a separate path, which no import of a cell can have.
	Kept *Package
}

// Reload reads packages again. list holds them in the order of their dependencies, with all
// loaded packages that import one of them. Their old versions get the paths that retired returns.
// With an error, everything stays as it was.
func (l *Loader) Reload(list []*Package, retired func(path string) string) ([]Retired, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := maps.Clone(l.packages)
	for _, p := range list {
		delete(l.packages, p.Path)
	}
	for _, p := range list {
		l.loading = nil
		if _, err := l.load(p.Path, &Package{Path: p.Path, Place: Place{Module: "main"}}); err != nil {
			l.packages = before
			return nil, err
		}
	}
	var out []Retired
	kept := map[string]*Package{}
	for _, p := range list {
		k, err := l.keep(p, retired(p.Path), kept)
		if err != nil {
			l.packages = before
			return nil, err
		}
		kept[p.Path] = k
		l.packages[k.Path] = k
		out = append(out, Retired{p, k})
	}
	return out, nil
}

// keep checks the text of a loaded package again, under another path; kept holds the packages
// that have been kept so far, by their old paths.
func (l *Loader) keep(p *Package, path string, kept map[string]*Package) (*Package, error) {
	k := &Package{Place: p.Place, Path: path, Info: NewInfo(), Text: p.Text, sum: p.sum, stamp: p.stamp}
	for _, file := range slices.Sorted(maps.Keys(p.Text)) {
		f, err := parser.ParseFile(l.files, file, p.Text[file], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		k.Files = append(k.Files, f)
	}
	return k, l.check(k, keptImporter{importerOf{l, p}, k, kept})
}

// keptImporter is the importer of a package that is kept.
type keptImporter struct {
	importerOf
	k    *Package
	kept map[string]*Package
}

func (i keptImporter) Import(path string) (*types.Package, error) {
	if p := i.kept[path]; p != nil {
		i.k.Imports = append(i.k.Imports, p)
		return p.Types, nil
	}
	t, err := i.importerOf.Import(path)
	if err != nil {
		return nil, fmt.Errorf("the old version: %w", err)
	}
	if p := i.loader.packages[path]; p != nil && p.Types == t && !slices.Contains(i.k.Imports, p) {
		i.k.Imports = append(i.k.Imports, p)
	}
	return t, nil
}
