package save

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFile saves under every kind of name, and looks at what the name is afterwards, at what it points to and at its permissions.
func TestFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and permissions of Unix")
	}
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string) (save, holds string) // the name to save under, and the file that then holds the text
	}{
		{"a new file", func(t *testing.T, dir string) (string, string) { return dir + "/new", dir + "/new" }},
		{"an old file", func(t *testing.T, dir string) (string, string) { return dir + "/old", dir + "/old" }},
		{"a link", func(t *testing.T, dir string) (string, string) { return link(t, "old", dir+"/link"), dir + "/old" }},
		{"a link to a link", func(t *testing.T, dir string) (string, string) {
			return link(t, link(t, dir+"/old", dir+"/a"), dir+"/b"), dir + "/old"
		}},
		{"a link to nothing", func(t *testing.T, dir string) (string, string) { return link(t, "none", dir+"/link"), dir + "/none" }},
		{"a link in a linked folder", func(t *testing.T, dir string) (string, string) {
			if err := os.MkdirAll(dir+"/x/y", 0o755); err != nil {
				t.Fatal(err)
			}
			link(t, "../../old", dir+"/x/y/link")
			return link(t, dir+"/x/y", dir+"/z") + "/link", dir + "/old"
		}},
		{"a hard link", func(t *testing.T, dir string) (string, string) {
			if err := os.Link(dir+"/old", dir+"/hard"); err != nil {
				t.Fatal(err)
			}
			return dir + "/hard", dir + "/old"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(dir+"/old", []byte("before"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir+"/old", 0o640); err != nil {
				t.Fatal(err)
			}
			path, holds := c.make(t, dir)
			was, _ := os.Lstat(path)
			if err := File(path, func(w io.Writer) error { io.WriteString(w, "half"); return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
				t.Fatalf("a writer that fails: got %v", err)
			}
			if text, err := os.ReadFile(holds); err == nil && string(text) != "before" {
				t.Errorf("after a writer that fails: got %q, want the old text", text)
			}
			if err := Text(path, []byte("after")); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(holds); err != nil || string(text) != "after" {
				t.Errorf("got %q, %v, want the new text in %s", text, err, holds)
			}
			is, err := os.Lstat(path)
			if err != nil || was != nil && was.Mode() != is.Mode() {
				t.Errorf("the name was %v, and is %v, %v", was, is, err)
			}
			if info, err := os.Stat(dir + "/old"); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("permissions: got %v, %v, want 0640", info, err)
			}
			if left, _ := filepath.Glob(dir + "/.*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func link(t *testing.T, to, name string) string {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestFileRefuses checks what is not a regular file.
func TestFileRefuses(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]string{dir: "folder"}
	if runtime.GOOS != "windows" {
		tests["/dev/null"] = "device"
		tests[link(t, "/dev/null", dir+"/device")] = "device"
		tests[link(t, "ring", dir+"/ring")] = "links"
	}
	for path, want := range tests {
		before, _ := os.Stat(path)
		if err := Text(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want one about a %s", path, err, want)
		}
		if after, _ := os.Stat(path); before != nil && (after == nil || after.Mode() != before.Mode()) {
			t.Errorf("%s was %v, and is %v", path, before, after)
		}
	}
}

// TestFileNamesTheFile checks the error about a folder that does not exist.
func TestFileNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "file")
	if err := Text(path, nil); err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path+":") {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
}
