package interp

import (
	"strings"
	"testing"
)

// TestTasks checks that everything that the page of %help says to type works.
func TestTasks(t *testing.T) {
	s := newSession(t)
	for i, task := range tasks {
		for _, try := range task.try {
			name, asks := strings.CutSuffix(try, "?")
			if magic, _, _ := strings.Cut(try, " "); strings.HasPrefix(try, "%") {
				if findMagic(magic) == nil {
					t.Errorf("%s: %s: got an unknown magic", task.what, try)
				}
			} else if !asks {
				if out := evalFor(t, s, i+1, try, ""); !strings.HasPrefix(out, "= ") {
					t.Errorf("%s: %s: got %s, want a value", task.what, try, out)
				}
			} else if e, ok := s.helpFor(name, 0); !ok || e.doc == "" {
				t.Errorf("%s: %s: got %+v, want a comment", task.what, try, e)
			}
		}
	}
}

// TestQuestionMark checks that a cell with only question marks shows the page of %help.
func TestQuestionMark(t *testing.T) {
	s := newSession(t)
	help := evalFor(t, s, 1, "%help", "")
	for i, code := range []string{"?", "??", " ?\n"} {
		got := evalFor(t, s, i+2, code, "")
		if want := "page " + strings.TrimPrefix(help, "= "); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", code, got, want)
		}
	}
}

// TestSearchPage checks that the title of a search keeps the asterisks of the pattern.
func TestSearchPage(t *testing.T) {
	s := newSession(t)
	page, _ := s.search("nn.*batchnorm*").Data["text/markdown"].(string)
	if want := "#### Names like nn.\\*batchnorm\\*\n\n- `type nn.BatchNorm1d struct`"; !strings.HasPrefix(page, want) {
		t.Errorf("got\n%s\nwant\n%s…", page, want)
	}
}
