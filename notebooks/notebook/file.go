package notebook

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ReadFile reads a notebook file; the error names it.
func ReadFile(path string) (*Notebook, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("notebook: %w", err)
	}
	defer f.Close()
	nb, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

// WriteFile writes the notebook to a file atomically.
func (nb *Notebook) WriteFile(path string) error { return writeFile(path, nb.Write) }

// writeFile writes a temporary file in the folder of path and renames it, so that path
// never holds incomplete content.
func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("notebook: write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if old, err := os.Stat(path); err == nil {
		mode = old.Mode().Perm()
	}
	if err := f.Chmod(mode); err != nil {
		return fmt.Errorf("notebook: write %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("notebook: write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("notebook: write %s: %w", path, err)
	}
	return nil
}
