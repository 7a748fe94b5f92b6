package exercise_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"halfnote/notebooks/exercise"
)

var update = flag.Bool("update", false, "rewrite the page of answers")

// TestAnswersPage checks that the page of answers is up to date with the keys and with ../testdata/answers.
func TestAnswersPage(t *testing.T) {
	files, err := filepath.Glob("../testdata/answers/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]string{} // the first solution by exercise
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if cells[f.Name] == "" {
				cells[f.Name] = strings.ReplaceAll(strings.TrimSpace(string(f.Data)), "\n---\n", "\n\n")
			}
		}
	}
	var b strings.Builder
	b.WriteString(`# Answers

For teachers: a solution of each exercise, and the explanation that a right answer gets. Each takes other answers too. The files of
` + "`notebooks/testdata/answers`" + ` also have the cells that some solutions need first, and typical wrong answers with the hint that each gets.
This page is made from them: ` + "`go test ./notebooks/exercise -run TestAnswersPage -update`" + `.
`)
	last := ""
	exercise.EachExercise(func(lesson, id, kind, task, why string) {
		if lesson != last {
			fmt.Fprintf(&b, "\n## %s\n", lesson)
			last = lesson
		}
		fmt.Fprintf(&b, "\n**%s %s.** Wanted: %s.\n\n<!-- fragment -->\n```go\n%s\n```\n\n%s\n", id, kind, task, cells[id], why)
	})
	const path = "../../docs/answers.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s is not up to date (%v); run go test ./notebooks/exercise -run TestAnswersPage -update", path, err)
	}
}
