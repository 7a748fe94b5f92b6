package library

import (
	"go/build"
	"os"
	"path"
	"slices"
	"strings"
)

// Paths returns the continuations of an import path that begins with prefix: the
// available modules, and the directories one element further.
func (l *Loader) Paths(prefix string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	f := l.finder
	if f == nil || l.dir != dir { // Load looks again for what may have changed
		if f, err = NewFinder(dir); err != nil {
			return nil
		}
		l.finder, l.dir = f, dir
	}
	return f.Paths(prefix)
}

// Paths returns the available modules whose path begins with prefix, and the
// directories of a module, one element further than prefix, that may be or contain
// packages. Packages that only another module may import are left out.
func (f *Finder) Paths(prefix string) []string {
	var list []string
	for _, m := range f.main {
		list = append(list, m.module)
	}
	for module := range f.selected {
		list = append(list, module)
	}
	for pkg := range f.vendored {
		list = append(list, pkg)
	}
	list = slices.DeleteFunc(list, func(p string) bool { return !strings.HasPrefix(p, prefix) })
	if i := strings.LastIndexByte(prefix, '/'); i > 0 && f.vendor == "" || i > 0 && f.owner(prefix[:i]) != nil {
		parent := prefix[:i]
		if place, err := f.Find(parent); err == nil && place.Module != "" {
			for _, name := range folders(place.Dir) {
				if p := path.Join(parent, name); strings.HasPrefix(p, prefix) && (name != "internal" || f.owner(parent) != nil) {
					list = append(list, p)
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// folders returns the directories in dir that contain Go files or other directories.
func folders(dir string) []string {
	const many = 500
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(many)
	var list []string
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") && name != "testdata" && name != "vendor" && holdsGo(path.Join(dir, name)) {
			list = append(list, name)
		}
	}
	return list
}

func holdsGo(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		if e.IsDir() {
			return !strings.HasPrefix(e.Name(), ".") && e.Name() != "testdata"
		}
		ok, _ := build.Default.MatchFile(dir, e.Name())
		return ok && strings.HasSuffix(e.Name(), ".go")
	})
}
