//go:build !cuda

package cuda

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestTagged runs the tests of the backend, which the tag cuda brings in: on a driver of
// their own that runs kernels on the CPU, so that no GPU need be here.
func TestTagged(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("HALFNOTE_REQUIRE"), ","), "gcc") {
			t.Fatal(err)
		}
		t.Skip("needs gcc: HALFNOTE_REQUIRE=gcc makes this a failure")
	}
	if testing.Short() {
		t.Skip("takes minutes")
	}
	for _, args := range [][]string{{"./..."}, {"-run", "OnGPU", "../tensor/torchtest", "../amp"}} {
		test := append([]string{"sh", "build.sh", "test"}, args...)
		if _, err := exec.LookPath("nice"); err == nil { // other packages' tests wait for answers meanwhile
			test = append([]string{"nice", "-n", "19"}, test...)
		}
		out, err := exec.Command(test[0], test[1:]...).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "[no test files]") {
				t.Log(strings.TrimSuffix(line, "\n"))
			}
		}
		if err != nil {
			t.Error(err)
		}
	}
}
