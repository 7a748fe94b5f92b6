package data

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWriteFile checks that a file is written whole or not at all.
func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "x")
	write := func(content string, fail error) error {
		return writeFile(path, func(w io.Writer) error {
			io.WriteString(w, content)
			return fail
		})
	}
	expect := func(content string, mode fs.FileMode) {
		t.Helper()
		got, err := os.ReadFile(path)
		info, errStat := os.Stat(path)
		if err != nil || errStat != nil || string(got) != content || info.Mode().Perm() != mode {
			t.Errorf("file: got %q with mode %v, want %q with mode %v", got, info.Mode().Perm(), content, mode)
		}
		names, _ := os.ReadDir(folder)
		if len(names) != 1 {
			t.Errorf("got the files %v", names)
		}
	}
	broken := errors.New("broken")
	if err := write("no", broken); err != broken {
		t.Errorf("got error %v", err)
	}
	if names, _ := os.ReadDir(folder); len(names) != 0 {
		t.Errorf("a failed write left the files %v", names)
	}
	if err := write("one", nil); err != nil {
		t.Fatal(err)
	}
	expect("one", 0o644)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := write("half of", broken); err != broken {
		t.Errorf("got error %v", err)
	}
	expect("one", 0o600)
	if err := write("two", nil); err != nil {
		t.Fatal(err)
	}
	expect("two", 0o600)
}

// TestElements checks that the table's sizes agree with the dtypes, and that names are unique.
func TestElements(t *testing.T) {
	var names []string
	for _, e := range elements {
		names = append(names, e.name)
		if e.dtype != 0 && (e.size*8 != e.bits || e.size > e.dtype.Size()) {
			t.Errorf("%s: got %d bytes and %d bits for dtype %v", e.name, e.size, e.bits, e.dtype)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(elements) {
		t.Errorf("a name occurs twice in %v", names)
	}
}
