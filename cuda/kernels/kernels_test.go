package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// TestAssembles has NVIDIA's assembler, which the environment variable PTXAS names, look
// for what the driver would refuse.
func TestAssembles(t *testing.T) {
	ptxas := os.Getenv("PTXAS")
	if ptxas == "" {
		if slices.Contains(strings.Split(os.Getenv("HALFNOTE_REQUIRE"), ","), "ptxas") {
			t.Fatal("PTXAS names no assembler")
		}
		t.Skip("needs ptxas, of PyPI's nvidia-cuda-nvcc-cu12, in PTXAS; HALFNOTE_REQUIRE=ptxas makes this a failure")
	}
	files, err := filepath.Glob("*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatalf("modules: %d, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, arch, _ := strings.Cut(string(text), ".target ")
			arch, _, _ = strings.Cut(arch, "\n")
			if out, err := exec.Command(ptxas, "-arch", arch, "-o", os.DevNull, name).CombinedOutput(); err != nil {
				t.Errorf("for %s: %v\n%s", arch, err, out)
			}
		})
	}
}
