package notebook

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

func read(t *testing.T, path string) *Notebook {
	t.Helper()
	nb, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func written(t *testing.T, nb *Notebook) string {
	t.Helper()
	var b bytes.Buffer
	if err := nb.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRoundTrip reads and writes testdata/kitchen-sink.ipynb, which testdata/make.py wrote
// with Python's nbformat. The bytes must not change.
func TestRoundTrip(t *testing.T) {
	path := "testdata/kitchen-sink.ipynb"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, read(t, path)); got != string(want) {
		t.Errorf("read and written:\n%s\nwant\n%s", got, want)
	}
}

func TestUnknownFieldsAreKept(t *testing.T) {
	in := `{"nbformat":4,"nbformat_minor":5,"metadata":{},"top":[1.50,{"b":1,"a":2}],"cells":[
		{"id":"a","cell_type":"code","metadata":{},"source":"","execution_count":3,"new":"<x>","outputs":[
			{"output_type":"hologram","beam":1},{"output_type":"stream","name":"stdout","text":"","odd":null}]}]}`
	nb, err := Read(strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	got := written(t, nb)
	for _, want := range []string{`"top": [`, `1.50`, `"new": "<x>"`, `"beam": 1`, `"output_type": "hologram"`, `"odd": null`} {
		if !strings.Contains(got, want) {
			t.Errorf("lost %s in\n%s", want, got)
		}
	}
}

func TestReadOldFormat(t *testing.T) {
	nb := read(t, "testdata/old.ipynb")
	if len(nb.Metadata) != 0 {
		t.Errorf("got metadata %v, want it without the fields that are never stored", nb.Metadata)
	}
	if got := nb.Title(); got != "One string" {
		t.Errorf("got title %q, want %q", got, "One string")
	}
	if got := nb.Cells[1].Source; got != "a\nb" {
		t.Errorf("got source %q, want the lines joined", got)
	}
	var ids []string
	for _, c := range nb.Cells {
		ids = append(ids, c.ID)
		if !validID.MatchString(c.ID) {
			t.Errorf("got the invalid id %q", c.ID)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 3 {
		t.Errorf("got ids %q, want three", ids)
	}
	if again := read(t, "testdata/old.ipynb"); !reflect.DeepEqual(nb, again) {
		t.Error("reading the same file twice gave different notebooks")
	}
	if !strings.Contains(written(t, nb), `"nbformat_minor": 5`) {
		t.Error("the written notebook is not of format 4.5")
	}
}

func TestDuplicateIDs(t *testing.T) {
	nb, err := Read(strings.NewReader(`{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[
		{"id":"a","cell_type":"raw","metadata":{},"source":""},{"id":"a","cell_type":"raw","metadata":{},"source":""},
		{"id":"not valid","cell_type":"raw","metadata":{},"source":""}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if nb.Cells[0].ID != "a" || nb.Cells[1].ID == "a" || !validID.MatchString(nb.Cells[2].ID) {
		t.Errorf("got ids %q, %q and %q, want the first unchanged and the others new", nb.Cells[0].ID, nb.Cells[1].ID, nb.Cells[2].ID)
	}
}

func TestReadErrors(t *testing.T) {
	cell := func(s string) string { return `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[` + s + `]}` }
	for _, test := range []struct{ name, in, want string }{
		{"empty", " \n", "the file is empty"},
		{"not JSON", "package main", "not JSON"},
		{"cut off", `{"nbformat":4`, "not JSON"},
		{"two values", cell("") + "{}", "text after the notebook"},
		{"not UTF-8", "{\"a\":\"\xff\"}", "not UTF-8"},
		{"a list", "[]", "got a list, want an object"},
		{"other JSON", `{"cells":[]}`, "no field nbformat"},
		{"version 3", `{"nbformat":3,"nbformat_minor":0,"worksheets":[]}`, "nbformat 3.0, want 4.0 to 4.5: convert it with `jupyter nbconvert"},
		{"version 4.6", `{"nbformat":4,"nbformat_minor":6,"cells":[]}`, "nbformat 4.6 is newer than 4.5"},
		{"version text", `{"nbformat":"4","cells":[]}`, "nbformat: got a string, want a whole number"},
		{"cells", `{"nbformat":4,"nbformat_minor":5,"cells":{}}`, "cells: got an object, want a list"},
		{"cell", cell(`7`), "cell 1: got the number 7, want an object"},
		{"cell type", cell(`{"cell_type":"heading"}`), `cell 1: cell_type "heading", want code, markdown or raw`},
		{"source", cell(`{"cell_type":"raw","source":["a",1]}`), "cell 1: source: got a list, want only strings"},
		{"count", cell(`{"cell_type":"code","execution_count":1.5}`), "execution_count: got the number 1.5, want a whole number"},
		{"output", cell(`{"cell_type":"code","outputs":[{}]}`), "cell 1: output 1: no output_type"},
		{"data", cell(`{"cell_type":"code","outputs":[{"output_type":"display_data","data":"x"}]}`), "output 1: data: got a string, want an object"},
		{"attachment", cell(`{"cell_type":"raw","attachments":{"a":1}}`), "cell 1: a: got the number 1, want an object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Read(strings.NewReader(test.in))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestSplitLines(t *testing.T) {
	// The expected results are those of str.splitlines(keepends=True) in Python 3.11.
	for _, test := range []struct {
		in   string
		want []string
	}{
		{"", []string{}},
		{"a", []string{"a"}},
		{"a\nb\n", []string{"a\n", "b\n"}},
		{"a\r\nb\rc", []string{"a\r\n", "b\r", "c"}},
		{"\r\r\n\n", []string{"\r", "\r\n", "\n"}},
		{"a\r", []string{"a\r"}},
		{"a\r\vb", []string{"a\r", "\v", "b"}},
		{"a\u2028b\u0085é", []string{"a\u2028", "b\u0085", "é"}},
	} {
		if got := splitLines(test.in); !slices.Equal(got, test.want) {
			t.Errorf("splitLines(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.ipynb")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		nb, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		first := written(t, nb)
		again, err := Read(strings.NewReader(first))
		if err != nil {
			t.Fatalf("reading the written notebook: %v\n%s", err, first)
		}
		if second := written(t, again); second != first {
			t.Errorf("written, read and written again: got\n%s\nwant\n%s", second, first)
		}
		if err := HTML(&bytes.Buffer{}, nb); err != nil {
			t.Error(err)
		}
	})
}

func TestPythonValidates(t *testing.T) {
	python := needPython(t, "nbformat")
	for _, path := range []string{"testdata/kitchen-sink.ipynb", "testdata/old.ipynb"} {
		out := filepath.Join(t.TempDir(), "out.ipynb")
		if err := read(t, path).WriteFile(out); err != nil {
			t.Fatal(err)
		}
		validate(t, python, out)
	}
}

// validate checks a file with Python's nbformat, which must also write the same bytes.
func validate(t *testing.T, python, path string) {
	t.Helper()
	const script = `
import sys, warnings, nbformat
warnings.simplefilter("error")
nb = nbformat.read(sys.argv[1], as_version=nbformat.NO_CONVERT)
nbformat.validate(nb)
assert open(sys.argv[1], encoding="utf-8", newline="").read() == nbformat.writes(nb) + "\n", "nbformat writes other bytes"
`
	if out, err := exec.Command(python, "-c", script, path).CombinedOutput(); err != nil {
		t.Errorf("nbformat on %s: %v\n%s", path, err, out)
	}
}

// needPython returns the path of a Python that has the modules, or skips the test.
func needPython(t *testing.T, modules ...string) string {
	t.Helper()
	var why string
	for _, python := range []string{os.Getenv("PYTHON"), "python3", "python"} {
		if python == "" {
			continue
		}
		out, err := exec.Command(python, "-c", "import "+strings.Join(modules, ", ")).CombinedOutput()
		if err == nil {
			return python
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		why = python + ": " + err.Error() + ": " + lines[len(lines)-1]
	}
	testenv.Missing(t, "jupyter", "needs a Python with "+strings.Join(modules, " and ")+" ("+why+")")
	return ""
}
