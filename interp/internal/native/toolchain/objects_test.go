package toolchain

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestObjects checks that objects are found by all that they depend on, and that damaged ones are not used.
func TestObjects(t *testing.T) {
	o := objects{t.TempDir(), "program"}
	file := o.file("source", true)
	for _, other := range []string{o.file("another source", true), o.file("source", false), objects{o.dir, "another program"}.file("source", true)} {
		if other == file {
			t.Errorf("two objects have the file %s", file)
		}
	}
	if b := o.load(file); b != nil {
		t.Errorf("an empty folder has %d bytes", len(b))
	}
	o.store(file, []byte("archive"))
	if got := o.load(file); string(got) != "archive" {
		t.Errorf("got %q, want the archive", got)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(whole) + 1 {
		damaged := bytes.Clone(whole[:i])
		if i == len(whole) {
			damaged[i/2] ^= 1
		}
		if err := os.WriteFile(file, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if b := o.load(file); b != nil {
			t.Errorf("%d of %d bytes: got %q", i, len(whole), b)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("%d of %d bytes: the damaged file stays: %v", i, len(whole), err)
		}
	}
	var none objects
	none.store(none.file("source", true), []byte("archive"))
	if none.load(none.file("source", true)) != nil {
		t.Error("an object is kept without a folder")
	}
}

// TestObjectsTrim checks that the objects that were not used for longest are removed.
func TestObjectsTrim(t *testing.T) {
	o := objects{t.TempDir(), "program"}
	archive := make([]byte, 1000)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for i, name := range names {
		file := o.file(name, true)
		o.store(file, archive)
		at := time.Now().Add(time.Duration(i-100) * time.Hour)
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	o.load(o.file("a", true)) // it is the last used one now
	o.trim(9000)
	if left, _ := filepath.Glob(o.dir + "/*"); len(left) != len(names) {
		t.Errorf("%d objects are left below the size, want all", len(left))
	}
	o.trim(8000)
	for i, name := range names {
		if _, err := os.Stat(o.file(name, true)); (err == nil) != (i == 0 || i > 3) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestObjectsTrimTogether checks that processes that trim the folder at the same time leave as much as one would.
func TestObjectsTrimTogether(t *testing.T) {
	for range 20 {
		o := objects{t.TempDir(), "program"}
		const n = 200
		for i := range n {
			o.store(o.file(fmt.Sprint(i), true), make([]byte, 1000))
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { o.trim(1000 * n) })
		}
		wg.Wait()
		if left, _ := filepath.Glob(o.dir + "/*"); len(left) < n*7/10 {
			t.Fatalf("%d of %d objects are left, want three quarters", len(left), n)
		}
	}
}
