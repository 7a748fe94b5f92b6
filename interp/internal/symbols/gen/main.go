// Command gen writes package symbols' tables, one file for each package that cells can
// import. Run it with go generate ./interp/...
//
// A package that does not compile keeps its existing file; gen then reports it and
// exits with 1.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"halfnote/interp/internal/exports/list"
	"halfnote/interp/internal/exports/load"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write brings the folder's z_*.go up to date.
func write(dir string) error {
	files, broken := generate(slices.Concat(list.Std, list.Own))
	if files == nil {
		return broken
	}
	old, err := filepath.Glob(filepath.Join(dir, "z_*.go"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if _, fresh := files[filepath.Base(file)]; !fresh && (broken == nil || !slices.ContainsFunc(slices.Concat(list.Own, list.Met), func(path string) bool { return fileName(path) == filepath.Base(file) })) {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for name, data := range files {
		file := filepath.Join(dir, name)
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
			continue
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return broken
}

// generate returns the files by name. A package of only generic functions and types has
// none. err names the packages that could not be loaded; without files it concerns all
// of them.
func generate(paths []string) (files map[string][]byte, err error) {
	pkgs, broken := load.Packages(paths...)
	if pkgs == nil {
		return nil, broken
	}
	files = map[string][]byte{}
	for path, src := range met(pkgs) {
		files[fileName(path)] = src
	}
	for _, p := range pkgs {
		src, err := table(p)
		if err != nil {
			return nil, errors.Join(broken, fmt.Errorf("%s: %w", p.Path, err))
		}
		if src != nil {
			files[fileName(p.Path)] = src
		}
	}
	return files, broken
}

// fileName returns the name of a package's file, for example z_math_rand_v2_.go for
// math/rand/v2. Because of the last underscore, no name is a build constraint, as
// z_os_windows.go would be.
func fileName(path string) string {
	return "z_" + strings.ReplaceAll(path, "/", "_") + "_.go"
}
