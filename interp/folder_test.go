package interp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/eval"
)

const (
	folderVar   = "HALFNOTE_PROGRAMS"    // a folder of programs to run
	runnerVar   = "HALFNOTE_TEST_RUNNER" // the engine of a child process
	folderLimit = 30 * time.Second       // time for one program
)

// TestProgramFolder runs each Go file below the folder HALFNOTE_PROGRAMS as a program of one file, on both engines. Where the engines
// print the same, so does compiled Go, because one of them compiles. Where they do not, the go command decides. It reports what
// differs and what is refused. Programs may come from a generator for tests of compilers, or from a collection of examples.
func TestProgramFolder(t *testing.T) {
	root := os.Getenv(folderVar)
	if root == "" {
		t.Skip(folderVar + " names no folder")
	}
	if err := CompiledCells(); err != nil {
		t.Fatal(err)
	}
	runners := map[string]*programRunner{}
	for _, engine := range Engines {
		runners[engine] = &programRunner{engine: engine}
		defer runners[engine].stop()
	}
	ran, same := 0, 0
	refused, differing := map[string]string{}, map[string]string{}
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		source, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(source, []byte("\nfunc main()")) {
			return err
		}
		ran++
		results := map[string]string{}
		for engine, r := range runners {
			results[engine] = r.run(file)
		}
		if results[Engines[0]] == results[Compiled] {
			same++
			return nil
		}
		want, known := "", false
		for engine, got := range results {
			if strings.HasPrefix(got, "refused: ") {
				refused[file+" "+engine] = strings.TrimPrefix(got, "refused: ")
				continue
			}
			if !known {
				want, known = goRun(t, file), true
			}
			if got != want {
				differing[file+" "+engine] = firstDifference(got, want)
				t.Logf("%s %s: %s", file, engine, firstDifference(got, want))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d programs, %d with the same result on both engines; %d results differ from compiled Go, %d are refusals by one engine", ran, same, len(differing), len(refused))
	t.Logf("refusals by class:\n%s", classes(refused))
	for _, id := range slices.Sorted(maps.Keys(differing)) {
		t.Errorf("%s: %s", id, differing[id])
	}
}

// goRun returns what a program prints, and the panic that ends it.
func goRun(t *testing.T, file string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 2*folderLimit)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "run", file)
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "time-out"
	case err != nil && strings.Contains(stderr.String(), "panic: "):
		_, text, _ := strings.Cut(stderr.String(), "panic: ")
		text, _, _ = strings.Cut(text, "\n")
		return string(out) + "panic: " + text + "\n"
	case err != nil:
		return string(out) + "ends: " + strings.SplitN(stderr.String(), "\n", 2)[0] + "\n"
	}
	return string(out)
}

// programRunner is a child process that runs programs, one after the other. A program that ends the process, or does not end, has
// that as its result.
type programRunner struct {
	engine  string
	cmd     *exec.Cmd
	in      *os.File
	results chan string
}

func (r *programRunner) start() error {
	r.cmd = exec.Command(os.Args[0], "-test.run=^TestProgramRunner$", "-engine="+r.engine)
	r.cmd.Env = append(os.Environ(), runnerVar+"="+r.engine)
	in, toChild, err := os.Pipe()
	if err != nil {
		return err
	}
	fromChild, out, err := os.Pipe()
	if err != nil {
		return err
	}
	r.cmd.ExtraFiles = []*os.File{in, out}
	r.cmd.Stderr = os.Stderr
	if err := r.cmd.Start(); err != nil {
		return err
	}
	in.Close()
	out.Close()
	results := make(chan string)
	r.in, r.results = toChild, results
	go func() {
		defer close(results)
		for d := json.NewDecoder(fromChild); ; {
			var text string
			if d.Decode(&text) != nil {
				return
			}
			results <- text
		}
	}()
	return nil
}

func (r *programRunner) run(file string) string {
	if r.cmd == nil {
		if err := r.start(); err != nil {
			return err.Error()
		}
	}
	fmt.Fprintln(r.in, file)
	select {
	case text, ok := <-r.results:
		if ok {
			return text
		}
		r.stop()
		return "the process ended"
	case <-time.After(2 * folderLimit):
		r.stop()
		return "time-out"
	}
}

func (r *programRunner) stop() {
	if r.cmd != nil {
		r.cmd.Process.Kill()
		r.cmd.Wait()
		r.in.Close()
		r.cmd = nil
	}
}

// TestProgramRunner is the child process of TestProgramFolder.
func TestProgramRunner(t *testing.T) {
	if os.Getenv(runnerVar) == "" {
		t.Skip("runs only as a child process of TestProgramFolder")
	}
	results := json.NewEncoder(os.NewFile(4, "results"))
	for files := bufio.NewScanner(os.NewFile(3, "files")); files.Scan(); {
		source, err := os.ReadFile(files.Text())
		if err != nil {
			t.Fatal(err)
		}
		results.Encode(programResult(t, *engineName, string(source), folderLimit))
	}
}

// programResult runs a program in a new session. It returns what the program prints and the panic that ends it, or that it is refused.
func programResult(t *testing.T, engine, source string, limit time.Duration) string {
	s, err := NewSession(Options{Release: "test", Engine: engine, Memory: 8 << 30, Grace: time.Second, Sources: os.DirFS("..")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	out := &recorder{}
	var r eval.Result
	direct := standardOutput(t, func() { r = s.Eval(ctx, eval.Cell{Code: source + "\nmain();\n", Count: 1}, out) })
	switch {
	case ctx.Err() != nil:
		return "time-out"
	case r.Err == nil:
		return out.printed() + direct
	case r.Err.Name == "Panic":
		return out.printed() + direct + "panic: " + r.Err.Value + "\n"
	case strings.HasPrefix(r.Err.Value, "os.Exit("):
		return out.printed() + direct + "ends: " + r.Err.Value + "\n"
	}
	return "refused: " + r.Err.Name + ": " + r.Err.Value
}
