package kernels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/cuda/kernels/source"
)

// TestPTXIsCurrent needs no compiler.
func TestPTXIsCurrent(t *testing.T) {
	sources, err := filepath.Glob("*.cu")
	if err != nil || len(sources) == 0 {
		t.Fatalf("sources: %d, %v", len(sources), err)
	}
	for _, name := range sources {
		want, err := source.Sum(os.DirFS("."), name)
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := os.ReadFile(strings.TrimSuffix(name, ".cu") + ".ptx")
		if err != nil || source.Stamp(ptx) != want {
			t.Errorf("%s: its PTX is not made from it (%v); run: go generate ./cuda/kernels", name, err)
		}
	}
}
