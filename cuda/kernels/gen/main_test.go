package main

import (
	"maps"
	"slices"
	"testing"

	"halfnote/cuda/kernels"
	"halfnote/cuda/kernels/source"
)

// TestPTXIsCurrent compares the checksums in the PTX with those of its sources.
func TestPTXIsCurrent(t *testing.T) {
	archs, files, err := sources("..")
	if err != nil || len(archs) == 0 {
		t.Fatalf("modules: %d, %v", len(archs), err)
	}
	names := slices.Sorted(maps.Keys(archs))
	if got := kernels.Modules(); !slices.Equal(got, names) {
		t.Fatalf("got modules %q, want %q; run: go generate ./cuda/kernels", got, names)
	}
	for _, name := range names {
		want, err := source.Sum(files, name+".cu")
		if err != nil {
			t.Fatal(err)
		}
		if source.Stamp([]byte(kernels.PTX(name))) != want {
			t.Errorf("%s: PTX is stale; run: go generate ./cuda/kernels", name)
		}
	}
}

func TestModulesAreSorted(t *testing.T) {
	for i := range len(modules) - 1 {
		if modules[i].name >= modules[i+1].name {
			t.Errorf("%s comes before %s", modules[i].name, modules[i+1].name)
		}
	}
}
