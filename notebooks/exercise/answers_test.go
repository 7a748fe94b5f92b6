package exercise_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"halfnote/display"
	"halfnote/internal/testenv"
	"halfnote/interp"
	"halfnote/kernel"
	"halfnote/notebooks/exercise"
)

// TestAnswers runs the solutions and the wrong answers in ../testdata/answers in cells. Section "setup" of a file
// holds cells that run before each of the others, and a line "---" separates cells. A section "05.1" holds a
// solution; "05.1 wrong" a wrong answer, and the section "hint" after it holds a part of what the learner reads.
// Every exercise needs a solution, and every mistake of a key a wrong answer. A
// default run runs those of one lesson in ten.
func TestAnswers(t *testing.T) {
	files, err := filepath.Glob("../testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no answers", err)
	}
	engines := interp.Engines
	if !testenv.Requires("native") {
		engines = engines[:1]
	}
	keys := exercise.Keys()
	solved, hints := map[string]bool{}, map[string][]string{}
	share := testenv.Share(t, 10)
	for k, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		number := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for i, f := range a.Files {
			id, state, _ := strings.Cut(f.Name, " ")
			if id == "hint" || id == "setup" {
				continue
			}
			if keys[id] == nil || !strings.HasPrefix(id, number) || state != "" && state != "wrong" {
				t.Errorf("%s: section %q is not for an exercise of lesson %s", file, f.Name, number)
				continue
			}
			hint := ""
			if state == "wrong" {
				if i+1 == len(a.Files) || a.Files[i+1].Name != "hint" {
					t.Errorf("%s: a section hint must follow %q", file, f.Name)
					continue
				}
				hint = strings.TrimSpace(string(a.Files[i+1].Data))
				hints[id] = append(hints[id], hint)
			} else {
				solved[id] = true
			}
			if k%share != 0 {
				continue
			}
			for _, engine := range engines {
				t.Run(f.Name+"/"+engine, func(t *testing.T) { runAnswer(t, engine, a, string(f.Data), id, hint) })
			}
		}
	}
	for id, mistakes := range keys {
		if !solved[id] {
			t.Errorf("exercise %s: the solution is missing in ../testdata/answers", id)
		}
		for _, m := range mistakes {
			if !slices.ContainsFunc(hints[id], func(h string) bool { return strings.Contains(m, h) }) {
				t.Errorf("exercise %s: a wrong answer is missing that gets the hint %q", id, m)
			}
		}
	}
}

// runAnswer runs the setup and an answer's cells. The last one must be right, or show the hint if there is one.
func runAnswer(t *testing.T, engine string, a *txtar.Archive, answer, id, hint string) {
	exercise.Restart()
	s, err := interp.NewSession(interp.Options{Release: "test", Engine: engine, Memory: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var cells []string
	for _, f := range a.Files {
		if f.Name == "setup" {
			cells = append(cells, separate(string(f.Data))...)
		}
	}
	cells = append(cells, separate(answer)...)
	for i, code := range cells {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		var out printed
		r := s.Eval(ctx, kernel.Cell{Code: code, Count: i + 1}, &out)
		cancel()
		if r.Err != nil {
			t.Fatalf("cell\n%s\n%s: %s\n%s", code, r.Err.Name, r.Err.Value, strings.Join(r.Err.Traceback, "\n"))
		}
		if i < len(cells)-1 {
			continue
		}
		text := out.text()
		if r.Value != nil {
			text += r.Value.String()
		}
		want := "✓ " + id + " is right."
		if hint != "" {
			want = hint
			if !strings.Contains(text, "✗ "+id) {
				t.Errorf("got %s, want a verdict that %s is not right yet", text, id)
			}
		}
		if !strings.Contains(text, want) {
			t.Errorf("cell\n%s\ngot %s\nwant %s", code, text, want)
		}
	}
}

// separate returns the cells of a section.
func separate(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n---\n")
}

// printed collects what a cell prints and displays.
type printed struct {
	mu sync.Mutex
	b  strings.Builder
}

func (p *printed) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.Write(b)
}

func (p *printed) Stdout() io.Writer        { return p }
func (p *printed) Stderr() io.Writer        { return p }
func (p *printed) Display(b display.Bundle) { fmt.Fprintln(p, b) }
func (p *printed) Update(b display.Bundle)  { fmt.Fprintln(p, b) }
func (p *printed) Clear(wait bool)          {}
