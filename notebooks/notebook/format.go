package notebook

import (
	"errors"
	"fmt"
)

// FormatFiles formats the code cells of notebooks with a function, and returns the names of the
// notebooks that change. If write is set, it writes them. The error names the cells that the
// function does not format; they stay as they are.
func FormatFiles(files []string, format func(code string) (string, error), write bool) (changed []string, err error) {
	var failed []error
	for _, file := range files {
		nb, err := ReadFile(file)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		differs := false
		for i, c := range nb.CodeCells() {
			text, err := format(c.Source)
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: code cell %d: %w", file, i+1, err))
				continue
			}
			differs = differs || text != c.Source
			c.Source = text
		}
		if !differs {
			continue
		}
		changed = append(changed, file)
		if write {
			if err := nb.WriteFile(file); err != nil {
				failed = append(failed, err)
			}
		}
	}
	return changed, errors.Join(failed...)
}
