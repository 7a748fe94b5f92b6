package notebooks_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/notebooks/exercise"
	"halfnote/notebooks/notebook"
)

// section is a part of a notebook below a heading of the second level.
type section struct {
	title string
	text  string // Markdown
	code  []*notebook.Cell
}

var heading = regexp.MustCompile(`(?m)^## (.+)$`)

// sections returns the sections of a notebook. The first one, before any heading, has no title.
func sections(nb *notebook.Notebook) []section {
	list := []section{{}}
	for _, c := range nb.Cells {
		last := &list[len(list)-1]
		if c.Type == notebook.Code {
			last.code = append(last.code, c)
			continue
		}
		rest := c.Source
		for _, at := range heading.FindAllStringSubmatchIndex(c.Source, -1) {
			before, _, _ := strings.Cut(rest, c.Source[at[0]:at[1]])
			last.text += before + "\n"
			list = append(list, section{title: strings.TrimSpace(c.Source[at[2]:at[3]])})
			last = &list[len(list)-1]
			rest = c.Source[at[1]:]
		}
		last.text += rest + "\n"
	}
	return list
}

// TestForm checks the form of every lesson: a question and a promise, a prediction, an experiment, a chart, a cell
// that breaks it, a rule of thumb, three exercises, and what it cost.
func TestForm(t *testing.T) {
	progress := map[string]exercise.LessonProgress{}
	for _, p := range exercise.Progress() {
		progress[p.Lesson] = p
	}
	names := lessonNames(t)
	for number, nb := range lessons(t) {
		t.Run(number, func(t *testing.T) {
			parts := sections(nb)
			find := func(prefix string) section {
				i := slices.IndexFunc(parts, func(s section) bool { return strings.HasPrefix(s.title, prefix) })
				if i < 0 {
					t.Errorf("the section %q is missing", prefix)
					return section{}
				}
				return parts[i]
			}
			if first := nb.Cells[0].Source; !strings.HasPrefix(first, "# ") || !regexp.MustCompile(`\*\*[^*]+\?\*\*`).MatchString(parts[0].text) {
				t.Errorf("the first cell: want a title and a question in bold, not\n%s", first)
			}
			source := func(cells []*notebook.Cell) (text string) {
				for _, c := range cells {
					text += c.Source + "\n"
				}
				return text
			}
			if code := source(find("Predict first").code); !strings.Contains(code, fmt.Sprintf(`exercise.Predict("%s`, number)) {
				t.Error("the section \"Predict first\" does not call exercise.Predict")
			}
			all := source(nb.Cells)
			if !strings.Contains(all, fmt.Sprintf(`exercise.Compare("%s`, number)) {
				t.Error("no cell calls exercise.Compare")
			}
			if experiment := find("Experiment"); !slices.ContainsFunc(experiment.code, func(c *notebook.Cell) bool { return lines(c) <= 10 }) {
				t.Error("the section \"Experiment\": want a cell of at most 10 lines")
			}
			if len(find("Break it").code) == 0 {
				t.Error("the section \"Break it\" has no cell")
			}
			if rule := find("Rule of thumb").text; !strings.Contains(rule, "\n> ") {
				t.Error("the section \"Rule of thumb\": want a quote")
			}
			exercises := find("Exercises")
			for _, name := range []string{"**1. Warm-up.**", "**2. Change.**", "**3. Design.**"} {
				if !strings.Contains(exercises.text, name) {
					t.Errorf("the section \"Exercises\" lacks %s", name)
				}
			}
			for _, id := range append(progress[number].Solved, progress[number].Open...) {
				if !strings.Contains(all, fmt.Sprintf("exercise.Check(%q, nil)", id)) {
					t.Errorf("no cell asks for exercise %s", id)
				}
			}
			if cost := find("Time and memory"); len(cost.code) != 1 || !strings.Contains(cost.code[0].Source, "exercise.Cost()") || !cost.code[0].HasTag("timing") {
				t.Error("the section \"Time and memory\": want one cell with exercise.Cost() and the tag timing")
			}
			if last := nb.Cells[len(nb.Cells)-1]; last.Source != "%receipt "+names[number] || len(find("Your numbers").code) != 1 {
				t.Errorf("the section \"Your numbers\": want the last cell %%receipt %s, not\n%s", names[number], last.Source)
			}
			charts := 0
			ids := map[string]bool{}
			for _, c := range nb.Cells {
				if c.ID == "" || ids[c.ID] {
					t.Errorf("cell %q: want an id that no other cell has", c.ID)
				}
				ids[c.ID] = true
				if c.Type != notebook.Code {
					continue
				}
				if n := lines(c); n > 45 {
					t.Errorf("a cell has %d lines, want at most 45:\n%s", n, c.Source)
				}
				if c.Count == 0 {
					t.Errorf("a cell did not run:\n%s", c.Source)
				}
				for _, o := range c.Outputs {
					if o.Data["image/png"] != nil {
						charts++
					}
					if o.Type == notebook.Error && !c.HasTag("raises-exception") {
						t.Errorf("a cell ended in an error:\n%s", c.Source)
					}
				}
			}
			if charts == 0 {
				t.Error("no chart")
			}
		})
	}
}

// lines returns the number of lines of a cell that are not empty.
func lines(c *notebook.Cell) (n int) {
	for line := range strings.Lines(c.Source) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n
}
