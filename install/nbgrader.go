package install

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// NBGraderConfig is an nbgrader_config.py for courses with Go notebooks.
//
//go:embed nbgrader_config.py
var NBGraderConfig string

// NBGrader writes nbgrader_config.py into the folder of a course, which it creates. It does not replace a file.
func NBGrader(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("install: nbgrader: %w", err)
	}
	path = filepath.Join(dir, "nbgrader_config.py")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("install: nbgrader: %s exists; want a folder without it, or add what \"halfnote nbgrader -\" prints", path)
	}
	if err != nil {
		return "", fmt.Errorf("install: nbgrader: %w", err)
	}
	_, err = f.WriteString(NBGraderConfig)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("install: nbgrader: %w", err)
	}
	return path, nil
}
