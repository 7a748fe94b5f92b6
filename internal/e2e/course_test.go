package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"halfnote/internal/receipt"
	"halfnote/internal/testenv"
	"halfnote/interp"
	"halfnote/notebooks/notebook"
)

// lessons returns the paths of the course's notebooks, and which of them a test of all of them includes: one in n, or
// the first in a default run, or all if HALFNOTE_REQUIRE lists course.
func lessons(t *testing.T, n int) (all, included []string) {
	t.Helper()
	all, err := filepath.Glob("notebooks/[0-9][0-9]-*.ipynb")
	if err != nil || len(all) == 0 {
		t.Fatal("no lessons", err)
	}
	switch {
	case testenv.Requires("course"):
		n = 1
	case !testenv.Requires("long"):
		n = len(all)
	}
	if n > 1 {
		t.Logf("one lesson in %d; HALFNOTE_REQUIRE=course runs all", n)
	}
	for i := 0; i < len(all); i += n {
		included = append(included, all[i])
	}
	return all, included
}

// TestCourse runs every lesson on the default engine, and some with compiled cells, or all lessons and translations on both
// engines if HALFNOTE_REQUIRE lists course. It checks that the cells stay as they are committed, pictures included: those with
// the tag timing keep their outputs. The receipt of the run is the committed one.
func TestCourse(t *testing.T) {
	for engine, n := range map[string]int{"yaegi": 1, interp.Compiled: 4} {
		if n > 1 && !testenv.Requires(engine) {
			continue
		}
		_, files := lessons(t, n)
		if testenv.Requires("course") {
			translations, err := filepath.Glob("notebooks/*/[0-9][0-9]-*.ipynb")
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, translations...)
		}
		for _, file := range files {
			t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "notebooks/"), ".ipynb")+"/"+engine, func(t *testing.T) {
				t.Parallel()
				sameOutputs(t, file, func(out string) (string, int) {
					return halfnote(t, "run", "--receipt", file, "--engine", engine, "--output", out)
				})
			})
		}
	}
}

// sameOutputs runs a lesson into a copy and checks that its cells stay as they are committed.
func sameOutputs(t *testing.T, file string, run func(out string) (text string, code int)) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.ipynb")
	data, err := os.ReadFile(file)
	if err = errors.Join(err, os.WriteFile(out, data, 0o644)); err != nil {
		t.Fatal(err)
	}
	if text, code := run(out); code != 0 {
		t.Fatalf("got exit code %d\n%s", code, text)
	}
	want, err1 := notebook.ReadFile(file)
	got, err2 := notebook.ReadFile(out)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for i, c := range want.Cells {
		if !reflect.DeepEqual(got.Cells[i], c) && pixels(t, got.Cells[i]) != pixels(t, c) {
			t.Errorf("cell %d:\n%s\ngot:\n%s\nwant:\n%s", i+1, c.Source, cellText(got.Cells[i]), cellText(c))
		}
	}
	if now := receiptOf(t, got); now != nil && !reflect.DeepEqual(now, receiptOf(t, want)) {
		t.Errorf("the run has another receipt than the lesson; halfnote verify %s says why", file)
	}
}

// receiptOf returns the cells of a notebook's receipt; nil if it has none.
func receiptOf(t *testing.T, nb *notebook.Notebook) []receipt.Entry {
	t.Helper()
	metadata, err := json.Marshal(nb.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	r, err := receipt.Read(metadata)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return nil
	}
	return r.Cells
}

// TestVerifyLessons verifies lessons and one that is changed. All are verified by TestCourse, whose runs make receipts.
func TestVerifyLessons(t *testing.T) {
	for _, name := range []string{"00-hello", "03-overflow-lab", "23-the-same-bits"} {
		file := filepath.Join("notebooks", name+".ipynb")
		if out, code := halfnote(t, "verify", file); code != 0 || !strings.Contains(out, "the same bits as in the receipt: ") {
			t.Errorf("%s: got exit code %d\n%s", name, code, out)
		}
	}
	nb, err := notebook.ReadFile("notebooks/23-the-same-bits.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range nb.CodeCells() {
		c.Source = strings.Replace(c.Source, "tensor.ManualSeed(2)", "tensor.ManualSeed(5)", 1)
	}
	changed := filepath.Join(t.TempDir(), "23-the-same-bits.ipynb")
	if err := nb.WriteFile(changed); err != nil {
		t.Fatal(err)
	}
	const want = ": the state of the random numbers differs"
	if out, code := halfnote(t, "verify", changed); code == 0 || !strings.Contains(out, want) || !strings.Contains(out, "layer.weight: ") {
		t.Errorf("changed: got exit code %d\n%s\nwant %q and a weight", code, out, want)
	}
}

// encodedPNG matches a PNG file in base64 inside JSON.
var encodedPNG = regexp.MustCompile(`iVBORw0KGgo(?:[A-Za-z0-9+/=]|\\n)*`)

// innerCalls matches the number of calls that a traceback leaves out. A run with a receipt observes operations, which takes one more.
var innerCalls = regexp.MustCompile(`… [0-9]+ calls inside`)

// pixels returns a cell as JSON in which a digest of its pixels stands for each PNG file: how Go compresses
// them depends on its release.
func pixels(t *testing.T, c *notebook.Cell) string {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	text = innerCalls.ReplaceAll(text, []byte("… calls inside"))
	return encodedPNG.ReplaceAllStringFunc(string(text), func(s string) string {
		file, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(s, `\n`, ""))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		all := image.NewNRGBA(img.Bounds())
		draw.Draw(all, all.Bounds(), img, all.Bounds().Min, draw.Src)
		return fmt.Sprintf("PNG %v %x", all.Rect, sha256.Sum256(all.Pix))
	})
}

// TestLabCourse runs lessons cell by cell in JupyterLab and compares the text of their outputs with the committed
// copies, except in cells with the tag timing and questions, whose answers only front ends show. Every chart must be drawn, and no output may be wider than the page.
func TestLabCourse(t *testing.T) {
	all, included := lessons(t, 10)
	files := map[string][]byte{}
	for _, path := range all {
		var err error
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HALFNOTE_PROGRESS", "")
	browse := labWith(t, files)
	for _, path := range included {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".ipynb"), func(t *testing.T) {
			t.Setenv("LESSON", filepath.Base(path))
			var got struct {
				Cells  [][]map[string]any
				Charts int
				Wide   []string
				Errors int
			}
			if err := json.Unmarshal([]byte(browse("course.py")), &got); err != nil {
				t.Fatal(err)
			}
			if len(got.Wide) > 0 || got.Errors > 0 {
				t.Errorf("%d errors of JupyterLab; outputs wider than the page: %q", got.Errors, got.Wide)
			}
			want, err := notebook.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d cells, %d interactive charts", len(got.Cells), got.Charts)
			for k, c := range want.Cells {
				if c.Type != notebook.Code || c.HasTag("timing") || strings.HasSuffix(c.Source, "?") {
					continue
				}
				if got, want := jupyterText(got.Cells[k]), cellText(c); got != want {
					t.Errorf("cell %d:\n%s\ngot:\n%s\nwant:\n%s", k+1, c.Source, got, want)
				}
			}
		})
	}
}

// jupyterText returns the text of outputs in the form of nbformat, without what was written to standard error.
func jupyterText(outputs []map[string]any) string {
	var b strings.Builder
	for _, o := range outputs {
		switch {
		case o["name"] == "stderr":
		case o["output_type"] == "error":
			fmt.Fprintf(&b, "%s: %s\n", o["ename"], o["evalue"])
		case o["output_type"] == "stream":
			b.WriteString(joined(o["text"]))
		default:
			data, _ := o["data"].(map[string]any)
			fmt.Fprintln(&b, joined(data["text/plain"]))
		}
	}
	return b.String()
}

// joined returns a text that may be a list of lines.
func joined(text any) string {
	lines, ok := text.([]any)
	if !ok {
		return fmt.Sprint(text)
	}
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprint(&b, l)
	}
	return b.String()
}

// TestExportCourse exports every lesson as a program. Its output must contain the lines of the lesson's cells in
// order, except those of magics, questions, failing cells, and cells with the tag timing.
func TestExportCourse(t *testing.T) {
	if !testenv.Requires("course") {
		testenv.Long(t) // each takes seconds to build; package interp exports cells in a default run
	}
	_, files := lessons(t, 7)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ipynb"), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			source, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "main.exe")
			if out, code := halfnote(t, "export", file, source); code != 0 || !strings.Contains(out, "require halfnote") {
				t.Fatalf("got exit code %d\n%s\nwant the lines that go.mod needs", code, out)
			}
			if out, err := exec.Command("go", "build", "-o", exe, source).CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			out, err := exec.CommandContext(t.Context(), exe).Output()
			if err != nil {
				t.Fatal(err)
			}
			got := withoutCells(string(out))
			for _, line := range withoutCells(exportedText(t, file)) {
				i := 0
				for i < len(got) && got[i] != line {
					i++
				}
				if i == len(got) {
					t.Fatalf("the program's output lacks the line %q; after the lines of the cells before, it has\n%s", line, strings.Join(got, "\n"))
				}
				got = got[i+1:]
			}
		})
	}
}

// exportedText returns the text that the exported program of a notebook prints.
func exportedText(t *testing.T, file string) string {
	nb, err := notebook.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range nb.Cells {
		magic := strings.HasPrefix(c.Source, "%") && !strings.HasPrefix(c.Source, "%%time")
		if c.Type != notebook.Code || magic || strings.HasSuffix(c.Source, "?") || c.HasTag("timing") || failed(c) {
			continue
		}
		b.WriteString(cellText(c))
	}
	return b.String()
}

func failed(c *notebook.Cell) bool {
	for _, o := range c.Outputs {
		if o.Type == notebook.Error {
			return true
		}
	}
	return false
}

// withoutCells returns the lines of text without the cells' numbers and lines in locations, which a program does
// not print, and with single spaces.
func withoutCells(text string) []string {
	text = cellLine.ReplaceAllString(strings.TrimRight(text, "\n"), "")
	return strings.Split(blanks.ReplaceAllString(strings.ReplaceAll(text, " ()", ""), " "), "\n")
}

var (
	cellLine = regexp.MustCompile(`In\[\d+\], line \d+(, )?`)
	blanks   = regexp.MustCompile(` +`)
)

// cellText returns the text of a cell's outputs, without what it wrote to standard error.
func cellText(c *notebook.Cell) string {
	var b strings.Builder
	for _, o := range c.Outputs {
		switch {
		case o.Name == "stderr":
		case o.Type == notebook.Error:
			fmt.Fprintf(&b, "%s: %s\n", o.ErrorName, o.ErrorValue)
		case o.Type == notebook.Stream:
			b.WriteString(o.Text)
		default:
			fmt.Fprintln(&b, o.Data["text/plain"])
		}
	}
	return b.String()
}
