package library

import (
	"errors"
	"fmt"
	"go/build"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Importable returns a package that cells can import as the files on disk are now: the one at the path or, if
// that is a module whose own folder has no package, the first one below it. The error says why cells cannot import the
// package or, if there are several, the first one.
func (l *Loader) Importable(pkg string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	f, err := NewFinder(dir)
	if err != nil {
		return "", err
	}
	place, err := f.Find(pkg)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("package %q does not exist", pkg)
	}
	if err != nil {
		return "", err
	}
	fresh := NewLoader(token.NewFileSet(), l.compiled)
	list, first := below(place.Dir, pkg), fmt.Errorf("module %s has no packages", pkg)
	for i, p := range list {
		fresh.lacking = nil
		_, err := fresh.Load(p)
		if err == nil {
			return p, nil
		}
		if fresh.lacking != nil && fresh.lacking.pkg != p {
			err = fmt.Errorf("package %q imports, directly or not, %q, which no module has that is required: %%go get %s %s fetches both",
				p, fresh.lacking.pkg, pkg, fresh.lacking.pkg)
		}
		if i == 0 {
			first = err
		}
	}
	return "", first
}

// below returns the path pkg if its folder has Go files, or else the packages in folders below that others may import.
func below(dir, pkg string) (list []string) {
	b, err := buildContext.ImportDir(dir, 0)
	if none := (*build.NoGoError)(nil); !errors.As(err, &none) || len(b.IgnoredGoFiles) > 0 {
		return []string{pkg}
	}
	for _, name := range folders(dir) {
		if sub := filepath.Join(dir, name); name != "internal" && !exists(filepath.Join(sub, "go.mod")) {
			list = append(list, below(sub, path.Join(pkg, name))...)
		}
	}
	return list
}

// Modules returns the state of what decides where packages are: go.work, the go.mod of each main module, and the flag -mod.
func (l *Loader) Modules() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.finder == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "-mod=%s\n", modFlag())
	for _, file := range l.finder.files() {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", file, info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// files returns the paths that go.work and the go.mod of each main module have or would have.
func (f *Finder) files() []string {
	list := []string{filepath.Join(f.root, "go.work"), filepath.Join(f.root, "vendor", "modules.txt")}
	for _, m := range f.main {
		list = append(list, filepath.Join(m.dir, "go.mod"))
	}
	return list
}

// Relocate reads go.work and the go.mod files of the working directory again. It returns a function that reports whether a
// loaded package is in another folder now.
func (l *Loader) Relocate() (moved func(*Package) bool, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	f, err := NewFinder(dir)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finder, l.dir = f, dir
	return func(p *Package) bool {
		place, err := f.Find(p.Path)
		return err == nil && p.Module != "" && place.Dir != p.Dir
	}, nil
}
