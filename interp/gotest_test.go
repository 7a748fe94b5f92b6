package interp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/version"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

// Settings of the runs of Go's own test programs.
const (
	programVar   = "HALFNOTE_TEST_PROGRAM" // the program for a child process to run
	programLimit = 20 * time.Second
	tooLong      = "time-out after " // begins the reason of a program that took too long
	programShare = 32                // share of the programs in a default run: one in this many
	skipList     = "testdata/gotest/skip.txt"
)

var programs = flag.String("programs", "", "run the programs of Go's test directory whose paths match this regular expression, listed or not, and report their failures")

// TestGoPrograms runs programs of Go's test directory that consist of one file and begin
// with "// run", each as one cell of a session in a separate process. It checks that the
// programs of pass.txt pass: a share of them, or all if HALFNOTE_REQUIRE lists gotest, with compiled cells one in four. The
// programs of skip.txt do not apply to a notebook, for the reasons given there. -update
// runs all programs and rewrites pass.txt; -programs REGEXP runs the programs that match.
// Both print how often each failure occurs. It is must-test 13.
func TestGoPrograms(t *testing.T) { goPrograms(t, "yaegi", "testdata/gotest/pass.txt") }

// TestGoProgramsNative is TestGoPrograms with compiled cells, which have their own list.
// docs/compiled-cells.md says why the others fail.
func TestGoProgramsNative(t *testing.T) {
	if err := CompiledCells(); err != nil {
		testenv.Missing(t, "native", err)
	}
	goPrograms(t, Compiled, "testdata/gotest/pass-native.txt")
}

func goPrograms(t *testing.T, engine, passList string) {
	dir := programFolder(t)
	all := runPrograms(t, dir)
	skip := map[string]bool{}
	for _, line := range readList(t, skipList) {
		name, why, ok := strings.Cut(line, ": ")
		if !ok || why == "" || !slices.Contains(all, name) {
			t.Errorf("%s: %q is not the path of a program and a reason", skipList, line)
		}
		skip[name] = true
	}
	scope := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return skip[name] })
	pinned := readList(t, passList)
	required := testenv.Requires("gotest")
	asked := *update || *programs != ""

	run := scope
	switch {
	case *programs != "":
		re, err := regexp.Compile(*programs)
		if err != nil {
			t.Fatal(err)
		}
		run = slices.DeleteFunc(slices.Clone(scope), func(name string) bool { return !re.MatchString(name) })
	case !*update:
		share := uint32(programShare)
		if required {
			share = 1
			if engine != "yaegi" {
				share = 4
			}
		}
		run = slices.DeleteFunc(slices.Clone(pinned), func(name string) bool {
			h := fnv.New32a()
			h.Write([]byte(name))
			return h.Sum32()%share != 0
		})
	}
	failed := runAll(dir, engine, run)
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		// Results must not depend on the load of the machine, so a program that took too
		// long runs again, alone and with a longer limit.
		if asked && !strings.HasPrefix(failed[name], tooLong) {
			continue
		}
		if err := runProgram(filepath.Join(dir, filepath.FromSlash(name)), engine, 10*programLimit); err == nil {
			delete(failed, name)
		} else {
			failed[name] = err.Error()
		}
	}
	if !asked {
		for _, name := range slices.Sorted(maps.Keys(failed)) {
			t.Errorf("%s is in %s but fails: %s", name, passList, failed[name])
		}
		return
	}
	t.Logf("%d of %d programs pass; failures by class:\n%s", len(run)-len(failed), len(run), classes(failed))
	if *update && *programs == "" {
		pass := slices.DeleteFunc(slices.Clone(scope), func(name string) bool { return failed[name] != "" })
		head := fmt.Sprintf("# Programs of Go's test directory that pass as cells: %d of %d. Written by -update.\n", len(pass), len(scope))
		if err := os.WriteFile(passList, []byte(head+strings.Join(pass, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// programFolder returns the folder of Go's test programs: HALFNOTE_GOTEST, or that of the newest Go in PATH which has
// one. Those that the go command downloads do not, so that the programs may be of an older release than the cells.
func programFolder(t *testing.T) (dir string) {
	if dir := os.Getenv("HALFNOTE_GOTEST"); dir != "" {
		return dir
	}
	newest := ""
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		cmd := exec.Command(filepath.Join(folder, "go"), "env", "GOVERSION", "GOROOT")
		cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOROOT=")
		out, err := cmd.Output()
		if err != nil {
			continue
		}
		release, root, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		test := filepath.Join(root, "test")
		if _, err := os.Stat(filepath.Join(test, "fixedbugs")); err == nil && version.Compare(release, newest) > 0 {
			newest, dir = release, test
		}
	}
	if dir == "" {
		testenv.Missing(t, "gotest", "no Go in PATH has its test programs: set HALFNOTE_GOTEST to the folder test of Go's source")
	}
	t.Logf("the programs of %s in %s", newest, dir)
	return dir
}

// runPrograms lists the programs under dir that start with the line "// run".
func runPrograms(t *testing.T, dir string) []string {
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err == nil && runLine.Match(src) {
			name, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

var runLine = regexp.MustCompile(`(?m)^// run$`)

// readList returns the lines of a file, except comments.
func readList(t *testing.T, file string) []string {
	b, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(b), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "#")
	})
}

// runAll runs programs two at a time and returns the reasons of the failures.
func runAll(dir, engine string, names []string) map[string]string {
	failed := map[string]string{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	queue := make(chan string)
	for range 2 {
		wg.Go(func() {
			for name := range queue {
				if err := runProgram(filepath.Join(dir, filepath.FromSlash(name)), engine, programLimit); err != nil {
					mu.Lock()
					failed[name] = err.Error()
					mu.Unlock()
				}
			}
		})
	}
	for _, name := range names {
		queue <- name
	}
	close(queue)
	wg.Wait()
	return failed
}

// runProgram runs one program in a child process, because some failures end the
// process.
func runProgram(file, engine string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProgram$", "-engine="+engine)
	cmd.Env = append(os.Environ(), programVar+"="+file)
	cmd.WaitDelay = time.Second
	var verdict bytes.Buffer
	cmd.Stderr = &verdict
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s%v", tooLong, limit)
	case verdict.Len() > 0:
		return errors.New(strings.TrimSpace(verdict.String()))
	case err != nil:
		return err
	}
	return nil
}

// TestProgram is the child process of TestGoPrograms. Its standard error holds only the
// reason of a failure.
func TestProgram(t *testing.T) {
	file := os.Getenv(programVar)
	if file == "" {
		t.Skip("runs only as a child process of TestGoPrograms")
	}
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	os.Args = []string{file}
	out := &mixed{}
	r := s.Eval(t.Context(), eval.Cell{Code: string(src) + "\nmain();\n", Count: 1}, out)
	if r.Err != nil && !strings.HasPrefix(r.Err.Value, "os.Exit(0)") {
		fmt.Fprintf(os.Stderr, "%s: %s\n", r.Err.Name, r.Err.Value)
		for _, line := range r.Err.Traceback[min(1, len(r.Err.Traceback)):] {
			fmt.Fprintln(os.Stderr, escapes.ReplaceAllString(line, ""))
		}
		io.WriteString(os.Stderr, tail(out.String()))
		os.Exit(1)
	}
	got := kernelNotes.ReplaceAllString(out.String(), "")
	want, err := os.ReadFile(strings.TrimSuffix(file, ".go") + ".out") // a program without one prints nothing
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if got != string(want) {
		fmt.Fprintf(os.Stderr, "wrong output:\n%s", firstDifference(got, string(want)))
	}
	os.Exit(0)
}

// kernelNotes finds what the kernel, and not the program, prints.
var kernelNotes = regexp.MustCompile(`(?m)^note: .*\n`)

// mixed is a recorder that merges standard output and standard error, as .out files do.
type mixed struct{ recorder }

func (m *mixed) Stderr() io.Writer { return m.Stdout() }

func (m *mixed) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.buf.String()
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(end)", "(end)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d: got %q, want %q", i+1, a, b)
		}
	}
	return ""
}

// classes formats a table of failures: count, class, and programs.
func classes(failed map[string]string) string {
	byClass := map[string][]string{}
	for name, why := range failed {
		c := class(why)
		byClass[c] = append(byClass[c], name)
	}
	list := slices.SortedFunc(maps.Keys(byClass), func(a, b string) int {
		return cmp.Or(len(byClass[b])-len(byClass[a]), strings.Compare(a, b))
	})
	var b strings.Builder
	for _, c := range list {
		slices.Sort(byClass[c])
		fmt.Fprintf(&b, "%4d %s\n     %s\n", len(byClass[c]), c, strings.Join(byClass[c], " "))
	}
	if *programs != "" {
		for _, name := range slices.Sorted(maps.Keys(failed)) {
			fmt.Fprintf(&b, "\n%s\n%s\n", name, failed[name])
		}
	}
	return b.String()
}

// class returns the class of a failure: its first line without names and numbers.
func class(why string) string {
	line, _, _ := bufio.NewReader(strings.NewReader(why)).ReadLine()
	s := string(line)
	for _, v := range varying {
		s = v.ReplaceAllString(s, "…")
	}
	if len(s) > 150 {
		s = s[:150]
	}
	return s
}

var varying = []*regexp.Regexp{
	regexp.MustCompile(`"[^"]*"`), regexp.MustCompile(`In\[[0-9:]*\]`), regexp.MustCompile(`\b0x[0-9a-f]+\b`), regexp.MustCompile(`[0-9]+`),
}
