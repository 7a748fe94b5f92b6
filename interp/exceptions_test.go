package interp

import (
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"
)

// exceptions holds the cells of scripts whose output differs from that of the default
// engine. The file has a section "script In[n]: reason" for each cell, with its output.
// -update rewrites the outputs.
type exceptions struct {
	file string

	mu      sync.Mutex
	archive *txtar.Archive
}

// readExceptions reads the exceptions of an engine. It returns nil for the default engine.
func readExceptions(t *testing.T, engine string) *exceptions {
	if engine == Engines[0] {
		return nil
	}
	x := &exceptions{file: "testdata/" + engine + ".exceptions"}
	var err error
	if x.archive, err = txtar.ParseFile(x.file); err != nil {
		t.Fatal(err)
	}
	for _, f := range x.archive.Files {
		if _, why, ok := strings.Cut(f.Name, ": "); !ok || why == "" {
			t.Errorf("%s: %q is not a cell and a reason", x.file, f.Name)
		}
	}
	return x
}

// want returns the expected output of a cell, given its output out and the expected
// output on the default engine.
func (x *exceptions) want(t *testing.T, cell, want, out string) string {
	if x == nil {
		return want
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, f := range x.archive.Files {
		if !strings.HasPrefix(f.Name, cell+": ") {
			continue
		}
		if out == want && !*update {
			t.Errorf("%s: %s is no longer an exception", x.file, cell)
		}
		if *update {
			x.archive.Files[i].Data = []byte(out)
		}
		return string(x.archive.Files[i].Data)
	}
	return want
}

// close writes the file again if -update is given.
func (x *exceptions) close(t *testing.T) {
	if x == nil || !*update {
		return
	}
	if err := os.WriteFile(x.file, txtar.Format(x.archive), 0o666); err != nil {
		t.Error(err)
	}
}
