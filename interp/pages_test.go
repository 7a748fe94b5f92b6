package interp_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"halfnote/display"
	"halfnote/interp"
	"halfnote/kernel/eval"
)

// block is a Go block of a page. The comment <!-- fragment --> before it marks a block that
// needs names which the page does not declare.
var block = regexp.MustCompile("(?ms)^(<!-- fragment -->\n+)?```go\n(.*?)^```$")

// silent discards what cells print and show.
type silent struct{ display.Sink }

func (silent) Display(display.Bundle) {}
func (silent) Update(display.Bundle)  {}

func (silent) Stdout() io.Writer { return io.Discard }
func (silent) Stderr() io.Writer { return io.Discard }

// TestPages checks that the Go blocks of the README and of the pages in docs run as cells.
// The blocks of a page run in one session, in order.
func TestPages(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile("../amp/diagnose/testdata/torch/rmsnorm.hnt.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := block.FindAllSubmatch(text, -1)
		if len(blocks) == 0 {
			if page == "../README.md" {
				t.Errorf("%s has no Go block", page)
			}
			continue
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := os.WriteFile("run.hnt", recording, 0o666); err != nil { // a file that a Go block opens
				t.Fatal(err)
			}
			s, err := interp.NewSession(interp.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i, b := range blocks {
				if len(b[1]) > 0 {
					continue
				}
				if r := s.Eval(context.Background(), eval.Cell{Code: string(b[2]), Count: i + 1}, silent{}); r.Err != nil {
					t.Errorf("%s:\n%s", r.Err, b[2])
				}
			}
		})
	}
}
