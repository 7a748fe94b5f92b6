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
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"halfnote/kernel/eval"
)

const (
	folderVar    = "HALFNOTE_PROGRAMS"    // a folder of programs to run
	runnerVar    = "HALFNOTE_TEST_RUNNER" // the engine of a child process
	folderLimit  = 30 * time.Second       // time for one program
	programBatch = 40                     // programs that are compiled as one
)

// TestProgramFolder runs each Go file below the folder HALFNOTE_PROGRAMS as a program of one file, on both engines and as compiled Go. It reports
// what differs and what is refused. Programs may come from a generator for tests of compilers, or from a collection of examples. Addresses count as
// equal. Programs that do not compile, do not end, or do not print the same each time are left out. Where the language leaves the order of
// operands open, a program may stop at another panic of the same statement: such results are counted separately if everything else is the same.
func TestProgramFolder(t *testing.T) {
	root := os.Getenv(folderVar)
	if root == "" {
		t.Skip(folderVar + " names no folder")
	}
	if err := CompiledCells(); err != nil {
		t.Fatal(err)
	}
	var files []string
	err := filepath.WalkDir(root, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		source, err := os.ReadFile(file)
		if err == nil && bytes.Contains(source, []byte("\nfunc main()")) {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	counts, refused, differing := map[string]int{}, map[string]string{}, map[string]string{}
	runners := map[string]*programRunner{}
	for _, engine := range Engines {
		runners[engine] = &programRunner{engine: engine}
		defer runners[engine].stop()
	}
	for batch := range slices.Chunk(files, programBatch) {
		want := compiledPrograms(t, batch, "")
		results := map[string]string{}
		var again []string // the files whose results differ
		for _, file := range batch {
			if left := leftOut[want[file]]; left {
				counts[want[file]]++
				continue
			}
			printed := make([]string, len(Engines))
			var both sync.WaitGroup
			for i, engine := range Engines {
				both.Go(func() { printed[i] = runners[engine].run(file) })
			}
			both.Wait()
			for i, engine := range Engines {
				id, got := file+" "+engine, addresses.ReplaceAllString(printed[i], "0x…")
				reason, isRefused := strings.CutPrefix(got, "refused: ")
				before, deadlock := strings.CutSuffix(want[file], deadlockEnd)
				switch {
				case deadlock && strings.HasPrefix(got, before):
					counts[engine+": equal up to a deadlock"]++
				case got == want[file]:
					counts[engine+": equal"]++
				case isRefused:
					counts[engine+": refused"]++
					refused[id] = reason
				default:
					results[id] = got
					again = append(again, file)
				}
			}
		}
		slow := compiledPrograms(t, slices.Compact(again), "-l")
		for id, got := range results {
			file, engine, _ := strings.Cut(id, " ")
			switch {
			case got == slow[file]:
				counts[engine+": equal, as functions that are not inlined"]++
			case panicTexts.ReplaceAllString(got, "") == panicTexts.ReplaceAllString(want[file], ""):
				counts[engine+": another panic, everything else equal"]++
				t.Logf("%s: another panic: %s", id, firstDifference(got, want[file]))
			default:
				counts[engine+": differs"]++
				differing[id] = firstDifference(got, want[file])
				t.Logf("%s: differs: %s", id, differing[id])
			}
		}
		t.Log("so far", counts)
	}
	t.Logf("%d programs", len(files))
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%5d %s", counts[what], what)
	}
	t.Logf("refusals by class:\n%s", classes(refused))
	for _, id := range slices.Sorted(maps.Keys(differing)) {
		t.Errorf("%s: %s", id, differing[id])
	}
}

// deadlockEnd ends the result of a program that stops in a deadlock. A cell that stops there runs its deferred calls.
const deadlockEnd = "ends: fatal error: all goroutines are asleep - deadlock!\n"

// Results of programs that are not compared.
const (
	notGo     = "does not compile"
	notSame   = "does not print the same each time"
	notEnding = "does not end"
)

var leftOut = map[string]bool{notGo: true, notSame: true, notEnding: true}

var (
	addresses  = regexp.MustCompile(`0x[0-9a-fx]+`) // with those that follow without a space
	panicTexts = regexp.MustCompile(`runtime error: (index out of range \[-?\d+\]( with length \d+)?|slice bounds out of range \[[-\d:]*\]( with (length|capacity) \d+)?|integer divide by zero|` +
		`negative shift amount|invalid memory address or nil pointer dereference|makeslice: (len|cap) out of range|cannot convert slice with length \d+ to array or pointer to array with length \d+)|` +
		`assignment to entry in nil map|makechan: size out of range`)
	failedPackage = regexp.MustCompile(`(?m)^# programs/(p\d+)$`)
)

// compiledPrograms builds one Go program of several, with flags for their compilation, and returns what each of them prints, with the panic that ends it.
func compiledPrograms(t *testing.T, files []string, flags string) map[string]string {
	if len(files) == 0 {
		return nil
	}
	dir, results, programs := t.TempDir(), map[string]string{}, map[string]string{}
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module programs\n\ngo 1.26\n")
	for i, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprint("p", i)
		programs[id] = file
		write(id+"/main.go", packageClause.ReplaceAllString(string(source), "package main__"))
		write(id+"/run.go", "package main__\n\nfunc Run__() { main() }\n")
	}
	exe := filepath.Join(dir, "programs")
	for {
		var imports, calls strings.Builder
		for id := range programs {
			fmt.Fprintf(&imports, "import %s \"programs/%s\"\n", id, id)
			fmt.Fprintf(&calls, "\tcase %q:\n\t\t%s.Run__()\n", id, id)
		}
		write("main.go", "package main\n\nimport \"os\"\n"+imports.String()+"\nfunc main() {\n\tswitch os.Args[1] {\n"+calls.String()+"\t}\n}\n")
		build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=programs/...="+flags, "-o", exe)
		build.Dir = dir
		out, err := build.CombinedOutput()
		failed := failedPackage.FindAllSubmatch(out, -1)
		if err == nil {
			break
		} else if len(failed) == 0 {
			t.Fatalf("%v\n%.3000s", err, out)
		}
		for _, m := range failed {
			results[programs[string(m[1])]] = notGo
			delete(programs, string(m[1]))
		}
	}
	for id, file := range programs {
		results[file] = endOf(t, exe, id)
		if !leftOut[results[file]] && endOf(t, exe, id) != results[file] {
			results[file] = notSame
		}
	}
	return results
}

// packageClause finds the package clause of a program.
var packageClause = regexp.MustCompile(`(?m)^package main\b`)

// endOf returns what a program prints, and the panic that ends it.
func endOf(t *testing.T, exe, arg string) string {
	ctx, cancel := context.WithTimeout(t.Context(), folderLimit/10)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, exe, arg)
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	b, err := cmd.Output()
	text := func(s string) string {
		return addresses.ReplaceAllString(strings.ReplaceAll(s, "main__.", "main."), "0x…")
	}
	out := string(b)
	switch {
	case ctx.Err() != nil:
		return notEnding
	case err != nil && strings.Contains(stderr.String(), "panic: "):
		_, message, _ := strings.Cut(stderr.String(), "panic: ")
		message, _, _ = strings.Cut(message, "\n")
		out += "panic: " + message + "\n"
	case err != nil:
		out += "ends: " + strings.SplitN(stderr.String(), "\n", 2)[0] + "\n"
	}
	return text(out)
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
			var text []byte // strings of JSON hold only valid UTF-8
			if d.Decode(&text) != nil {
				return
			}
			results <- string(text)
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
		results.Encode([]byte(programResult(t, *engineName, string(source), folderLimit)))
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
	case r.Err.Name == "Deadlock":
		return out.printed() + direct + "ends: " + r.Err.Value + "\n"
	case strings.HasPrefix(r.Err.Value, "os.Exit("):
		return out.printed() + direct + "ends: " + r.Err.Value + "\n"
	}
	return "refused: " + r.Err.Name + ": " + r.Err.Value
}
