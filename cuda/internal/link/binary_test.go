//go:build cuda && linux && cgo

package link_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBinaryDoesNotNeedDriver checks that a binary starts without a driver and does not disturb
// one: it does not depend on libcuda, and does not export the driver's functions.
func TestBinaryDoesNotNeedDriver(t *testing.T) { checkBinary(t, os.Args[0]) }

func checkBinary(t *testing.T, file string) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	libs, err := f.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	t.Log("needs", libs)
	if slices.ContainsFunc(libs, func(s string) bool { return strings.HasPrefix(s, "libcu") }) {
		t.Errorf("%s needs %v, want no CUDA library", file, libs)
	}
	names, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	driver := append(strings.Fields(string(names)), "cuInit")
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if slices.Contains(driver, s.Name) {
			t.Errorf("%s exports %s, in section %v", file, s.Name, s.Section)
		}
	}
}

// TestBuildScript builds with cuda/build.sh while the libcuda.so of a toolkit is on the linker's
// path: the binary must not depend on it either.
func TestBuildScript(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles gorgonia.org/cu again, with other flags")
	}
	toolkit := t.TempDir()
	if err := os.Rename(driver(t), filepath.Join(toolkit, "libcuda.so")); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(toolkit, "link.test")
	build := exec.Command("../../build.sh", "test", "-c", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_CFLAGS=-O1", "CGO_LDFLAGS=-L"+toolkit+" -Wl,--no-as-needed")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build.Args, err, out)
	}
	checkBinary(t, program)
	start := exec.Command(program, "-test.run=^TestWithoutDriver$")
	start.Env = []string{"HALFNOTE_CUDA_DRIVER=/nonexistent/libcuda.so.1", "HALFNOTE_TEST_CHILD=TestWithoutDriver"}
	if out, err := start.CombinedOutput(); err != nil {
		t.Errorf("start without a driver: got error %v\n%s", err, out)
	}
}
