package cuda_test

import (
	"archive/tar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// checkStub stands for the programs that check.sh runs. It notes each call, and fails, hangs or ends
// the script, as a lost machine does, where the test asks for it.
const checkStub = `#!/bin/sh
me=$(basename "$0") step="$(basename "$0") $*"
echo "$step" >>"$CALLS"
case $step in
*"$LOSE"*) [ -f "$CALLS.lost" ] || { touch "$CALLS.lost"; kill -9 $SCRIPT; exit 1; } ;;
esac
case $step in
*"$HANG"*) exec sleep 60 ;;
esac
case $me.$1 in
halfnote.version) echo "halfnote 9.9, go, linux/amd64" ;;
halfnote.doctor) echo "    GPU  NVIDIA H999, compute capability 9.0; products use /lib/libcublasLt.so.13" ;;
halfnote.bench) echo "table of $2: $HALFNOTE_CUDA_TEST" ;;
python.*)
	case $2 in
	*importlib*) echo "PyTorch 9.9" ;;
	*import*) exec python3 "$@" ;;
	*) echo "DIFFERENT add 1 2" ;;
	esac
	;;
amp.test.*) echo "--- PASS: TestOne"; echo "--- FAIL: TestScalerOnGPU (0.1s)"; echo "    why"; exit 1 ;;
*) echo "--- PASS: TestOne" ;;
esac
`

// check is a run of check.sh with stubs.
type check struct {
	t                 *testing.T
	work, out, packed string
	stub              string
}

func newCheck(t *testing.T) check {
	for _, program := range []string{"sh", "timeout", "python3", "awk"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs a Unix shell, timeout of GNU coreutils, and Python: ", err)
		}
	}
	c := check{t: t, work: t.TempDir()}
	c.out, c.packed = filepath.Join(c.work, "out"), filepath.Join(c.work, "packed")
	c.stub = filepath.Join(c.work, "python")
	if err := os.WriteFile(c.stub, []byte(checkStub), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(c.packed, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(c.packed, "programs.tar.xz")) // Python looks at the content
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := tar.NewWriter(f)
	names := []string{"halfnote"}
	for _, s := range plan(t) {
		if s.folder != "" {
			names = append(names, strings.ReplaceAll(s.folder, "/", "-")+".test")
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(checkStub))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(checkStub)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs the script, and returns the report, and whether the script came to its end.
func (c check) run(verb string, env ...string) (report string, ended bool) {
	c.t.Helper()
	cmd := exec.Command("sh", "-c", `SCRIPT=$$; export SCRIPT; exec sh check.sh "$@"`, "sh", verb, c.packed, c.out)
	cmd.Env = append(os.Environ(), "PYTHON="+c.stub, "CALLS="+filepath.Join(c.work, "calls"), "LOSE=nothing", "HANG=nothing", "HALFNOTE_CUDA_TEST=", "TMPDIR="+c.work)
	cmd.Env = append(cmd.Env, env...)
	text, err := cmd.CombinedOutput()
	page, _ := os.ReadFile(filepath.Join(c.out, "report.md"))
	if err != nil && cmd.ProcessState.ExitCode() >= 0 {
		c.t.Fatalf("%v\n%s", err, text)
	}
	return string(page), err == nil
}

// calls returns the number of calls that begin with a text.
func (c check) calls(prefix string) (n int) {
	text, err := os.ReadFile(filepath.Join(c.work, "calls"))
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// planned is a step of check.sh.
type planned struct {
	part, name, folder, tests string
	seconds                   int
}

func plan(t *testing.T) (steps []planned) {
	out, err := exec.Command("sh", "check.sh", "plan").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		seconds, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		s := planned{part: words[0], name: words[2], seconds: seconds}
		if words[3] == "tests" {
			s.folder, s.tests = words[4], words[5]
		}
		steps = append(steps, s)
	}
	return steps
}

// TestCheckPlan checks that the parts take the minutes that they have, and that each step names
// tests that exist.
func TestCheckPlan(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a Unix shell: ", err)
	}
	got := map[string]int{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, s := range plan(t) {
		got[s.part] += s.seconds
		if s.folder == "" {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", s.folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var matching []string
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
				if regexp.MustCompile(s.tests).MatchString(m[1]) {
					matching = append(matching, m[1])
				}
			}
		}
		if len(matching) == 0 {
			t.Errorf("%s %s: no test in %s matches %s", s.part, s.name, s.folder, s.tests)
		}
		t.Logf("%s %s: %d tests", s.part, s.name, len(matching))
	}
	for part, want := range map[string]int{"library": 60, "checks": 4 * 60, "speed": 6 * 60, "logs": 60} {
		if got[part] != want {
			t.Errorf("%s takes %d s, want %d", part, got[part], want)
		}
	}
}

// TestCheckResumes ends a run in the middle, as a lost machine does, and continues it.
func TestCheckResumes(t *testing.T) {
	c := newCheck(t)
	attention := "LOSE=-test.run ^TestAttention"
	page, ended := c.run("run", attention)
	if ended || !strings.Contains(page, "| checks | products |") || strings.Contains(page, "| checks | attention |") {
		t.Fatalf("ended: %v, want a run that ends before attention; report:\n%s", ended, page)
	}
	page, ended = c.run("run", attention)
	if !ended {
		t.Fatal("the second run did not end")
	}
	for call, want := range map[string]int{"cuda-internal-drv.test": 1, "cuda-internal-gpu.test -test.v -test.run ^TestAttention": 2, "halfnote bench mlp": 1} {
		if got := c.calls(call); got != want {
			t.Errorf("%s: %d calls, want %d", call, got, want)
		}
	}
	at := 0
	for _, want := range []string{
		"# Halfnote on NVIDIA H999\n", "halfnote 9.9", "PyTorch 9.9", "products use /lib/libcublasLt.so.13",
		"| library | doctor |", "| checks | driver |", "ok, 1 passed, 0 failed", "| checks | attention |", "| checks | autocast |", "**exit 1**, 1 passed, 1 failed", "| speed | mlp |", "| logs | logs |",
		"## Failures", "TestScalerOnGPU", "why", "## Differences", "DIFFERENT add 1 2", "## bench mlp", "table of mlp: device",
	} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing after byte %d of the report:\n%s", want, at, page)
		}
		at += i
	}
	if strings.Contains(page, "# A rehearsal") {
		t.Errorf("a run on a device is not a rehearsal:\n%s", page)
	}
}

// TestCheckStops gives a step too little time, in a rehearsal, and loses a machine twice at another.
func TestCheckStops(t *testing.T) {
	c := newCheck(t)
	page, ended := c.run("rehearse", "HANG=bench mlp", "SECONDS_ALL=15", "PARTS=speed")
	if !ended || !regexp.MustCompile(`mlp \| \d+ \| 2 \| \*\*stopped by its limit`).MatchString(page) || !strings.Contains(page, "# A rehearsal") {
		t.Fatalf("ended: %v, want mlp stopped, which has 2 s; report:\n%s", ended, page)
	}
	c = newCheck(t)
	for i := range 3 {
		os.Remove(filepath.Join(c.work, "calls.lost"))
		page, ended = c.run("rehearse", "LOSE=doctor --json", "PARTS=logs")
		if ended != (i == 2) {
			t.Fatalf("run %d ended: %v", i, ended)
		}
	}
	if text, err := os.ReadFile(filepath.Join(c.out, "steps", "logs-logs")); err != nil || !strings.Contains(string(text), "lost") {
		t.Errorf("got %q, %v; want the step lost twice", text, err)
	}
	if page == "" || !strings.Contains(page, "**a machine was lost twice**") {
		t.Errorf("report: %s", page)
	}
}
