package notebook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
	"halfnote/kernel/jupyter"
	"halfnote/kernel/kerneltest"
)

// kernelVariable makes the test binary run as a kernel of the echo language.
const kernelVariable = "NOTEBOOKS_TEST_IS_KERNEL"

func TestMain(m *testing.M) {
	if os.Getenv(kernelVariable) != "" {
		err := jupyter.Serve(context.Background(), jupyter.Config{ConnectionFile: os.Args[1], Log: os.Stderr, Process: true}, &kerneltest.Echo{})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(goVariable) != "" {
		if err := serveGo(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func startEcho(ctx context.Context, o client.Options) (*client.Kernel, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return client.Start(ctx, client.Spec{Argv: []string{self, "{connection_file}"}, Env: map[string]string{kernelVariable: "1"}, InterruptMode: "message"}, o)
}

func code(sources ...string) *Notebook {
	nb := &Notebook{}
	for _, s := range sources {
		nb.Cells = append(nb.Cells, &Cell{Type: Code, Source: s})
	}
	nb.giveIDs()
	return nb
}

// runEcho runs a notebook on the echo kernel. It calls during in another goroutine once the
// kernel is running.
func runEcho(t *testing.T, ctx context.Context, nb *Notebook, o Options, during func(*Runner, *client.Kernel)) error {
	t.Helper()
	r := NewRunner(nb, o)
	k, err := startEcho(ctx, client.Options{Late: r.Late})
	if err != nil {
		t.Fatal(err)
	}
	if during != nil {
		go during(r, k)
	}
	err = r.Run(ctx, k)
	k.Close()
	r.Finish()
	return err
}

// awaitOutput waits until a running cell has an output.
func (r *Runner) awaitOutput(c *Cell) {
	for ; ; time.Sleep(time.Millisecond) {
		r.out.mu.Lock()
		n := len(c.Outputs)
		r.out.mu.Unlock()
		if n > 0 {
			return
		}
	}
}

func TestRun(t *testing.T) {
	nb := code("print a\nprinterr b\nresult 1", "  \n", "display i old", "update i new\ncount", "error Fail tagged", "print never", "error Fail at last", "print unreached")
	nb.Cells[1].Outputs = []*Output{{Type: Stream, Name: "stdout", Text: "kept"}}
	nb.Cells[4].Metadata = map[string]any{"tags": []any{"raises-exception"}}
	nb.Cells[5].Metadata = map[string]any{"tags": []any{"skip-execution"}}
	nb.Cells = append([]*Cell{{Type: Markdown, Source: "# text"}}, nb.Cells...)
	var steps []string
	err := runEcho(t, t.Context(), nb, Options{Progress: func(p Progress) {
		steps = append(steps, fmt.Sprintf("%d/%d %v %v", p.Number, p.Total, p.Done, p.Failed))
	}}, nil)
	var failure *CellError
	if !errors.As(err, &failure) {
		t.Fatalf("got error %v, want a CellError", err)
	}
	if failure.Index != 7 || failure.Count != 5 || failure.Name != "Fail" || failure.Value != "at last" || len(failure.Traceback) != 1 {
		t.Errorf("got %+v, want the last cell but one, In [5]", failure)
	}
	for i, want := range []string{"", `stdout "a\n" | stderr "b\n" | Out[1] 1`, `stdout "kept"`, "display new", "Out[3] 3", "Fail: tagged", "", "Fail: at last", ""} {
		if got := summary(nb.Cells[i].Outputs); got != want {
			t.Errorf("cell %d: got %s, want %s", i+1, got, want)
		}
	}
	if got := nb.Cells[5].Count; got != 4 {
		t.Errorf("count of cell 6: got %d, want 4", got)
	}
	if got, want := strings.Join(steps, ", "), "1/6 false false, 1/6 true false, 2/6 false false, 2/6 true false, 3/6 false false, 3/6 true false, 4/6 false false, 4/6 true true, 5/6 false false, 5/6 true true"; got != want {
		t.Errorf("got progress %s, want %s", got, want)
	}
	if got := nb.Language(); got != "echo" {
		t.Errorf("got language %q, want that of the kernel", got)
	}
	if got := nb.Metadata["kernelspec"].(map[string]any)["display_name"]; got != "Echo (echo)" {
		t.Errorf("got kernelspec %v, want one made from the kernel's description", got)
	}
}

func TestRunKeepsKernelspec(t *testing.T) {
	nb := code("count")
	nb.Metadata = map[string]any{"kernelspec": map[string]any{"name": "other"}}
	if err := runEcho(t, t.Context(), nb, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	if got := nb.Metadata["kernelspec"].(map[string]any)["name"]; got != "other" {
		t.Errorf("got kernelspec %v, want it unchanged", got)
	}
}

func TestAllowErrors(t *testing.T) {
	nb := code("error Fail one", "print on")
	if err := runEcho(t, t.Context(), nb, Options{AllowErrors: true}, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := summary(nb.Cells[0].Outputs)+" | "+summary(nb.Cells[1].Outputs), `Fail: one | stdout "on\n"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLateOutput(t *testing.T) {
	nb := code("print one\nlate late", "print two\nsleep 300ms\nprint three")
	if err := runEcho(t, t.Context(), nb, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := summary(nb.Cells[0].Outputs)+" | "+summary(nb.Cells[1].Outputs), `stdout "one\nlate\n" | stdout "two\nthree\n"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	nb := code("print first", "print before\nspin", "print after")
	err := runEcho(t, t.Context(), nb, Options{Timeout: 2 * time.Second, AllowErrors: true}, nil)
	var failure *CellError
	if !errors.As(err, &failure) || failure.Name != "Timeout" || failure.Index != 1 || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got error %v, want a Timeout of cell 2", err)
	}
	if got, want := failure.Error(), "notebook: cell 2 (In [2]): Timeout: it ran longer than 2s and was interrupted"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := summary(nb.Cells[1].Outputs), `stdout "before\n" | Interrupted: the cell was interrupted`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := summary(nb.Cells[2].Outputs); got != "" {
		t.Errorf("next cell: got outputs %s, want none", got)
	}
}

func TestCancelRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	nb := code("print before\nspin", "print after")
	err := runEcho(t, ctx, nb, Options{}, func(r *Runner, k *client.Kernel) {
		r.awaitOutput(nb.Cells[0])
		cancel()
	})
	var failure *CellError
	if !errors.As(err, &failure) || failure.Name != "Interrupted" || !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v, want an Interrupted cell", err)
	}
	if got, want := summary(nb.Cells[0].Outputs), `stdout "before\n" | Interrupted: the cell was interrupted`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRunOnADyingKernel(t *testing.T) {
	t.Parallel()
	nb := code("print first", "print before\nspin")
	err := runEcho(t, t.Context(), nb, Options{}, func(r *Runner, k *client.Kernel) {
		r.awaitOutput(nb.Cells[1])
		if p, err := os.FindProcess(k.Pid()); err == nil {
			p.Kill()
		}
	})
	var failure *CellError
	var exit *client.ExitError
	if !errors.As(err, &failure) || failure.Name != "KernelDied" || failure.Index != 1 || !errors.As(err, &exit) {
		t.Fatalf("got error %v, want KernelDied in cell 2", err)
	}
	if got, want := summary(nb.Cells[1].Outputs), `stdout "before\n"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// writeNotebook writes a notebook of code cells and returns its path.
func writeNotebook(t *testing.T, dir, name string, nb *Notebook) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := nb.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunFiles(t *testing.T) {
	dir := t.TempDir()
	nb := code("print <hello>", "result 2")
	nb.Cells = append([]*Cell{{ID: "t", Type: Markdown, Source: "# The title"}}, nb.Cells...)
	in := writeNotebook(t, dir, "in.ipynb", nb)
	before, _ := os.ReadFile(in)
	out, page := filepath.Join(dir, "out.ipynb"), filepath.Join(dir, "out.html")
	var progress bytes.Buffer
	if err := RunFiles(t.Context(), []string{in}, RunOptions{Output: out, HTML: page, Progress: &progress, Start: startEcho}); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(in); !bytes.Equal(before, after) {
		t.Error("the input notebook has changed")
	}
	ran := read(t, out)
	if got, want := summary(ran.Cells[1].Outputs)+" | "+summary(ran.Cells[2].Outputs), `stdout "<hello>\n" | Out[2] 2`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	html, _ := os.ReadFile(page)
	for _, want := range []string{"<title>The title</title>", "&lt;hello&gt;"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, want := range []string{in, "[1/2] print <hello>  ", "[2/2] result 2", "2 cells in "} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("progress lacks %q:\n%s", want, &progress)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) > 0 {
		t.Errorf("temporary files: got %q, want none", left)
	}
}

func TestRunFilesFailure(t *testing.T) {
	dir, outDir := t.TempDir(), filepath.Join(t.TempDir(), "new")
	bad := writeNotebook(t, dir, "bad.ipynb", code("print one", "error Fail no\nprint two", "print three"))
	good := writeNotebook(t, dir, "good.ipynb", code("print good"))
	var progress bytes.Buffer
	err := RunFiles(t.Context(), []string{bad, good}, RunOptions{OutputDir: outDir, Progress: &progress, Start: startEcho})
	if err == nil {
		t.Fatal("a cell failed: got no error")
	}
	for _, want := range []string{bad + ": notebook: cell 2 (In [2]): Fail: no", "1 of 2 notebooks failed"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q: %v", want, err)
		}
	}
	for _, want := range []string{"cell 2, In [2], failed:\n    error Fail no\n    print two\n\nFail: no\n", "1 cell in "} {
		if !strings.Contains(progress.String(), want) {
			t.Errorf("progress lacks %q:\n%s", want, &progress)
		}
	}
	if got, want := summary(read(t, filepath.Join(outDir, "bad.ipynb")).Cells[1].Outputs), "Fail: no"; got != want {
		t.Errorf("output of the cell that failed: got %s, want %s", got, want)
	}
	if got, want := summary(read(t, filepath.Join(outDir, "good.ipynb")).Cells[0].Outputs), `stdout "good\n"`; got != want {
		t.Errorf("next notebook: got %s, want %s", got, want)
	}
}

func TestRunFilesRefuses(t *testing.T) {
	dir := t.TempDir()
	a := writeNotebook(t, dir, "a.ipynb", code("count"))
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	b := writeNotebook(t, filepath.Join(dir, "sub"), "a.ipynb", code("count"))
	for _, test := range []struct {
		name  string
		paths []string
		o     RunOptions
		want  string
	}{
		{"one output for two", []string{a, b}, RunOptions{Output: filepath.Join(dir, "x")}, "one output file for 2 notebooks"},
		{"one page for two", []string{a, b}, RunOptions{HTML: filepath.Join(dir, "x")}, "one HTML file for 2 notebooks"},
		{"same names", []string{a, b}, RunOptions{OutputDir: dir}, "would both be written to"},
		{"both", []string{a}, RunOptions{OutputDir: dir, Output: "x"}, "want one of them"},
		{"no folder", []string{a}, RunOptions{Output: filepath.Join(dir, "none", "x")}, "does not exist"},
		{"no notebook", []string{filepath.Join(dir, "none.ipynb")}, RunOptions{}, "none.ipynb"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.Start = func(context.Context, client.Options) (*client.Kernel, error) {
				t.Error("a kernel was started")
				return nil, errors.New("no kernel")
			}
			if err := RunFiles(t.Context(), test.paths, test.o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}
