package notebooks_test

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/receipt"
	"halfnote/notebooks"
	"halfnote/notebooks/notebook"
)

// lessonNames returns the files of the lessons by the two digits of their names.
func lessonNames(t *testing.T) map[string]string {
	t.Helper()
	list, err := fs.Glob(notebooks.Files, "*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, name := range list {
		names[name[:2]] = name
	}
	return names
}

// TestReceipts checks that each lesson and each translation carries the receipt of its cells and outputs as they are committed, that its last cell agreed with it, and
// that only cells which show times are left out.
func TestReceipts(t *testing.T) {
	files, err := filepath.Glob("[0-9][0-9]-*.ipynb")
	translated, err2 := filepath.Glob("[a-z][a-z]/[0-9][0-9]-*.ipynb")
	if err != nil || err2 != nil || len(files) < 20 || len(translated) == 0 {
		t.Fatal(len(files), len(translated), err, err2)
	}
	for _, file := range append(files, translated...) {
		t.Run(file, func(t *testing.T) {
			nb := readNotebook(t, file)
			metadata, err := json.Marshal(nb.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			r, err := receipt.Read(metadata)
			if err != nil || r == nil {
				t.Fatalf("got no receipt, %v; go run . run --receipt %s --output %s makes one", err, file, file)
			}
			cells := nb.CodeCells()
			if len(cells) != len(r.Cells) {
				t.Fatalf("the receipt has %d cells, the lesson %d", len(r.Cells), len(cells))
			}
			for i, c := range cells {
				e := r.Cells[i]
				if e.ID != c.ID || e.Source != receipt.Hash(c.Source) {
					t.Errorf("cell %d is not that of the receipt:\n%s", i+1, c.Source)
				}
				if varies := c.HasTag("timing") || receipt.Compares(c.Source); e.State.Timed != varies {
					t.Errorf("cell %d: the receipt leaves its outputs out: %v, want %v", i+1, e.State.Timed, varies)
				}
				if !e.State.Timed && !slices.Equal(e.Outputs, hashesOf(c)) {
					t.Errorf("cell %d: its outputs are not those of the receipt:\n%s", i+1, c.Source)
				}
			}
			if got := printedText(cells[len(cells)-1]); !strings.HasPrefix(got, "Your numbers are the book's: all ") {
				t.Errorf("the last cell shows\n%s", got)
			}
		})
	}
}

// hashesOf returns the hashes of a cell's outputs.
func hashesOf(c *notebook.Cell) (list []string) {
	for _, o := range c.Outputs {
		plain, _ := o.Data["text/plain"].(string)
		covered := receipt.Output{Name: o.Name, Text: o.Text + plain}
		if o.Type == notebook.Error {
			covered = receipt.Output{Name: "error", Text: o.ErrorName + ": " + o.ErrorValue}
		}
		list = append(list, covered.Hash())
	}
	return list
}
