package notebook

import (
	"fmt"
	"io"
	"os"

	"halfnote/internal/save"
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

func writeFile(path string, write func(io.Writer) error) error {
	if err := save.File(path, write); err != nil {
		return fmt.Errorf("notebook: write %s: %w", path, err)
	}
	return nil
}
