package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// fuzzTarget matches the declaration of a fuzz target.
var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// fuzzTargets lists the targets of the tree as "./kernel/guard FuzzPeer", sorted.
func fuzzTargets(t *testing.T) (list []string) {
	t.Helper()
	for _, file := range testenv.Tracked(t, ".") {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fuzzTarget.FindAllSubmatch(text, -1) {
			list = append(list, fmt.Sprintf("./%s %s", path.Dir(file), m[1]))
		}
	}
	slices.Sort(list)
	if len(list) < 20 {
		t.Fatalf("got %d fuzz targets, want all", len(list))
	}
	return list
}

// TestFuzzTargets checks that the script that runs all fuzz targets finds them.
func TestFuzzTargets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs bash")
	}
	out, err := exec.Command("bash", ".ci/fuzz", "--list").Output()
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(strings.TrimSpace(string(out)), "\n"), fuzzTargets(t)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf(".ci/fuzz --list: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Limits of the inputs in the tree, which every test run tries and every checkout has, in bytes.
const (
	maxInput  = 16 << 10 // of one file
	maxInputs = 64 << 10 // of one target
	maxCorpus = 512 << 10
)

// TestCorpora checks that inputs of fuzz targets are in the tree's format, small, and those of targets that exist.
func TestCorpora(t *testing.T) {
	targets, sizes, all := fuzzTargets(t), map[string]int{}, 0
	for _, file := range testenv.Tracked(t, ".") {
		folder, of, ok := strings.Cut(path.Dir(file), "/testdata/fuzz/")
		if !ok || !strings.HasPrefix(of, "Fuzz") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		target := fmt.Sprintf("./%s %s", folder, of)
		switch {
		case !slices.Contains(targets, target):
			t.Errorf("%s: got an input for %s, want one for a fuzz target of the tree", file, target)
		case !bytes.HasPrefix(text, []byte("go test fuzz v1\n")):
			t.Errorf("%s: it is not an input of a fuzz target", file)
		case len(text) > maxInput:
			t.Errorf("%s: %d bytes, want at most %d: go test -fuzzminimizetime shortens an input", file, len(text), maxInput)
		}
		sizes[target] += len(text)
		all += len(text)
	}
	for target, size := range sizes {
		if size > maxInputs {
			t.Errorf("%s: its inputs have %d bytes, want at most %d: keep those that fail without a mend, or reach code that no other does", target, size, maxInputs)
		}
	}
	if all > maxCorpus {
		t.Errorf("all inputs have %d bytes, want at most %d", all, maxCorpus)
	}
}
