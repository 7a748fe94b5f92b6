package interp

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/amp"
	"halfnote/display"
	"halfnote/internal/plumbing"
	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

var engineName = flag.String("engine", "", "the engine for test sessions")

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

// TestScripts runs the cells of every script in testdata. A section "cell" of a script is a
// cell; the cell of a section "cell 300ms" is interrupted after it has run for that time, and
// the script waits for output that the goroutines of a section "cell late" write after the
// end of the cell. The section "out" that follows holds the expected output: printed text,
// the value after "= ", displays after "display ", and the error. Where it depends on the release of
// Go, a section "out go1.27" after it holds the output from that release on. -update rewrites these
// sections. Scripts in testdata/alone run one at a time.
func TestScripts(t *testing.T) { scripts(t, "yaegi") }

// TestScriptsNative runs the same scripts as compiled cells. testdata/native.exceptions lists
// the cells whose output may differ, with the reasons. By default it runs only a few scripts.
func TestScriptsNative(t *testing.T) {
	if !testing.Short() && !*update && !testenv.Requires("native") {
		if err := CompiledCells(); err != nil {
			t.Skip(err)
		}
		for _, name := range []string{"basics", "generics"} {
			t.Run(name, func(t *testing.T) {
				runScript(t, Compiled, "testdata/"+name+".txtar", readExceptions(t, Compiled), func(string, []byte) {})
			})
		}
		return
	}
	needNative(t)
	scripts(t, Compiled)
}

// needNative skips a test unless HALFNOTE_REQUIRE lists native, and fails if cells cannot be
// compiled here.
func needNative(t *testing.T) {
	t.Helper()
	if !*update && !testenv.Requires("native") {
		t.Skip("HALFNOTE_REQUIRE does not list native")
	}
	if err := CompiledCells(); err != nil {
		t.Fatal(err)
	}
}

// tested lists the engines to test: the compiled one if HALFNOTE_REQUIRE lists native.
func tested(t *testing.T) []string {
	if !testenv.Requires("native") {
		return Engines[:1]
	}
	if err := CompiledCells(); err != nil {
		t.Fatal(err)
	}
	return Engines
}

// TestSessionsNative runs the tests of sessions with compiled cells, in a separate process:
// interrupts, recursion, memory, the debugger, magics, completion, and others. It leaves
// out those that run on every engine, those that depend on none, and mutations of rewrites for the interpreter.
func TestSessionsNative(t *testing.T) {
	needNative(t)
	cmd := exec.Command(os.Args[0], "-engine", Compiled, "-test.skip",
		"Scripts|GoProgram|Fuzz|Native|Hostile|Compare|MemoryOfManyCells|ChartsFollow|Pages|RefusedCells|Mutations|SwitchedOff|StandardExamples|OrdinaryPrograms|RandomPrograms")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// newest reports whether the program can run the scripts in testdata/go1.27, of that version of the language.
func newest() bool { return version.Compare(release(), "go1.27") >= 0 }

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	return files
}

func scripts(t *testing.T, engine string) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	own, err := filepath.Glob("testdata/" + engine + "/*.txtar") // scripts only for this engine
	if err != nil {
		t.Fatal(err)
	}
	if newest() {
		own = append(own, glob(t, "testdata/go1.27/*.txtar")...)
	}
	// Scripts that observe the whole process run without others.
	alone, err := filepath.Glob("testdata/alone/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	x := readExceptions(t, engine)
	t.Cleanup(func() { x.close(t) })
	for _, file := range alone {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			runScript(t, engine, file, x, func(name string, data []byte) {})
		})
	}
	for _, file := range append(files, own...) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			runScript(t, engine, file, x, func(name string, data []byte) {})
		})
	}
}

// TestPackageScripts runs scripts whose sections "file NAME" are written to the working
// directory before the next cell runs. The folder cache in it is the module cache, and Go's command fetches the modules in
// the folder modules.
func TestPackageScripts(t *testing.T) { packageScripts(t, "yaegi") }

// TestPackageScriptsNative is TestPackageScripts with compiled cells.
func TestPackageScriptsNative(t *testing.T) {
	needNative(t)
	packageScripts(t, Compiled)
}

func packageScripts(t *testing.T, engine string) {
	files, err := filepath.Glob("testdata/packages/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	if newest() {
		files = append(files, glob(t, "testdata/go1.27/packages/*.txtar")...)
	}
	x := readExceptions(t, engine)
	t.Cleanup(func() { x.close(t) })
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			file, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			t.Chdir(dir)
			serveModules(t, dir)
			runScript(t, engine, file, x, func(name string, data []byte) {
				name = filepath.FromSlash(name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, data, 0o666)); err != nil {
					t.Fatal(err)
				}
				publish(t)
			})
		})
	}
}

// runScript runs the cells of a script; write is called with its files.
func runScript(t *testing.T, engine, file string, x *exceptions, write func(name string, data []byte)) {
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // cells may change it for all scripts that follow
		if now, err := os.Getwd(); err != nil || now != folder {
			t.Errorf("the script leaves the working folder %s (%v), want %s", now, err, folder)
			os.Chdir(folder)
		}
	})
	s := newSessionOn(t, engine)
	var got []txtar.File
	n := 0
	for i, f := range a.Files {
		name, arg, _ := strings.Cut(f.Name, " ")
		if name == "file" {
			write(arg, f.Data)
			got = append(got, f)
		}
		if name != "cell" {
			continue
		}
		n++
		outs := outputsAfter(a.Files[i+1:])
		want := outs.want(release())
		after, late := strings.CutSuffix(arg, "late")
		shown := run(t, s, n, strings.TrimSuffix(string(f.Data), "\n"), after)
		if late && !*update {
			eventually(func() bool { return shown() == want })
		} else if late {
			time.Sleep(2 * time.Second)
		}
		out := moving.ReplaceAllString(ended.ReplaceAllString(shown(), "$1"), "")
		if dir, err := os.Getwd(); err == nil {
			out = strings.ReplaceAll(out, dir, "WORK")
		}
		got = append(append(got, f), outs.updated(release(), out)...)
		script := strings.TrimSuffix(filepath.Base(file), ".txtar")
		want = x.want(t, fmt.Sprintf("%s In[%d]", script, n), want, out)
		if out != want && !*update {
			t.Errorf("In[%d]:\n%s\ngot:\n%swant:\n%s", n, f.Data, out, want)
		}
	}
	if *update && x == nil {
		a.Files = got
		if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func newSession(t testing.TB) *Session {
	t.Helper()
	return newSessionOn(t, *engineName)
}

func newSessionOn(t testing.TB, engine string) *Session {
	t.Helper()
	s, err := NewSession(Options{Release: "test", Engine: engine, Memory: 8 << 30, Grace: patience, Sources: os.DirFS(".."), Leave: amp.Internal(plumbing.Token{}).CloseRegions})
	if err != nil {
		t.Fatal(err)
	}
	observed(s)
	reportCore(s)
	t.Cleanup(func() { unobserved(s); s.Close() })
	return s
}

// patience limits waits for what must happen, on a machine that other processes keep busy.
const patience = time.Minute

// eventually reports whether a condition comes to hold.
func eventually(ok func() bool) bool {
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// evalFor runs a cell and returns all its output as one text. If after is given, the cell is
// interrupted after it has run for that time.
func evalFor(t testing.TB, s *Session, n int, code, after string) string {
	t.Helper()
	return run(t, s, n, code, after)()
}

// run is evalFor for cells with goroutines that print after the end of the cell: shown returns
// the output so far.
func run(t testing.TB, s *Session, n int, code, after string) (shown func() string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience) // a cell that hangs is shown as interrupted
	defer cancel()
	rec := &recorder{}
	if after != "" {
		d, err := time.ParseDuration(after)
		if err != nil {
			t.Fatal(err)
		}
		ctx = interruptAfter(ctx, s, rec, d)
	}
	if testing.Verbose() {
		defer time.AfterFunc(3*time.Second, func() { fmt.Fprintf(os.Stderr, "slow: In[%d]: %s\n", n, code) }).Stop()
	}
	r := s.Eval(ctx, eval.Cell{Code: code, Count: n}, rec)
	return func() string {
		text := rec.text(r)
		if after != "" { // the depth of calls varies
			text = folded.ReplaceAllString(text, "… N more")
		}
		return inModules.ReplaceAllString(text, "… calls inside tensor, nn\n")
	}
}

// interruptAfter returns a context for the next cell, which ends after the cell has run for d. It
// counts from the time at which the code of the cell starts, or at which a magic prints, in
// turns of 5 ms. Each turn also waits for other goroutines that are ready to run: however busy
// the machine is, the cell has run for a while when it is interrupted. A wait
// that is interrupted within half a second is not reported as a deadlock first.
func interruptAfter(ctx context.Context, s *Session, rec *recorder, d time.Duration) context.Context {
	if d < 500*time.Millisecond {
		s.live.Expect(patience)
	}
	before := s.live.Current()
	c, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		for s.live.Current() == before && !rec.begun() && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		const turn = 5 * time.Millisecond
		for ; d > 0 && ctx.Err() == nil; d -= turn {
			time.Sleep(turn)
			runtime.Gosched()
		}
	}()
	return c
}

// The times of progress bars vary, and with them whether a running bar is shown.
var (
	ended  = regexp.MustCompile(`(?m)^(update .*?\d+(?:/\d+)?(?:, stopped)?) (?:in|after) .*$`)
	moving = regexp.MustCompile(`(?m)^update .*, \S+(?:/s| \S+ each)(?:, .* left)?\n`)
)

var folded = regexp.MustCompile(`… \d+ more`)

// inModules matches the number of calls inside a module, which is higher while another test records.
var inModules = regexp.MustCompile(`… \d+ calls inside tensor, nn(?:, scope)?\n`)

// recorder is a eval.Output that records everything.
type recorder struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *recorder) Stdout() io.Writer { return recorderStream{r, ""} }
func (r *recorder) Stderr() io.Writer { return recorderStream{r, "stderr: "} }

func (r *recorder) Display(b display.Bundle) { r.say("display ", b) }
func (r *recorder) Update(b display.Bundle)  { r.say("update ", b) }
func (r *recorder) Clear(wait bool)          { fmt.Fprintf(r.Stdout(), "clear %v\n", wait) }

func (r *recorder) say(what string, b display.Bundle) {
	fmt.Fprintf(r.Stdout(), "%s%s\n", what, b.Data["text/plain"])
}

type recorderStream struct {
	r      *recorder
	prefix string
}

func (s recorderStream) Write(p []byte) (int, error) {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	if s.prefix == "" {
		return s.r.buf.Write(p)
	}
	for line := range bytes.Lines(p) {
		fmt.Fprintf(&s.r.buf, "%s%s", s.prefix, line)
	}
	return len(p), nil
}

// begun reports whether anything has been written.
func (r *recorder) begun() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Len() > 0
}

// printed returns the text written to standard output and displayed.
func (r *recorder) printed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for line := range strings.Lines(r.buf.String()) {
		if !strings.HasPrefix(line, "stderr: ") {
			b.WriteString(strings.TrimPrefix(line, "display "))
		}
	}
	return b.String()
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (r *recorder) text(res eval.Result) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := bytes.NewBuffer(bytes.Clone(r.buf.Bytes()))
	if b := r.buf.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
		text.WriteString("⏎\n")
	}
	if res.Value != nil {
		fmt.Fprintf(text, "= %v\n", res.Value.Data["text/plain"])
	}
	for _, p := range res.Payload {
		if p.Source == "set_next_input" {
			fmt.Fprintf(text, "next cell, replacing this one %v:\n%s\n", p.Replace, p.Text)
			continue
		}
		fmt.Fprintf(text, "page %v\n", p.Data.Data["text/plain"])
	}
	if res.Err != nil {
		fmt.Fprintf(text, "%s\n", res.Err.Name)
		for _, line := range res.Err.Traceback {
			fmt.Fprintln(text, strings.TrimRight(escapes.ReplaceAllString(line, ""), " "))
		}
	}
	return escapes.ReplaceAllString(text.String(), "")
}
