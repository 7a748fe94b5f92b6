// Package files reads the cells in files: notebooks and Go files.
package files

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"halfnote/interp/internal/syntax"
)

// Cells returns the cells of a notebook, or of a Go file: its text with, if it is a
// program, a call of main.
func Cells(file string) ([]string, error) {
	ext := filepath.Ext(file)
	if ext != ".ipynb" && ext != ".go" {
		return nil, fmt.Errorf("want a file that ends in .ipynb or .go")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if ext == ".ipynb" {
		return NotebookCells(data)
	}
	if f, err := parser.ParseFile(token.NewFileSet(), file, data, parser.SkipObjectResolution); err == nil && f.Name.Name == "main" && syntax.Declares(string(data), "main") {
		data = append(data, "\nmain()"...)
	}
	return []string{string(data)}, nil
}

// NotebookCells returns the sources of the code cells of a notebook of format 4.
func NotebookCells(notebook []byte) ([]string, error) {
	var nb struct {
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage // a string or a list of lines
		}
	}
	if err := json.Unmarshal(notebook, &nb); err != nil {
		return nil, fmt.Errorf("the file is not a notebook: %w", err)
	}
	var cells []string
	for _, c := range nb.Cells {
		if c.Type != "code" {
			continue
		}
		var lines []string
		if json.Unmarshal(c.Source, &lines) != nil {
			var text string
			if err := json.Unmarshal(c.Source, &text); err != nil {
				return nil, err
			}
			lines = []string{text}
		}
		cells = append(cells, strings.Join(lines, ""))
	}
	return cells, nil
}

var variable = regexp.MustCompile(`\$(\w+|\{\w+\})`)

// Path replaces a leading ~ with the home folder, and $NAME or ${NAME} with an environment variable that is set, as a shell does.
func Path(file string) string {
	file = variable.ReplaceAllStringFunc(file, func(text string) string {
		if value, ok := os.LookupEnv(strings.Trim(text, "${}")); ok {
			return value
		}
		return text
	})
	if file != "~" && !strings.HasPrefix(file, "~/") {
		return file
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return file
	}
	return filepath.Join(home, file[1:])
}
