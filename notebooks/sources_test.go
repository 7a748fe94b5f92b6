package notebooks_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"halfnote/notebooks"
	"halfnote/notebooks/notebook"
)

// covers is the title of the section in which a lesson lists what it takes from the sources.
const covers = "What this lesson covers"

// sourceItem is a line of a file of testdata/sources: an idea, code sample, number or mistake of
// a source of the course.
type sourceItem struct {
	id, kind, lesson, text string
}

var itemLine = regexp.MustCompile(`^([A-Z]\d+) (idea|code|number|mistake) \[(\d\d)\]: (.+)$`)

// sourceItems reads the files of testdata/sources.
func sourceItems(t *testing.T) map[string]sourceItem {
	t.Helper()
	files, err := filepath.Glob("testdata/sources/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/sources: %d files, error %v", len(files), err)
	}
	items := map[string]sourceItem{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		if !strings.HasPrefix(lines[0], "# ") {
			t.Errorf("%s: the first line is %q; want # and the name of the source", file, lines[0])
		}
		for i, line := range lines[1:] {
			m := itemLine.FindStringSubmatch(line)
			switch {
			case m == nil:
				t.Errorf("%s:%d: %q; want for example: R3 idea [05]: text", file, i+2, line)
			case items[m[1]] != sourceItem{}:
				t.Errorf("%s:%d: %s is there twice", file, i+2, m[1])
			case m[1][1:] != fmt.Sprint(i+1):
				t.Errorf("%s:%d: %s; want number %d", file, i+2, m[1], i+1)
			default:
				items[m[1]] = sourceItem{m[1], m[2], m[3], m[4]}
			}
		}
	}
	return items
}

// coveredRow is a row of a lesson's table of covered items.
type coveredRow struct {
	mark, id, text, section string
}

// coveredRows returns the rows of the table in the section covers.
func coveredRows(nb *notebook.Notebook) (rows []coveredRow) {
	for _, c := range nb.Cells {
		if c.Type != notebook.Markdown {
			continue
		}
		_, section, found := strings.Cut("\n"+c.Source, "\n## "+covers+"\n")
		if !found {
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for line := range strings.Lines(section) {
			cells := strings.Split(strings.TrimSpace(line), "|")
			if len(cells) != 5 || strings.Trim(cells[2], " -:") == "" || strings.TrimSpace(cells[2]) == "item" {
				continue
			}
			id, text, _ := strings.Cut(strings.TrimSpace(cells[2]), ". ")
			rows = append(rows, coveredRow{strings.TrimSpace(cells[1]), id, text, strings.TrimSpace(cells[3])})
		}
	}
	return rows
}

// titlesOf returns the titles of a notebook's sections.
func titlesOf(nb *notebook.Notebook) map[string]bool {
	titles := map[string]bool{}
	for _, c := range nb.Cells {
		for line := range strings.Lines(c.Source) {
			if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && c.Type == notebook.Markdown && strings.HasPrefix(line, "##") {
				titles[strings.TrimSpace(title)] = true
			}
		}
	}
	return titles
}

// checkCovered reports what is wrong with the tables of covered items: the lessons by the two digits of their file names.
func checkCovered(items map[string]sourceItem, lessons map[string]*notebook.Notebook) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	covered := map[string]bool{}
	for number, nb := range lessons {
		rows := coveredRows(nb)
		titles := titlesOf(nb)
		for _, r := range rows {
			item, known := items[r.id]
			switch {
			case !known:
				fault("lesson %s: %q is not an item of a source", number, r.id)
			case r.mark != "✓":
				fault("lesson %s: %s has no ✓", number, r.id)
			case r.text != item.text:
				fault("lesson %s: %s is %q; want %q", number, r.id, r.text, item.text)
			case !titles[r.section]:
				fault("lesson %s: %s: there is no section %q", number, r.id, r.section)
			default:
				covered[r.id] = true
			}
		}
	}
	for id, item := range items {
		if !covered[id] {
			fault("lesson %s: its section %q lacks %s. %s", item.lesson, covers, id, item.text)
		}
	}
	slices.Sort(faults)
	return faults
}

// TestSources checks that the lessons cover every item of the sources, in sections that exist.
func TestSources(t *testing.T) {
	for _, f := range checkCovered(sourceItems(t), lessons(t)) {
		t.Error(f)
	}
}

// lessons returns the notebooks by the two digits of their names.
func lessons(t *testing.T) map[string]*notebook.Notebook {
	t.Helper()
	names, err := fs.Glob(notebooks.Files, "*.ipynb")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d notebooks, error %v", len(names), err)
	}
	list := map[string]*notebook.Notebook{}
	for _, name := range names {
		content, err := fs.ReadFile(notebooks.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Read(bytes.NewReader(content))
		if err != nil {
			t.Fatal(name, err)
		}
		if list[name[:2]] != nil {
			t.Errorf("two notebooks have the number %s", name[:2])
		}
		list[name[:2]] = nb
	}
	return list
}

// TestSourcesFaults checks that each kind of mistake in a table is found.
func TestSourcesFaults(t *testing.T) {
	items := map[string]sourceItem{
		"R1": {"R1", "idea", "05", "the first idea"},
		"R2": {"R2", "mistake", "05", "a mistake"},
	}
	const head = "| | item | where |\n|---|---|---|\n"
	first, second := "| ✓ | R1. the first idea | Experiment |\n", "| ✓ | R2. a mistake | Exercises |\n"
	tests := []struct{ name, table, want string }{
		{"complete", first + second, ""},
		{"missing", first, `lesson 05: its section "What this lesson covers" lacks R2. a mistake`},
		{"unknown", first + second + "| ✓ | R9. else | Experiment |\n", `lesson 05: "R9" is not an item of a source`},
		{"not ticked", first + "|  | R2. a mistake | Exercises |\n", "R2 has no ✓"},
		{"other text", first + "| ✓ | R2. something | Exercises |\n", `R2 is "something"; want "a mistake"`},
		{"other section", first + "| ✓ | R2. a mistake | Nowhere |\n", `R2: there is no section "Nowhere"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			nb := &notebook.Notebook{}
			for _, source := range []string{"# Lesson\n\n## Experiment\n", "## Exercises", "## " + covers + "\n\n" + head + test.table} {
				nb.Cells = append(nb.Cells, &notebook.Cell{Type: notebook.Markdown, Source: source})
			}
			got := strings.Join(checkCovered(items, map[string]*notebook.Notebook{"05": nb}), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q; want %q", got, test.want)
			}
		})
	}
}
