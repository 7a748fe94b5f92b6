package interp

import (
	"strings"
	"testing"

	"halfnote/display"
	"halfnote/interp/internal/assist"
	"halfnote/interp/internal/magic"
)

// TestTasks checks that everything that the page of %help says to type works.
func TestTasks(t *testing.T) {
	s := newSession(t)
	for i, task := range assist.Tasks {
		for _, try := range task.Try {
			name, asks := strings.CutSuffix(try, "?")
			if word, _, _ := strings.Cut(try, " "); strings.HasPrefix(try, "%") {
				if magic.Find(word) == nil {
					t.Errorf("%s: %s: got an unknown magic", task.What, try)
				}
			} else if !asks {
				if out := evalFor(t, s, i+1, try, ""); !strings.HasPrefix(out, "= ") {
					t.Errorf("%s: %s: got %s, want a value", task.What, try, out)
				}
			} else if b, ok := assist.Inspect(s.seen(), name, len(name), 0); !ok || !hasComment(b) {
				t.Errorf("%s: %s: got %s, want a comment", task.What, try, b)
			}
		}
	}
}

// hasComment reports whether a page has a comment below the declaration.
func hasComment(page display.Bundle) bool {
	md, _ := page.Data["text/markdown"].(string)
	_, below, _ := strings.Cut(md, "\n```\n\n")
	return below != "" && !strings.HasPrefix(below, "####") && !strings.HasPrefix(below, "```")
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
	page, _ := assist.Search(s.seen(), "nn.*batchnorm*").Data["text/markdown"].(string)
	if want := "#### Names like nn.\\*batchnorm\\*\n\n- `type nn.BatchNorm1d struct`"; !strings.HasPrefix(page, want) {
		t.Errorf("got\n%s\nwant\n%s…", page, want)
	}
}

// TestOverviewTables checks that the page of %help has each command and task in Markdown too, in tables with two columns.
func TestOverviewTables(t *testing.T) {
	s := newSession(t)
	page := assist.Help(s.seen(), "", 1)
	md, _ := page.Data["text/markdown"].(string)
	for _, want := range []string{
		"\n| `nn.*norm*?` | the names that match; \\*norm\\*? searches all packages |\n",
		"\n| train in mixed precision | `amp?` or `amp.NewGradScaler?` |\n",
		"\n| `%help [NAME\\|WORDS]` | ",
	} {
		if !strings.Contains(md, want) {
			t.Errorf("got\n%s\nwant the row %s", md, want)
		}
	}
	for line := range strings.Lines(md) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); strings.HasPrefix(line, "|") && n != 3 {
			t.Errorf("got %d bars, want 3: %s", n, line)
		}
	}
}
