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
		module := strings.TrimSuffix(name, ".cu")
		if !slices.Contains(Modules(), module) || source.Stamp([]byte(PTX(module))) != want {
			t.Errorf("%s: PTX is stale; run: go generate ./cuda/kernels", name)
		}
	}
	if len(Modules()) != len(sources) {
		t.Errorf("modules: got %d, want %d, one for each source", len(Modules()), len(sources))
	}
}

// TestAssembles runs NVIDIA's assembler, named by the environment variable PTXAS, to find errors
// that the driver would report.
func TestAssembles(t *testing.T) {
	ptxas := os.Getenv("PTXAS")
	if ptxas == "" {
		if slices.Contains(strings.Split(os.Getenv("HALFNOTE_REQUIRE"), ","), "ptxas") {
			t.Fatal("PTXAS does not name an assembler")
		}
		t.Skip("needs ptxas, of PyPI's nvidia-cuda-nvcc-cu12, in PTXAS; HALFNOTE_REQUIRE=ptxas makes this a failure")
	}
	for _, name := range Modules() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := PTX(name)
			_, arch, _ := strings.Cut(text, ".target ")
			arch, _, _ = strings.Cut(arch, "\n")
			file := filepath.Join(t.TempDir(), name+".ptx")
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(ptxas, "-arch", arch, "-o", os.DevNull, file).CombinedOutput(); err != nil {
				t.Errorf("for %s: %v\n%s", arch, err, out)
			}
		})
	}
}
