package library

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// modFile is the part of a go.mod or go.work file that decides where packages are.
type modFile struct {
	dir       string
	module    string
	goVersion string
	require   []module.Version
	replace   []*modfile.Replace
	exclude   []module.Version
	use       []string
}

// noVersion is the language version of modules that do not specify one.
const noVersion = "1.16"

func goVersion(g *modfile.Go) string {
	if g == nil {
		return noVersion
	}
	return g.Version
}

// readMod reads the go.mod of a main module.
func readMod(file string) (*modFile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if data, err = known(file, data); err != nil {
		return nil, err
	}
	f, err := modfile.Parse(file, data, nil)
	if err != nil {
		return nil, err
	}
	if f.Module == nil {
		return nil, fmt.Errorf("%s: module declaration missing: add a line such as module example.com/notebook", file)
	}
	m := newModFile(file, f)
	m.replace = f.Replace
	for _, e := range f.Exclude {
		m.exclude = append(m.exclude, e.Mod)
	}
	return m, nil
}

// known returns the data of a go.mod file for a newer Go with spaces in place of the directives that do not concern us, so that
// positions stay the same: such a Go may have more directives. Other data it returns as it is.
func known(file string, data []byte) ([]byte, error) {
	f, err := modfile.ParseLax(file, data, nil)
	if err != nil {
		return nil, err
	}
	if version.Compare("go"+goVersion(f.Go), runtime.Version()) <= 0 {
		return data, nil
	}
	for _, s := range f.Syntax.Stmt {
		var words []string
		switch s := s.(type) {
		case *modfile.Line:
			words = s.Token
		case *modfile.LineBlock:
			words = s.Token
		}
		if len(words) == 0 || slices.Contains([]string{"module", "go", "require", "replace", "exclude"}, words[0]) {
			continue
		}
		start, end := s.Span()
		for i := start.Byte; i < end.Byte; i++ {
			if data[i] != '\n' {
				data[i] = ' '
			}
		}
	}
	return data, nil
}

// readRequired reads the go.mod of a required module, whose replacements and exclusions do not
// count.
func readRequired(file string) (*modFile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f, err := modfile.ParseLax(file, data, nil)
	if err != nil {
		return nil, err
	}
	return newModFile(file, f), nil
}

func newModFile(file string, f *modfile.File) *modFile {
	m := &modFile{dir: filepath.Dir(file), goVersion: goVersion(f.Go)}
	if f.Module != nil {
		m.module = f.Module.Mod.Path
	}
	for _, r := range f.Require {
		m.require = append(m.require, r.Mod)
	}
	return m
}

// readWork reads a go.work file.
func readWork(file string) (*modFile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	f, err := modfile.ParseWork(file, data, nil)
	if err != nil {
		return nil, err
	}
	w := &modFile{dir: filepath.Dir(file), goVersion: goVersion(f.Go), replace: f.Replace}
	for _, u := range f.Use {
		w.use = append(w.use, u.Path)
	}
	return w, nil
}

// complete reports whether a go.mod of that language version lists all modules that its
// packages need: https://go.dev/ref/mod#graph-pruning.
func complete(goVersion string) bool { return version.Compare("go"+goVersion, "go1.17") >= 0 }

// cached returns the path and the version of m as the module cache writes them: "!a" for "A".
func cached(m module.Version) (path, version string, err error) {
	if path, err = module.EscapePath(m.Path); err == nil {
		version, err = module.EscapeVersion(m.Version)
	}
	if err != nil {
		return "", "", fmt.Errorf("module %s: %w", m, err)
	}
	return filepath.FromSlash(path), version, nil
}
