package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"halfnote/install/wheel"
)

// licenseName matches the names of files with licences and notices.
var licenseName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)([.-].*)?$`)

// notText matches the names of sources and other files that licenseName also matches.
var notText = regexp.MustCompile(`(?i)\.(go|py|js|json|ttf|sh)$`)

// licenses returns the licences and notices of all that the platform's program consists of: halfnote, Go, and the modules of its
// packages, each in a folder with the module's path. It is an error if a module has none.
func (p platform) licenses() ([]wheel.File, error) {
	args := []string{"list", "-deps", "-json=Dir,Module"}
	switch {
	case p.gpu:
		args = append(args, "-tags=cuda")
	case p.mpi:
		args = append(args, "-tags=mpi")
	}
	cmd := exec.Command("go", append(args, ".")...)
	cmd.Env = p.env()
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(cmd.Args, " "), err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	found := map[string][]byte{}
	missing := map[string]bool{}
	if err := collect(found, "go", strings.TrimSpace(string(root)), strings.TrimSpace(string(root))); err != nil {
		return nil, err
	}
	for list := json.NewDecoder(bytes.NewReader(text)); ; {
		var pkg struct {
			Dir    string
			Module *struct{ Path, Dir string }
		}
		switch err := list.Decode(&pkg); {
		case errors.Is(err, io.EOF):
			return sorted(found, missing)
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		if pkg.Module == nil {
			continue // of Go's standard library
		}
		if err := collect(found, pkg.Module.Path, pkg.Module.Dir, pkg.Dir); err != nil {
			return nil, err
		}
		missing[pkg.Module.Path] = !slices.ContainsFunc(slices.Collect(maps.Keys(found)), func(name string) bool { return strings.HasPrefix(name, pkg.Module.Path+"/") })
	}
}

// collect adds the licences in the folder dir, and in those above it up to root, to found.
func collect(found map[string][]byte, module, root, dir string) error {
	for {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !licenseName.MatchString(e.Name()) || notText.MatchString(e.Name()) {
				continue
			}
			inside, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			name := module + "/" + filepath.ToSlash(inside)
			if found[name] != nil {
				continue
			}
			if found[name], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		if dir == root {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// sorted returns the files by name. It is an error if a module is missing.
func sorted(found map[string][]byte, missing map[string]bool) (list []wheel.File, err error) {
	for module, none := range missing {
		if none {
			return nil, fmt.Errorf("module %s has no licence file: its terms must be known before the program is given away", module)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, wheel.File{Name: name, Mode: fs.FileMode(0o644), Content: found[name]})
	}
	return list, nil
}
