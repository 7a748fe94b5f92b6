package notebooks_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/notebooks/notebook"
)

// TestTranslations checks the lessons in folders named by their language, such as ko: each has the cells of the
// original with the same ids and tags, prose in another language, the same code but for texts and comments, and the same numbers in
// the output. The cell that asks for the first guess sets the language of the exercises.
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
				code := c.Source
				if strings.Contains(code, "exercise.Predict(") {
					var found bool
					if code, found = strings.CutPrefix(code, fmt.Sprintf("exercise.Language(%q)\n", file[:2])); !found {
						t.Errorf("cell %d: want the first line exercise.Language(%q), not\n%s", i, file[:2], c.Source)
					}
				}
				if fault := sameProgram(code, want.Source); fault != "" {
					t.Errorf("cell %d: %s:\n%s\nwant the code of the original\n%s", i, fault, c.Source, want.Source)
				}
				if got, want := numbersIn(printedText(c)), numbersIn(printedText(want)); !slices.Equal(got, want) && !c.HasTag("timing") {
					t.Errorf("cell %d: the numbers of the output are\n%s\nwant\n%s", i, got, want)
				}
			}
		})
	}
}

// sameProgram compares the tokens of two cells. Comments may differ, and texts but for their verbs and digits. It says what
// differs, or "".
func sameProgram(got, want string) string {
	a, b := tokens(got), tokens(want)
	for i := range max(len(a), len(b)) {
		if i == len(a) || i == len(b) {
			return fmt.Sprintf("%d tokens, want %d", len(a), len(b))
		}
		g, w := a[i], b[i]
		if g.kind == token.STRING && w.kind == token.STRING {
			if g, w := fixedParts(g.text), fixedParts(w.text); !slices.Equal(g, w) {
				return fmt.Sprintf("the verbs and digits of a text are %q, want %q", g, w)
			}
			continue
		}
		if g != w {
			return fmt.Sprintf("got %q, want %q", g.text, w.text)
		}
	}
	return ""
}

type goToken struct {
	kind token.Token
	text string
}

// tokens returns the tokens of a cell without its comments.
func tokens(code string) (list []goToken) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(code))
	s.Init(file, []byte(code), nil, 0)
	for {
		_, kind, text := s.Scan()
		if kind == token.EOF {
			return list
		}
		list = append(list, goToken{kind, text})
	}
}

// fixedParts returns the verbs and the numbers of a text, sorted.
func fixedParts(text string) []string {
	parts := regexp.MustCompile(`%[-+#.\d]*[a-zA-Z%]|[0-9]+(\.[0-9]+)?`).FindAllString(text, -1)
	slices.Sort(parts)
	return parts
}

// numbersIn returns the numbers of a text, sorted, since languages have different orders.
func numbersIn(text string) []string {
	list := digits.FindAllString(text, -1)
	for i, n := range list {
		list[i] = plainNumber(n)
	}
	slices.Sort(list)
	return list
}

// TestSameProgram checks what a translation may change in a cell.
func TestSameProgram(t *testing.T) {
	const original = "x := f(1, \"step %d of 40\") // comment"
	for _, c := range []struct{ code, want string }{
		{original, ""},
		{"x := f(1, \"40 가운데 %d\") // 설명", ""},
		{"x := f(2, \"step %d of 40\")", `got "2", want "1"`},
		{"x := f(1, \"%s 40\")", "the verbs and digits"},
		{"x := f(1, \"%d 41\")", "the verbs and digits"},
		{"x := f(1, \"%d 40\"); y()", `want "\n"`},
		{"x := f(1, \"%d 40\")\ny()", "tokens"},
		{"y := f(1, \"%d 40\")", `got "y", want "x"`},
	} {
		if got := sameProgram(c.code, original); got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.code, got, c.want)
		}
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
