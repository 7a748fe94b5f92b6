package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCells checks the cells of notebooks and Go files, and the errors of other files.
func TestCells(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		err        string
	}{
		{"a.ipynb", `{"cells": [{"cell_type": "markdown", "source": "# x"}, {"cell_type": "code", "source": ["a := 1\n", "a"]}, {"cell_type": "code", "source": "b"}]}`, []string{"a := 1\na", "b"}, ""},
		{"b.ipynb", "package main", nil, "the file is not a notebook"},
		{"main.go", "package main\n\nfunc main() {}\n", []string{"package main\n\nfunc main() {}\n\nmain()"}, ""},
		{"lib.go", "package main\n\nfunc f() {}\n", []string{"package main\n\nfunc f() {}\n"}, ""},
		{"other.go", "package other\n\nfunc main() {}\n", []string{"package other\n\nfunc main() {}\n"}, ""},
		{"cells.go", "x := 1\nx", []string{"x := 1\nx"}, ""},
		{"text.txt", "", nil, "want a file that ends in .ipynb or .go"},
	} {
		file := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := Cells(file)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %q, %v, want %q, %q", c.name, got, err, c.want, c.err)
		}
	}
}

// TestPath checks which paths begin in the home folder, and which variables of the environment paths may have.
func TestPath(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home) // on Windows
	t.Setenv("HN_DIR", "d/e")
	os.Unsetenv("HN_NONE")
	for path, want := range map[string]string{"~": home, "~/a b": filepath.Join(home, "a b"), "~a": "~a", "a/~": "a/~", "": "",
		"$HN_DIR/a": "d/e/a", "${HN_DIR}a": "d/ea", "$HN_NONE/a": "$HN_NONE/a", "${HN_NONE}": "${HN_NONE}", "a$": "a$"} {
		if got := Path(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}
