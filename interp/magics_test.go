package interp

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"halfnote/display"
	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

// TestMemit checks the report of %memit: at least what a statement takes, what it keeps, and no report for one that fails.
func TestMemit(t *testing.T) {
	s := newSession(t)
	report := regexp.MustCompile(`(?m)^memory: ([\d.]+) MiB at the peak, (.*) kept; ([\d.]+) MiB allocated in all$`)
	for i, code := range []string{"%memit kept := make([]byte, 64<<20)", "%%memit\nvar last []byte\nfor range 3 {\n\tlast = make([]byte, 64<<20)\n}"} {
		m := report.FindStringSubmatch(evalFor(t, s, i+1, code, ""))
		if m == nil {
			t.Fatalf("%s: no report", code)
		}
		for _, text := range []string{m[1], m[3]} {
			if n, err := strconv.ParseFloat(text, 64); err != nil || n < 64 {
				t.Errorf("%s: got %q, want 64 MiB or more", code, m[0])
			}
		}
		if !strings.HasSuffix(m[2], " MiB") {
			t.Errorf("%s: got %q kept, want what the variable holds", code, m[2])
		}
	}
	if got := evalFor(t, s, 9, "%memit []int{}[len(kept)]", ""); !strings.Contains(got, "index out of range") || strings.Contains(got, "memory:") {
		t.Errorf("a statement that fails: got %q", got)
	}
}

var timing = regexp.MustCompile(`^[\d.e+]+ (ns|µs|ms|s) ± [\d.e+]+ (ns|µs|ms|s) per loop \(mean ± std\. dev\. of (.*) each\), best [\d.e+]+ (ns|µs|ms|s)\n$`)

// TestTimeit checks the report of %timeit, and how often it runs the statements.
func TestTimeit(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "n := 0\nfunc work() (int, error) { n++; return n, nil }\ntype T struct{ A int }", "")
	for i, c := range []struct{ code, counts string }{
		{"%timeit -n 100 -r 3 n += 1", "3 runs, 100 loops"},
		{"%timeit -n1 -r1 work()", "1 run, 1 loop"},
		{"%timeit -n 10 -r 2 n + 1", "2 runs, 10 loops"},
		{"%timeit -n 10 -r 2 len(\"text\"); _ = T{1}; x := 3", "2 runs, 10 loops"},
		{"%%timeit -n 2000\nfor i := range 3 {\n\tn += i\n}\nn * 2", "7 runs, 2,000 loops"},
		{"%%timeit -n 10\nimport \"bytes\"\nfunc f() int { return bytes.Compare(nil, nil) }\nf()", "7 runs, 10 loops"},
	} {
		got := evalFor(t, s, i+2, c.code, "")
		lines := strings.SplitAfter(got, "\n")
		if m := timing.FindStringSubmatch(lines[max(0, len(lines)-2)]); m == nil || m[3] != c.counts {
			t.Errorf("%s:\ngot %q\nwant %s", c.code, got, c.counts)
		}
	}
	// n += 1 ran 300 times, work once, the loop's 3 turns 7 × 2000 times
	if got := evalFor(t, s, 20, "n", ""); got != "= 42301\n" {
		t.Errorf("n: got %s, want 42301", got)
	}
	if got := evalFor(t, s, 21, "x", ""); !strings.Contains(got, "undefined: x") {
		t.Errorf("the x of a timed statement: got %q, want it undefined", got)
	}
	if got := evalFor(t, s, 22, "1\n  %timeit -n 3 n + nosuch", ""); !strings.Contains(got, "In[22], line 2, column 20: undefined: nosuch") {
		t.Errorf("an error in the timed statement: got\n%s", got)
	}
	if got := evalFor(t, s, 23, "%%timeit -r 2\nn += []int{1}[n]", ""); !strings.Contains(got, "index out of range") || !strings.Contains(got, "line 2") {
		t.Errorf("a panic in the timed statement: got\n%s", got)
	}
	if got := evalFor(t, s, 24, "%timeit for {}", "50ms"); !strings.Contains(got, "Interrupted") {
		t.Errorf("an endless loop: got\n%s", got)
	}
	for i, code := range []string{"%timeit", "%timeit -n x 1", "%timeit -n 0 1", "%%timeit 1\n2"} {
		if got := evalFor(t, s, 30+i, code, ""); !strings.HasPrefix(got, "MagicError") {
			t.Errorf("%s: got\n%s", code, got)
		}
	}
	// The number of loops makes a measurement long enough; on a busy machine one is
	// enough.
	if got := evalFor(t, s, 40, "%timeit -r 1 time.Sleep(20*time.Millisecond)", ""); !regexp.MustCompile("of 1 run, (1 loop|10 loops) each").MatchString(got) {
		t.Errorf("20 ms: got %q, want 10 loops", got)
	}
}

// TestFileMagics checks that magics write files, append to them, and load them into cells.
func TestFileMagics(t *testing.T) {
	s := newSession(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "a file.go")
	for i, c := range []struct{ code, want string }{
		{"%%writefile " + file + "\nx := 1\n\n\ty := 2", "writing " + file + "\n"},
		{"%%writefile -a " + file + "\nz := 3\n", "appending to " + file + "\n"},
	} {
		if got := evalFor(t, s, i+1, c.code, ""); got != c.want {
			t.Errorf("%s: got %q, want %q", c.code, got, c.want)
		}
	}
	want := "x := 1\n\n\ty := 2\nz := 3\n"
	if data, err := os.ReadFile(file); string(data) != want {
		t.Errorf("the file: got %q, %v, want %q", data, err, want)
	}
	load := func(args string) eval.Payload {
		t.Helper()
		r := s.Eval(context.Background(), eval.Cell{Code: "%load " + args, Count: 3}, &recorder{})
		if r.Err != nil || len(r.Payload) != 1 {
			t.Fatalf("%%load %s: got %+v", args, r)
		}
		return r.Payload[0]
	}
	if p := load(file); p.Source != "set_next_input" || !p.Replace || p.Text != "// %load "+file+"\n"+strings.TrimSpace(want) {
		t.Errorf("%%load: got %+v", p)
	}
	nb := filepath.Join(dir, "nb.ipynb")
	text := `{"cells": [{"cell_type": "markdown", "source": "# Title"}, {"cell_type": "code", "source": ["a := 1\n", "a"]}, {"cell_type": "code", "source": "b := 2"}], "nbformat": 4}`
	if err := os.WriteFile(nb, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if p := load(nb + " 1"); !strings.HasSuffix(p.Text, "\na := 1\na") {
		t.Errorf("first cell: got %q", p.Text)
	}
	if p := load(nb + " 2"); !strings.HasSuffix(p.Text, "\nb := 2") {
		t.Errorf("second cell: got %q", p.Text)
	}
	for i, args := range []string{nb, nb + " 3", nb + " x"} {
		if got := evalFor(t, s, 10+i, "%load "+args, ""); !strings.Contains(got, "number of") {
			t.Errorf("%%load %s: got\n%s", args, got)
		}
	}
	if got := evalFor(t, s, 20, "%%writefile "+file+"\nnew", ""); got != "overwriting "+file+"\n" {
		t.Errorf("an existing file: got %q", got)
	}
}

// TestWorkingFolder checks that cells and commands share the working folder.
func TestWorkingFolder(t *testing.T) {
	was, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chdir(was) })
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", dir)
	s := newSession(t)
	sub := filepath.Join(dir, "sub folder")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ code, want string }{
		{"%cd -", "MagicError"},
		{"%cd " + sub, sub + "\n"},
		{"%pwd", "= " + sub + "\n"},
		{"import \"os\"\nd, _ := os.Getwd()\nd", "= " + sub + "\n"},
		{"%cd", dir + "\n"},
		{"%cd -", sub + "\n"},
		{"%cd ~/sub folder", sub + "\n"},
	} {
		if got := evalFor(t, s, i+1, c.code, ""); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.code, got, c.want)
		}
	}
	if runtime.GOOS != "windows" {
		if got := evalFor(t, s, 10, "!pwd", ""); got != sub+"\n" {
			t.Errorf("!pwd: got %q", got)
		}
	}
}

// TestHistoryMagic checks that %history -n prints the sources of the cells so far.
func TestHistoryMagic(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "x := 1\nx", "")
	if got := evalFor(t, s, 2, "%history -n", ""); got != "1: x := 1\nx\n2: %history -n\n" {
		t.Errorf("got %q", got)
	}
}

// TestCommandInterrupted checks that the output of a command arrives while it runs, and
// that an interrupt ends it and its children, including those that ignore the first
// signal.
func TestCommandInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	s := newSession(t)
	ctx, cancel := context.WithCancel(context.Background())
	rec := &recorder{}
	done := make(chan eval.Result)
	code := "%%sh\ntrap '' INT\nsleep 1000 &\necho $! $$\nsleep 1000"
	go func() { done <- s.Eval(ctx, eval.Cell{Code: code, Count: 1}, rec) }()
	var pids []int
	if !eventually(func() bool {
		pids = nil
		for _, f := range strings.Fields(rec.text(eval.Result{})) {
			if n, err := strconv.Atoi(f); err == nil {
				pids = append(pids, n)
			}
		}
		return len(pids) == 2
	}) {
		t.Fatal("no output while the command runs")
	}
	cancel()
	select {
	case r := <-done:
		if r.Err == nil || r.Err.Name != "Interrupted" {
			t.Errorf("got %+v, want an interrupt", r.Err)
		}
	case <-time.After(patience):
		t.Fatal("the command is still running after the interrupt")
	}
	for _, pid := range pids {
		if !eventually(func() bool { return !running(pid) }) {
			t.Errorf("process %d is still running", pid)
		}
	}
}

// TestCommandEndsItsProcesses checks that background processes of a command end with it.
func TestCommandEndsItsProcesses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a POSIX shell")
	}
	s := newSession(t)
	got := evalFor(t, s, 1, "!sleep 1000 & echo $!", "")
	pid, err := strconv.Atoi(strings.TrimSpace(got))
	if err != nil {
		t.Fatalf("got %q, want a process id", got)
	}
	if !eventually(func() bool { return !running(pid) }) {
		t.Errorf("process %d is still running", pid)
	}
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// TestChartsFollowTheme checks that charts have the theme of the session, unless the cell
// sets another.
func TestChartsFollowTheme(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "fig := chart.Throughput(\"samples/s\", []chart.Rate{{Name: \"float32\", DType: \"float32\", Values: []float64{10}}})", "")
	for i, c := range []struct {
		code        string
		light, dark bool // expected backgrounds of the picture
	}{
		{"fig", true, false},
		{"%theme dark\nfig", false, true},
		{"display.Show(fig)", false, true},
		{"fig.With(chart.Light)", true, false},
		{"%theme auto\nfig", true, true},
		{"h := display.Live(1)\nh.Update(fig)", true, true},
		{"%theme light\nfig.With(chart.Dark)", false, true},
		{"fig", true, false},
	} {
		out := &lastBundle{}
		r := s.Eval(t.Context(), eval.Cell{Code: c.code, Count: i + 2}, out)
		if r.Value != nil {
			out.last = *r.Value
		}
		page, _ := out.last.Data["text/html"].(string)
		_, data, _ := strings.Cut(page, "base64,")
		data, _, _ = strings.Cut(data, `"`)
		svg, err := base64.StdEncoding.DecodeString(data)
		if err != nil || len(svg) == 0 {
			t.Fatalf("%s: no picture in %q: %v", c.code, page, err)
		}
		light, dark := strings.Contains(string(svg), "#FFFFFF"), strings.Contains(string(svg), "#111111")
		if light != c.light || dark != c.dark {
			t.Errorf("%s: the light theme %v, the dark one %v, want %v and %v", c.code, light, dark, c.light, c.dark)
		}
	}
}

// lastBundle is an Output that keeps the last displayed bundle.
type lastBundle struct {
	recorder
	last display.Bundle
}

func (l *lastBundle) Display(b display.Bundle) { l.last = b }
func (l *lastBundle) Update(b display.Bundle)  { l.last = b }

// TestChartsFollowForm checks that charts are shown in the form of the session, unless a cell sets
// another.
func TestChartsFollowForm(t *testing.T) {
	s := newSession(t)
	evalFor(t, s, 1, "fig := chart.Plot([]float64{1, 2})", "")
	for i, c := range []struct {
		code        string
		interactive bool
	}{
		{"fig", false}, {"fig.Interactive()", true}, {"%charts interactive\nfig", true}, {"display.Show(fig)", true},
		{"fig.Picture()", false}, {"h := display.Live(1)\nh.Update(fig)", true}, {"%charts picture\nfig", false}, {"fig.Interactive()", true},
	} {
		out := &lastBundle{}
		r := s.Eval(t.Context(), eval.Cell{Code: c.code, Count: i + 2}, out)
		if r.Value != nil {
			out.last = *r.Value
		}
		if _, got := out.last.Data["application/vnd.vegalite.v5+json"]; got != c.interactive {
			t.Errorf("%s: interactive: got %v, want %v", c.code, got, c.interactive)
		}
	}
}

// TestPythonScriptInAFolder runs a Python script in a folder with a file for every module that Python could import when it starts.
func TestPythonScriptInAFolder(t *testing.T) {
	python := testenv.Python(t)
	t.Setenv("PATH", filepath.Dir(python)+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := newSession(t)
	sprung := testenv.Trap(t, python)
	got := evalFor(t, s, 1, "%%python\nprint(6 * 7)", "")
	if names := sprung(); got != "42\n" || len(names) > 0 {
		t.Errorf("got %q and modules of the working folder %q, want 42 and none", got, names)
	}
}
