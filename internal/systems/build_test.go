package systems

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"halfnote/internal/testenv"
)

// TestBuild compiles and links the programs of the table.
func TestBuild(t *testing.T) {
	if !testenv.Requires("systems") {
		t.Skip("compiles the program for several systems: set HALFNOTE_REQUIRE=systems to run it")
	}
	for _, s := range Table {
		if s.Program == "" || s.GOOS == runtime.GOOS && s.GOARCH == runtime.GOARCH { // the other tests build it for this one
			continue
		}
		t.Run(s.Name(), func(t *testing.T) {
			// With -trimpath, packages are those of the wheels.
			cmd := exec.Command("go", "build", "-trimpath", "-o", t.TempDir()+string(os.PathSeparator), s.Program)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), Variant{GOOS: s.GOOS, GOARCH: s.GOARCH}.environment()...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
