package main

import (
	"io/fs"
	"os"
	"regexp"
	"testing"
)

// TestSources checks that the program holds the source of every package that cells can use.
func TestSources(t *testing.T) {
	list, err := os.ReadFile("interp/internal/exports/list/list.go")
	if err != nil {
		t.Fatal(err)
	}
	paths := regexp.MustCompile(`"halfnote/([^"]+)"`).FindAllSubmatch(list, -1)
	if len(paths) < 10 {
		t.Fatalf("got %d packages in the list, want all", len(paths))
	}
	for _, p := range paths {
		if files, err := fs.Glob(sources, string(p[1])+"/*.go"); err != nil || len(files) == 0 {
			t.Errorf("%s: got %d files, %v; add it to sources.go", p[1], len(files), err)
		}
	}
}
