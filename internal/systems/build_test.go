package systems

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"halfnote/internal/testenv"
)

// TestBuild compiles and links for the systems of the table: the assembler and the linker find what types do not show.
func TestBuild(t *testing.T) {
	if !testenv.Requires("systems") {
		t.Skip("compiles the program for several systems: set HALFNOTE_REQUIRE=systems to run it")
	}
	for _, s := range Table {
		if !s.Build || s.GOOS == runtime.GOOS && s.GOARCH == runtime.GOARCH { // the other tests have built it for this one
			continue
		}
		t.Run(s.Name(), func(t *testing.T) {
			// Programs that go generate runs are compiled and linked too.
			cmd := exec.Command("go", append([]string{"build", "-o", t.TempDir() + string(os.PathSeparator)}, s.Packages...)...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), Variant{GOOS: s.GOOS, GOARCH: s.GOARCH}.environment()...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
