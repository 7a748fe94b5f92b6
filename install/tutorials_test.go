package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
)

// TestCopyTutorials checks that files which the user has not changed are updated, and that
// others are kept, including those without a valid record of their checksums.
func TestCopyTutorials(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	tutorials := func(version string) fstest.MapFS {
		return fstest.MapFS{
			"00-hello.ipynb": {Data: []byte("hello " + version)},
			"05-loops.ipynb": {Data: []byte("loops " + version)},
			"images/a.png":   {Data: []byte("picture")},
		}
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		name    string
		before  func()
		version string
		kept    []string
		hello   string
		loops   string
	}{
		{"a new folder", func() {}, "1", nil, "hello 1", "loops 1"},
		{"the same again", func() {}, "1", nil, "hello 1", "loops 1"},
		{"a newer version", func() {}, "2", nil, "hello 2", "loops 2"},
		{"a changed file", func() { write("00-hello.ipynb", "mine") }, "3", []string{"00-hello.ipynb"}, "mine", "loops 3"},
		{"the changed file again", func() {}, "4", []string{"00-hello.ipynb"}, "mine", "loops 4"},
		{"a deleted file returns", func() { os.Remove(filepath.Join(dir, "00-hello.ipynb")) }, "4", nil, "hello 4", "loops 4"},
		{"without a record nothing is replaced", func() { os.Remove(filepath.Join(dir, copied)) }, "5", []string{"00-hello.ipynb", "05-loops.ipynb"}, "hello 4", "loops 4"},
		{"nothing is replaced with a damaged record", func() { write(copied, "{") }, "5", []string{"00-hello.ipynb", "05-loops.ipynb"}, "hello 4", "loops 4"},
	}
	for _, s := range steps {
		s.before()
		kept, err := CopyTutorials(tutorials(s.version), dir, nil)
		if err != nil || !slices.Equal(kept, s.kept) {
			t.Errorf("%s: got kept files %v, %v; want %v", s.name, kept, err, s.kept)
		}
		if hello, loops := read("00-hello.ipynb"), read("05-loops.ipynb"); hello != s.hello || loops != s.loops || read("images/a.png") != "picture" {
			t.Errorf("%s: got %q and %q, want %q and %q", s.name, hello, loops, s.hello, s.loops)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 4 { // two notebooks, images, the record
		t.Errorf("got files %v, %v; want four", files, err)
	}
}

// TestCopyTutorialsEdits checks that copies have the content that edit returns, that a copy of another content is updated, and that
// an error of edit ends the copying.
func TestCopyTutorialsEdits(t *testing.T) {
	dir, src := t.TempDir(), fstest.MapFS{"a.ipynb": {Data: []byte("text")}}
	upper := func(name string, text []byte) ([]byte, error) { return bytes.ToUpper(text), nil }
	for _, c := range []struct {
		edit func(name string, text []byte) ([]byte, error)
		want string
	}{{nil, "text"}, {upper, "TEXT"}, {upper, "TEXT"}, {nil, "text"}} {
		if kept, err := CopyTutorials(src, dir, c.edit); err != nil || len(kept) != 0 {
			t.Fatalf("kept %v, %v", kept, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "a.ipynb")); err != nil || string(text) != c.want {
			t.Errorf("got %q, %v; want %q", text, err, c.want)
		}
	}
	wrong := errors.New("not a notebook")
	if _, err := CopyTutorials(src, dir, func(string, []byte) ([]byte, error) { return nil, wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v, want %v", err, wrong)
	}
}

// TestCopyTutorialsFails checks the error for a folder that cannot be created.
func TestCopyTutorialsFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := CopyTutorials(fstest.MapFS{}, filepath.Join(file, "dir"), nil); err == nil {
		t.Error("folder inside a file: got no error")
	}
}
