package notebook

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"halfnote/kernel/client"
)

// TestWatch reads the page and the output of a run while a cell runs, and after its end.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, page, out := filepath.Join(dir, "n.ipynb"), filepath.Join(dir, "n.html"), filepath.Join(dir, "out.ipynb")
	if err := code("print one\ndisplay - <picture>", "print two\nspin", "print three").WriteFile(path); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- RunFiles(ctx, []string{path}, RunOptions{HTML: page, Output: out, Watch: true, Start: startEcho})
	}()
	var text string
	for end := time.Now().Add(time.Minute); strings.Count(text, "two\n") < 2 || !strings.Contains(text, "Cell 2 of 3"); time.Sleep(20 * time.Millisecond) {
		if data, err := os.ReadFile(page); err == nil {
			text = string(data)
		}
		if time.Now().After(end) {
			t.Fatalf("the page of the running cell does not come; the last one is\n%s", text)
		}
	}
	for _, want := range []string{`http-equiv="refresh"`, "Cell 2 of 3 has been running for ", "one\n", "&lt;picture&gt;", "In&nbsp;[1]", "In&nbsp;[*]"} {
		if !strings.Contains(text, want) {
			t.Errorf("while the cell runs: the page lacks %q", want)
		}
	}
	nb, err := ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if nb.Cells[0].Count != 1 || nb.Cells[1].Count != 0 || len(nb.Cells[1].Outputs) != 1 || len(nb.Cells[2].Outputs) != 0 {
		t.Errorf("while cell 2 runs: got %+v, %+v and %+v", nb.Cells[0], nb.Cells[1], nb.Cells[2])
	}
	cancel()
	var failure *CellError
	if err := <-ended; !errors.As(err, &failure) || failure.Name != "Interrupted" {
		t.Errorf("got %v, want the error of the interrupted cell", err)
	}
	data, err := os.ReadFile(page)
	if err != nil || strings.Contains(string(data), "refresh") || !strings.Contains(string(data), "two\n") {
		t.Errorf("after the end (%v): the page reloads itself or lacks output", err)
	}
}

// TestResume resumes a run that failed, after its last cell was changed, then runs it again with
// nothing to do, and after the first cell was changed.
func TestResume(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, out := filepath.Join(dir, "n.ipynb"), filepath.Join(dir, "out.ipynb")
	nb := code("print a", "print trained", "error E x", "print d")
	nb.Cells[1].Metadata = map[string]any{"tags": []any{"skip-on-resume"}}
	started := 0
	run := func() (report, outputs string, err error) {
		t.Helper()
		if err := nb.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		started = 0
		err = RunFiles(t.Context(), []string{path}, RunOptions{Output: out, Resume: true, Progress: &b, Start: func(ctx context.Context, o client.Options) (*client.Kernel, error) {
			started++
			return startEcho(ctx, o)
		}})
		ran, readErr := ReadFile(out)
		if readErr != nil {
			t.Fatal(readErr)
		}
		for _, c := range ran.Cells {
			for _, o := range c.Outputs {
				outputs += o.Text + o.ErrorName
			}
		}
		return b.String(), outputs, err
	}
	if report, got, err := run(); err == nil || got != "a\ntrained\nE" || strings.Contains(report, "resuming") {
		t.Fatalf("first run: got %q, %v\n%s", got, err, report)
	}
	ran, err := ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range ran.Cells[:2] {
		c.Outputs[0].Text = "before " + c.Outputs[0].Text
	}
	if err := ran.WriteFile(out); err != nil {
		t.Fatal(err)
	}
	nb.Cells[2].Source = "print c"
	if report, got, err := run(); err != nil || got != "a\nbefore trained\nc\nd\n" || !strings.Contains(report, "resuming: 2 cells ran before") || strings.Contains(report, "print trained") {
		t.Errorf("resumed: got %q, %v\n%s", got, err, report)
	}
	if report, got, err := run(); err != nil || started != 0 || got != "a\nbefore trained\nc\nd\n" || !strings.Contains(report, "all 4 cells ran before; nothing to do") {
		t.Errorf("with nothing to do: got %q, %v, and %d kernels\n%s", got, err, started, report)
	}
	nb.Cells[0].Source = "print changed"
	if report, got, err := run(); err != nil || got != "changed\ntrained\nc\nd\n" || strings.Contains(report, "resuming") {
		t.Errorf("after a change of the first cell: got %q, %v\n%s", got, err, report)
	}
	// A kernel that died left a cell without an error.
	nb.Cells[2].Source = "print half\nexit 3"
	run()
	nb.Cells[3].Source = "print e"
	if report, _, err := run(); err == nil || !strings.Contains(report, "resuming: 2 cells ran before") {
		t.Errorf("after a kernel died: got %v\n%s", err, report)
	}
}

// TestResumeRefuses checks outputs that cannot be resumed.
func TestResumeRefuses(t *testing.T) {
	dir := t.TempDir()
	path, broken := filepath.Join(dir, "n.ipynb"), filepath.Join(dir, "broken.ipynb")
	if err := code("print a").WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(broken, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	for out, want := range map[string]string{"": "no output is given", path: "is also the output", broken: "resume: "} {
		if err := RunFiles(t.Context(), []string{path}, RunOptions{Output: out, Resume: true, Start: startEcho}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", out, err, want)
		}
	}
}
