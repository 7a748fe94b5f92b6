package kernels

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestAssembles runs NVIDIA's assembler, named by the environment variable PTXAS, to find errors
// that the driver would report.
func TestAssembles(t *testing.T) {
	ptxas := os.Getenv("PTXAS")
	if ptxas == "" {
		testenv.Missing(t, "ptxas", "needs the path of ptxas in PTXAS, for example that of PyPI's nvidia-cuda-nvcc-cu12; HALFNOTE_REQUIRE=ptxas makes this a failure")
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
