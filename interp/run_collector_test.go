package interp

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var collecting = flag.Duration("collect", 20*time.Second, "how long TestCollectorNative runs")

// TestCollectorNative runs scripts in random order as compiled cells, several sessions at a time, in
// processes whose collector runs after every 1 % of growth and overwrites what it frees. The
// cells start goroutines and are interrupted, and print what they print on Yaegi.
func TestCollectorNative(t *testing.T) {
	needNative(t)
	var files []string
	for _, pattern := range []string{"testdata/*.txtar", "testdata/alone/*.txtar"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatal("no scripts", err)
		}
		files = append(files, list...)
	}
	cells, runs := 0, 0
	defer func() { t.Logf("%d cells of %d scripts", cells, runs) }()
	for end := time.Now().Add(*collecting); time.Now().Before(end); {
		rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		var names []string
		for _, file := range files[:min(6, len(files))] {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".txtar"))
		}
		cmd := exec.Command(os.Args[0], "-test.run", "TestScriptsNative$/^("+strings.Join(names, "|")+")$")
		cmd.Env = append(os.Environ(), "GOGC=1", "GODEBUG=clobberfree=1", "HALFNOTE_REQUIRE=native")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", names, err, out)
		}
		for _, file := range files[:len(names)] {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cells += strings.Count("\n"+string(text), "\n-- cell")
			runs++
		}
	}
}
