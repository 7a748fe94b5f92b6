package library

import (
	"go/build"
	"os"
	"path"
	"slices"
	"strings"
)

// Paths returns what an import path that begins with prefix may go on with: the
// modules at hand, and the folders one element further.
func (l *Loader) Paths(prefix string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	f := l.finder
	if f == nil || l.dir != dir { // Load finds anew what may have changed
		if f, err = NewFinder(dir); err != nil {
			return nil
		}
		l.finder, l.dir = f, dir
	}
	return f.Paths(prefix)
}

// Paths returns the modules at hand whose path begins with prefix, and the folders
// of a module, one element further than prefix, that could be packages or hold
// some. What only another module may import is left out.
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

// folders returns the folders in dir that hold Go or other folders.
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
