package library

import (
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// vendoring reports whether packages come from the vendor directory. As for the go command, the flag -mod in GOFLAGS decides; without it
// they do where the directory exists, unless a main module is of a Go that did not use it by itself.
func (f *Finder) vendoring() bool {
	switch modFlag() {
	case "vendor":
		return true
	case "mod", "readonly":
		return false
	}
	since := "go1.14"
	if len(f.main) != 1 || f.main[0].dir != f.root {
		since = "go1.22" // workspaces
	}
	old := func(m *modFile) bool { return version.Compare("go"+m.goVersion, since) < 0 }
	return exists(filepath.Join(f.root, "vendor", "modules.txt")) && !slices.ContainsFunc(f.main, old)
}

// modFlag returns the value of the flag -mod in GOFLAGS, or "".
func modFlag() (value string) {
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		if v, ok := strings.CutPrefix("-"+strings.TrimLeft(flag, "-"), "-mod="); ok {
			value = v
		}
	}
	return value
}

// readVendor reads which packages the vendor directory has, and their modules. The error of a directory that does not have the
// modules that go.mod requires is in the go command's words.
func (f *Finder) readVendor() error {
	data, err := os.ReadFile(filepath.Join(f.vendor, "modules.txt"))
	if err != nil {
		return fmt.Errorf("GOFLAGS=-mod=vendor: %w: run go mod vendor", err)
	}
	f.vendored = map[string]Place{}
	has := map[module.Version]bool{}
	var of Place
	for line := range strings.Lines(string(data)) {
		switch w := strings.Fields(line); {
		case len(w) >= 2 && w[0] == "#":
			of = Place{Module: w[1], GoVersion: noVersion}
			if len(w) > 2 {
				has[module.Version{Path: w[1], Version: w[2]}] = true
			}
		case len(w) > 0 && w[0] == "##":
			if _, v, ok := strings.Cut(line, "go "); ok {
				of.GoVersion = strings.TrimSpace(v)
			}
		case len(w) == 1:
			of.Dir = filepath.Join(f.vendor, filepath.FromSlash(w[0]))
			f.vendored[w[0]] = of
		}
	}
	for _, m := range f.main {
		for _, r := range m.require {
			if !has[r] && len(f.main) == 1 {
				return fmt.Errorf("inconsistent vendoring in %s: %s is required in go.mod, but not marked in vendor/modules.txt: run go mod vendor, or set GOFLAGS=-mod=mod to use the module cache", f.root, r)
			}
		}
	}
	return nil
}
