package notebooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/notebooks/notebook"
)

// TestTranslations checks the lessons in folders named by their language, such as ko: each has the cells of the
// original with the same code, ids and tags, prose in another language, and the same output.
func TestTranslations(t *testing.T) {
	files, err := filepath.Glob("[a-z][a-z]/[0-9][0-9]-*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d translations, error %v", len(files), err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			translation, original := readNotebook(t, file), readNotebook(t, filepath.Base(file))
			if len(translation.Cells) != len(original.Cells) {
				t.Fatalf("got %d cells, want the %d of the original", len(translation.Cells), len(original.Cells))
			}
			for i, c := range translation.Cells {
				want := original.Cells[i]
				if got, want := identity(c), identity(want); got != want {
					t.Fatalf("cell %d: got %s, want %s", i, got, want)
				}
				if c.Type == notebook.Markdown {
					compareProse(t, i, c.Source, want.Source)
					continue
				}
				if c.Source != want.Source {
					t.Errorf("cell %d: got\n%s\nwant the code of the original\n%s", i, c.Source, want.Source)
				}
				if got, want := printedText(c), printedText(want); got != want && !c.HasTag("timing") {
					t.Errorf("cell %d: got the output\n%s\nwant\n%s", i, got, want)
				}
			}
		})
	}
}

// compareProse checks that a cell is translated and has the headings, code blocks and table rows of the original.
func compareProse(t *testing.T, i int, got, want string) {
	t.Helper()
	if got == want {
		t.Errorf("cell %d is not translated:\n%s", i, got)
	}
	for _, mark := range []string{"\n# ", "\n## ", "\n```", "\n| ", "\n> "} {
		if n, w := strings.Count("\n"+got, mark), strings.Count("\n"+want, mark); n != w {
			t.Errorf("cell %d: %d lines begin with %q; the original has %d", i, n, mark[1:], w)
		}
	}
}

// identity returns what a cell has in common with its translation besides code.
func identity(c *notebook.Cell) string {
	return fmt.Sprintf("%s %s, tags %v", c.Type, c.ID, c.Metadata["tags"])
}

func readNotebook(t *testing.T, file string) *notebook.Notebook {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	nb, err := notebook.Read(f)
	if err != nil {
		t.Fatal(file, err)
	}
	return nb
}

// printedText returns the text of a cell's output.
func printedText(c *notebook.Cell) (text string) {
	for _, o := range c.Outputs {
		text += o.Text
		if plain, ok := o.Data["text/plain"].(string); ok {
			text += plain
		}
	}
	return text
}
