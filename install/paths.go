package install

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// surroundings are the operating system, home folder and environment variables that
// determine Jupyter's folders.
type surroundings struct {
	goos string
	home string
	env  func(string) string
}

func here() (surroundings, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return surroundings{}, fmt.Errorf("install: the home folder: %w", err)
	}
	return surroundings{runtime.GOOS, home, os.Getenv}, nil
}

// dataDir is the user's Jupyter folder, jupyter_core.paths.jupyter_data_dir.
func (s surroundings) dataDir() string {
	if dir := s.env("JUPYTER_DATA_DIR"); dir != "" {
		return dir
	}
	switch s.goos {
	case "darwin":
		return filepath.Join(s.home, "Library", "Jupyter")
	case "windows":
		if dir := s.env("APPDATA"); dir != "" {
			return filepath.Join(dir, "jupyter")
		}
		return filepath.Join(s.home, ".jupyter", "data")
	}
	if dir := s.env("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "jupyter")
	}
	return filepath.Join(s.home, ".local", "share", "jupyter")
}

// dataPath lists the folders that Jupyter searches, in order, except those that only
// Python knows. It is jupyter_core.paths.jupyter_path.
func (s surroundings) dataPath() []string {
	path := filepath.SplitList(s.env("JUPYTER_PATH"))
	user := []string{s.dataDir()}
	var environment []string
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := s.env(name); prefix != "" {
			environment = append(environment, shareJupyter(prefix))
		}
	}
	// An active environment goes before the user's folder.
	path = append(append(path, environment...), user...)
	if s.goos != "windows" {
		path = append(path, "/usr/local/share/jupyter", "/usr/share/jupyter")
	} else if dir := s.env("PROGRAMDATA"); dir != "" {
		path = append(path, filepath.Join(dir, "jupyter"))
	}
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(path, func(dir string) bool {
		dup := seen[dir]
		seen[dir] = true
		return dup
	})
}

func shareJupyter(prefix string) string { return filepath.Join(prefix, "share", "jupyter") }

// sysPrefix returns the root of the active Python environment: that of an activated
// virtual or conda environment, or else the sys.prefix of python3.
func (s surroundings) sysPrefix(ctx context.Context) (string, error) {
	for _, name := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := s.env(name); prefix != "" {
			return prefix, nil
		}
	}
	for _, python := range pythonNames(s.goos, s.env("PYTHON"), s.env(launcherVar)) {
		out, err := isolated(ctx, python, "-c", "import sys; print(sys.prefix)").Output()
		if prefix := strings.TrimSpace(string(out)); err == nil && prefix != "" {
			return prefix, nil
		}
	}
	return "", fmt.Errorf("install: --sys-prefix: no active Python environment: VIRTUAL_ENV and CONDA_PREFIX are not set and no Python was found")
}
