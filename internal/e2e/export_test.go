package e2e

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// measured matches the lines of the tutorials that differ from run to run: times, and values
// that depend on them.
var measured = regexp.MustCompile(`[0-9.] ?(ns|µs|ms|s)\b|execution time|memory used|samples/s|^(amx|avx512bf16|avx512|avx2|neon|portable): |^(float32|autocast|autocast \+ scaler|autocast bfloat16) +[0-9]`)

// TestExportTutorials exports every tutorial as a program and compares its output with that
// of the notebook.
func TestExportTutorials(t *testing.T) {
	files, err := filepath.Glob("notebooks/*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatal("no tutorials found", err)
	}
	share := testenv.Share(t, len(files)) // each takes seconds to build
	for i := 0; i < len(files); i += share {
		file := files[i]
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ipynb"), func(t *testing.T) {
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
			got, want := lasting(string(out)), lasting(shownText(t, file))
			if !slices.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// lasting returns the lines that are the same in every run, without the cells' numbers and
// lines in locations, which a program does not print.
func lasting(text string) []string {
	text = cellLine.ReplaceAllString(strings.TrimRight(text, "\n"), "")
	text = blanks.ReplaceAllString(strings.ReplaceAll(text, " ()", ""), " ")
	return slices.DeleteFunc(strings.Split(text, "\n"), measured.MatchString)
}

var (
	cellLine = regexp.MustCompile(`In\[\d+\], line \d+(, )?`)
	blanks   = regexp.MustCompile(` +`)
)

// shownText returns the text output of a notebook's cells, except of magics, questions and
// failing cells, which a program does not have.
func shownText(t *testing.T, file string) string {
	var b strings.Builder
	for _, c := range readExecuted(t, file).Cells {
		source := strings.Join(c.Source, "")
		if c.CellType != "code" || strings.HasPrefix(source, "%") && !strings.HasPrefix(source, "%%time") || strings.HasSuffix(source, "?") {
			continue
		}
		text := ""
		failed := false
		for _, o := range c.Outputs {
			failed = failed || o.OutputType == "error"
			if o.Name != "stderr" {
				text += strings.Join(o.Text, "")
			}
			if lines, ok := o.Data["text/plain"].([]any); ok {
				for _, l := range lines {
					text += l.(string)
				}
				text += "\n"
			}
		}
		if !failed {
			b.WriteString(text)
		}
	}
	return b.String()
}
