package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/notebooks/notebook"
)

// TestSlides makes slides of three lessons with nbconvert. The exercises and what follows them are left out.
func TestSlides(t *testing.T) {
	t.Parallel()
	python := jupyter(t, "nbconvert")
	dir := t.TempDir()
	args := []string{"-m", "nbconvert", "--to", "slides", "--output-dir", dir}
	for _, number := range []string{"01", "05", "07"} {
		files, err := filepath.Glob("notebooks/" + number + "-*.ipynb")
		if err != nil || len(files) != 1 {
			t.Fatalf("lesson %s: got files %q, error %v", number, files, err)
		}
		args = append(args, files[0])
	}
	if out, err := python(args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, path := range args[6:] {
		nb, err := notebook.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		slides, skips := 0, false
		for i, c := range nb.Cells {
			slideshow, _ := c.Metadata["slideshow"].(map[string]any)
			kind, _ := slideshow["slide_type"].(string)
			switch title := strings.HasPrefix(c.Source, "#") && c.Type == notebook.Markdown; {
			case kind == "slide" || kind == "subslide":
				slides++
			case kind == "skip":
				skips = true
			case title:
				t.Errorf("%s: cell %d begins a section, but no slide", path, i+1)
			}
		}
		page, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".ipynb")+".slides.html"))
		if err != nil {
			t.Fatal(err)
		}
		// A section holds a slide and those below it; each of these is a section too.
		sections := strings.Count(string(page), "<section>") - strings.Count(string(page), "<section><section>")
		if sections != slides || slides < 10 || !skips {
			t.Errorf("%s: got %d sections for %d slides, cells left out: %v", path, sections, slides, skips)
		}
		for text, want := range map[string]bool{"Predict first": true, "Rule of thumb": true, "Time and memory": false, "Warm-up": false} {
			if strings.Contains(string(page), text) != want {
				t.Errorf("%s: slides with %q: got %v, want %v", path, text, !want, want)
			}
		}
	}
}

// TestJupytext checks that the lessons survive a turn as text, and that a paired text that was changed is run.
func TestJupytext(t *testing.T) {
	t.Parallel()
	python := jupyter(t, "jupytext")
	notebooks, err := filepath.Glob("notebooks/[0-9][0-9]-*.ipynb")
	if err != nil || len(notebooks) == 0 {
		t.Fatalf("%d notebooks, error %v", len(notebooks), err)
	}
	dir := t.TempDir()
	out, err := python(append([]string{"internal/e2e/testdata/jupyter/pairing.py", dir}, notebooks...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	executed := filepath.Join(dir, "executed.ipynb")
	if out, code := halfnote(t, "run", "--allow-errors", "--output", executed, filepath.Join(dir, filepath.Base(notebooks[0]))); code != 0 {
		t.Fatalf("run: exit code %d\n%s", code, out)
	}
	if got := readExecuted(t, executed).printed(); !strings.HasPrefix(got, "changed in the text\n") {
		t.Errorf("got %.200q, want the output of the changed cell first", got)
	}
}

// TestGrading takes an assignment through nbgrader. A right submission gets all points; the others lose those of
// the test cells that they fail.
func TestGrading(t *testing.T) {
	t.Parallel()
	python := jupyter(t, "nbgrader")
	course := t.TempDir()
	if out, code := halfnote(t, "nbgrader", course); code != 0 {
		t.Fatalf("halfnote nbgrader: exit code %d\n%s", code, out)
	}
	out, err := python("-W", "ignore", "internal/e2e/testdata/jupyter/grading.py", course, t.TempDir()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const want = `right again=1 dtypes=1.5 norm=3 note=1 scale=2
wrong again=1 dtypes=0 norm=0 note=1 scale=0
partial again=1 dtypes=1 norm=0 note=1 scale=2
stderr again=1 dtypes=1.5 norm=0 note=0 scale=2
broken again=1 dtypes=1.5 norm=3 note=1 scale=0
empty again=1 dtypes=0 norm=0 note=0 scale=0
`
	if string(out) != want {
		t.Errorf("got points\n%swant\n%s", out, want)
	}
}
