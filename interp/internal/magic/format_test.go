package magic

import (
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"halfnote/interp/internal/syntax"
)

// TestFormatMagics formats cells with several magics.
func TestFormatMagics(t *testing.T) {
	for code, want := range map[string]string{
		"%%time\nx:=1\n%vars\ny:=2":         "%%time\nx := 1\n%vars\ny := 2",
		"%%time\n%%timeout 1s\nx:=1\n%vars": "%%time\n%%timeout 1s\nx := 1\n%vars",
		"%%bash\n%vars\necho   x\n%%time\n": "%%bash\n%vars\necho   x\n%%time",
		"x:=1\n%vars\ny:=2\n%%time\nz:=3":   "x := 1\n%vars\ny := 2\n%%time\nz := 3",
	} {
		if got, err := Format(code); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", code, got, err, want)
		}
	}
}

// TestFormat formats the cells of all scripts that parse. The formatted cell has the same tokens
// and comments, ends with a semicolon if the cell did, and does not change when it is formatted
// again.
func TestFormat(t *testing.T) {
	files, err := filepath.Glob("../../testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	formatted := 0
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			code := string(f.Data)
			if name, _, _ := strings.Cut(f.Name, " "); name != "cell" || strings.Contains(code, "%%") {
				continue
			}
			got, err := Format(code)
			if err != nil {
				continue
			}
			formatted++
			if !slices.Equal(tokens(got), tokens(code)) {
				t.Errorf("%s: got other tokens in\n%s\nwant those of\n%s", file, got, code)
			}
			if q := syntax.Split(code); q.Suppressed && q.Items[len(q.Items)-1].Kind == syntax.Statement && !syntax.Split(got).Suppressed && !strings.Contains(code, "\n%") {
				t.Errorf("%s: got no semicolon at the end of\n%s\nwant it as in\n%s", file, got, code)
			}
			if again, err := Format(got); err != nil || again != got {
				t.Errorf("%s: formatted again: got\n%s\n%v\nwant\n%s", file, again, err, got)
			}
		}
	}
	if formatted < 500 {
		t.Errorf("got %d cells that could be formatted, want at least 500", formatted)
	}
}

// tokens returns the tokens of code that formatting keeps in place.
func tokens(code string) (list []string) {
	for _, l := range syntax.Lex(code) {
		switch l.Tok {
		case token.SEMICOLON, token.COMMA, token.RPAREN, token.LPAREN: // gofmt may drop them
		case token.COMMENT:
			list = append(list, strings.Join(strings.Fields(strings.TrimPrefix(l.Lit, "//")), " "))
		default:
			list = append(list, l.Lit+l.Tok.String())
		}
	}
	slices.Sort(list) // comments and the names of imports may move
	return list
}
