package interp

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/display"
	"halfnote/internal/plumbing"
	"halfnote/internal/testenv"
	"halfnote/kernel"
)

var engineName = flag.String("engine", "", "the engine for test sessions")

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

// TestScripts runs the cells of every script in testdata. A section "cell" of a script is a
// cell; the cell of a section "cell 300ms" is interrupted after that time. The section
// "out" that follows holds the expected output: printed text, the value after "= ",
// displays after "display ", and the error. -update rewrites these sections. Scripts in
// testdata/alone run one at a time.
func TestScripts(t *testing.T) { scripts(t, "yaegi") }

// TestScriptsIxgo runs the same scripts on the ixgo engine. testdata/ixgo.exceptions
// lists the cells whose output may differ, with the reasons.
func TestScriptsIxgo(t *testing.T) {
	if !*update && !testenv.Requires("ixgo") {
		t.Skip("HALFNOTE_REQUIRE does not list ixgo")
	}
	scripts(t, "ixgo")
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
// directory before the next cell runs. The folder cache in it is the module cache.
func TestPackageScripts(t *testing.T) { packageScripts(t, "yaegi") }

// TestPackageScriptsIxgo is TestPackageScripts on the ixgo engine.
func TestPackageScriptsIxgo(t *testing.T) {
	if !*update && !testenv.Requires("ixgo") {
		t.Skip("HALFNOTE_REQUIRE does not list ixgo")
	}
	packageScripts(t, "ixgo")
}

func packageScripts(t *testing.T, engine string) {
	files, err := filepath.Glob("testdata/packages/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
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
			t.Setenv("GOMODCACHE", filepath.Join(dir, "cache"))
			t.Setenv("GOWORK", "")
			runScript(t, engine, file, x, func(name string, data []byte) {
				name = filepath.FromSlash(name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, data, 0o666)); err != nil {
					t.Fatal(err)
				}
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
		out := evalFor(t, s, n, strings.TrimSuffix(string(f.Data), "\n"), arg)
		out = moving.ReplaceAllString(ended.ReplaceAllString(out, "$1"), "")
		if dir, err := os.Getwd(); err == nil {
			out = strings.ReplaceAll(out, dir, "WORK")
		}
		got = append(got, f)
		if out != "" {
			got = append(got, txtar.File{Name: "out", Data: []byte(out)})
		}
		want := ""
		if i+1 < len(a.Files) && a.Files[i+1].Name == "out" {
			want = string(a.Files[i+1].Data)
		}
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
	s, err := NewSession(Options{Release: "test", Engine: engine, Memory: 8 << 30, Sources: os.DirFS(".."), Leave: plumbing.Of[plumbing.Regions]().Close})
	if err != nil {
		t.Fatal(err)
	}
	observed(s)
	t.Cleanup(func() { unobserved(s); s.Close() })
	return s
}

// evalFor runs a cell and returns all its output as one text.
func evalFor(t testing.TB, s *Session, n int, code, after string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second) // a cell that hangs is shown as interrupted
	defer cancel()
	if after != "" {
		d, err := time.ParseDuration(after)
		if err != nil {
			t.Fatal(err)
		}
		c, cancel := context.WithCancel(ctx)
		defer time.AfterFunc(d, cancel).Stop()
		ctx = c
	}
	rec := &recorder{}
	if testing.Verbose() {
		defer time.AfterFunc(3*time.Second, func() { fmt.Fprintf(os.Stderr, "slow: In[%d]: %s\n", n, code) }).Stop()
	}
	r := s.Eval(ctx, kernel.Cell{Code: code, Count: n}, rec)
	// Goroutines that outlive the cell could still print, so scripts wait for them.
	text := rec.text(r)
	if after != "" { // the depth of calls varies
		text = folded.ReplaceAllString(text, "… N more")
	}
	return inModules.ReplaceAllString(text, "… calls inside tensor, nn\n")
}

// The times of progress bars vary, and with them whether a running bar is shown.
var (
	ended  = regexp.MustCompile(`(?m)^(update .*?\d+(?:/\d+)?(?:, stopped)?) (?:in|after) .*$`)
	moving = regexp.MustCompile(`(?m)^update .*, \S+(?:/s| \S+ each)(?:, .* left)?\n`)
)

var folded = regexp.MustCompile(`… \d+ more`)

// inModules matches the number of calls inside a module, which is higher while another test records.
var inModules = regexp.MustCompile(`… \d+ calls inside tensor, nn(?:, scope)?\n`)

// recorder is a kernel.Output that records everything.
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

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (r *recorder) text(res kernel.Result) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.buf.Bytes(); len(b) > 0 && b[len(b)-1] != '\n' {
		r.buf.WriteString("⏎\n")
	}
	if res.Value != nil {
		fmt.Fprintf(&r.buf, "= %v\n", res.Value.Data["text/plain"])
	}
	for _, p := range res.Payload {
		if p.Source == "set_next_input" {
			fmt.Fprintf(&r.buf, "next cell, replacing this one %v:\n%s\n", p.Replace, p.Text)
			continue
		}
		fmt.Fprintf(&r.buf, "page %v\n", p.Data.Data["text/plain"])
	}
	if res.Err != nil {
		fmt.Fprintf(&r.buf, "%s\n", res.Err.Name)
		for _, line := range res.Err.Traceback {
			fmt.Fprintln(&r.buf, strings.TrimRight(ansi.ReplaceAllString(line, ""), " "))
		}
	}
	return ansi.ReplaceAllString(r.buf.String(), "")
}
