package interp

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"
)

// exceptions holds the cells of scripts whose output differs from that of the default
// engine. The file has a section "script In[n]: reason" for each cell, with its output; "script In[n] go1.27: reason"
// after it has the output from that release of Go on.
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
	first, reason := -1, ""
	var own outputs
	for i, f := range x.archive.Files {
		name, why, _ := strings.Cut(f.Name, ": ")
		if rest, ok := strings.CutPrefix(name, cell); ok && (rest == "" || strings.HasPrefix(rest, " go1.")) {
			if first < 0 {
				first, reason = i, why
			}
			own = append(own, txtar.File{Name: "out" + rest, Data: f.Data})
		}
	}
	if first < 0 {
		return want
	}
	if out == want && !*update {
		t.Errorf("%s: %s is no longer an exception", x.file, cell)
	}
	if *update {
		n := len(own)
		own = own.updated(release(), out)
		var files []txtar.File
		for _, f := range own {
			files = append(files, txtar.File{Name: cell + strings.TrimPrefix(f.Name, "out") + ": " + reason, Data: f.Data})
		}
		x.archive.Files = slices.Replace(x.archive.Files, first, first+n, files...)
	}
	return own.want(release())
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
