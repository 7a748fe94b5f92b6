package notebooks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/receipt"
	"halfnote/notebooks/notebook"
)

// definition is a number in a lesson's prose that no cell prints, with the reason why it is right.
type definition struct{ lesson, number string }

// definitions reads testdata/numbers.txt, whose lines are "LESSON NUMBER: reason".
func definitions(t *testing.T) map[definition]string {
	t.Helper()
	content, err := os.ReadFile("testdata/numbers.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := map[definition]string{}
	for i, line := range strings.Split(strings.TrimSpace(string(content)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, found := strings.Cut(line, ": ")
		lesson, number, two := strings.Cut(name, " ")
		d := definition{lesson, number}
		if !found || !two || reason == "" || list[d] != "" {
			t.Errorf("testdata/numbers.txt:%d: %q; want a line such as \"05 23: 23 TFLOP are …\", once", i+1, line)
		}
		list[d] = reason
	}
	return list
}

var (
	unread = regexp.MustCompile("(?s:```.*?```)|`[^`]*`|\\]\\([^)]*\\)" + // code, and the targets of links
		`|(?m:^\| ✓ \|.*$)` + // items of sources, which TestSources reads
		`|\*\*\d+\. |(?m:^\d+\. )` + // numbers of exercises and of lists
		`|[Ll]essons? \d+( and \d+)?|\d+과`)
	digits = regexp.MustCompile(`[0-9][0-9,]*(\.[0-9]+)?`)
	word   = regexp.MustCompile(`[A-Za-z_.]$`)
	raised = regexp.MustCompile(`^[⁰¹²³⁴-⁹⁻]`)
)

// proseNumbers returns the numbers in a cell's Markdown: not those of names, such as float16, and of powers, such as 2⁻¹⁴.
func proseNumbers(markdown string) (numbers []string) {
	markdown = unread.ReplaceAllString(markdown, " ")
	for _, at := range digits.FindAllStringIndex(markdown, -1) {
		if !word.MatchString(markdown[:at[0]]) && !raised.MatchString(markdown[at[1]:]) {
			numbers = append(numbers, strings.TrimRight(markdown[at[0]:at[1]], ","))
		}
	}
	return numbers
}

// shownNumbers returns the numbers that the cells of a notebook contain or print. Those that a cell with the tag timing prints
// differ from machine to machine and are left out.
func shownNumbers(nb *notebook.Notebook) map[string]bool {
	shown := map[string]bool{}
	for _, c := range nb.Cells {
		if c.Type != notebook.Code || receipt.Compares(c.Source) {
			continue
		}
		text := c.Source + "\n"
		if !c.HasTag("timing") {
			text += printedText(c)
			for _, o := range c.Outputs {
				text += "\n" + o.ErrorValue
			}
		}
		for _, n := range digits.FindAllString(text, -1) {
			shown[plainNumber(n)] = true
		}
	}
	return shown
}

func plainNumber(n string) string { return strings.TrimRight(strings.ReplaceAll(n, ",", ""), ".") }

// backed reports whether a number of the prose is one that cells show, or such a number rounded to the digits of the prose: to two digits
// after the point or more, or to a whole number of three digits or more.
func backed(number string, shown map[string]bool) bool {
	number = plainNumber(number)
	if shown[number] {
		return true
	}
	_, fraction, _ := strings.Cut(number, ".")
	if len(fraction) < 2 && len(number) < 3 {
		return false
	}
	want, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	for s := range shown {
		if v, err := strconv.ParseFloat(s, 64); err == nil && strconv.FormatFloat(v, 'f', len(fraction), 64) == strconv.FormatFloat(want, 'f', len(fraction), 64) {
			return true
		}
	}
	return false
}

// checkNumbers reports the numbers in the prose of a lesson that no cell shows and no definition explains, and the definitions
// that nothing needs.
func checkNumbers(lesson string, nb *notebook.Notebook, list map[definition]string) (faults []string) {
	shown, needed := shownNumbers(nb), map[string]bool{}
	for i, c := range nb.Cells {
		if c.Type != notebook.Markdown {
			continue
		}
		for _, n := range proseNumbers(c.Source) {
			switch {
			case backed(n, shown):
			case list[definition{lesson, n}] != "":
				needed[n] = true
			case list[definition{filepath.Base(lesson), n}] != "": // that of the original
			default:
				faults = append(faults, fmt.Sprintf("lesson %s, cell %d: no cell prints %s; change the text, print the number, or give the reason in testdata/numbers.txt", lesson, i, n))
			}
		}
	}
	for d := range list {
		if d.lesson == lesson && !needed[d.number] {
			faults = append(faults, fmt.Sprintf("testdata/numbers.txt: lesson %s does not need %s", lesson, d.number))
		}
	}
	slices.Sort(faults)
	return faults
}

// TestNumbers reads every number in the prose of the lessons and of their translations: a cell of the lesson contains it or prints it, or it is
// a definition with a reason.
func TestNumbers(t *testing.T) {
	list := definitions(t)
	all := map[string]*notebook.Notebook{}
	for number, nb := range lessons(t) {
		all[number] = nb
	}
	translated, err := filepath.Glob("[a-z][a-z]/[0-9][0-9]-*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range translated {
		all[file[:5]] = readNotebook(t, file)
	}
	for lesson, nb := range all {
		for _, f := range checkNumbers(lesson, nb, list) {
			t.Error(f)
		}
	}
	for d := range list {
		if all[d.lesson] == nil {
			t.Errorf("testdata/numbers.txt: lesson %s does not exist", d.lesson)
		}
	}
}

// TestNumbersFaults checks which numbers need a definition.
func TestNumbersFaults(t *testing.T) {
	timing := map[string]any{"tags": []any{"timing"}}
	for _, c := range []struct {
		prose, want string
	}{
		{"The sum is 65504, and half of it 32752.", "32752"},
		{"The sum is 65,504.", ""},
		{"About 0.67 of 1.234, that is, 12.3.", "12.3"},
		{"`99` in float16, [lesson](99.ipynb), lesson 99, 2⁻¹⁴.\n1. one\n\n**2. Change.**", ""},
		{"It takes 77 ms.", "77"},
		{"It took 4.1 s.", "4.1"},
		{"The program sets 128.", ""},
		{"The error says 512.", ""},
		{"| ✓ | R1. 4711 | where |", ""},
	} {
		nb := &notebook.Notebook{Cells: []*notebook.Cell{
			{Type: notebook.Markdown, Source: c.prose},
			{Type: notebook.Code, Source: "batch := 128", Outputs: []*notebook.Output{
				{Type: notebook.Stream, Text: "65504\n1.2339 0.6712"}, {Type: notebook.Error, ErrorValue: "want 512"},
			}},
			{Type: notebook.Code, Source: "time()", Metadata: timing, Outputs: []*notebook.Output{{Type: notebook.Stream, Text: "4.1 s"}}},
		}}
		got := checkNumbers("05", nb, nil)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], "no cell prints "+c.want+";")) {
			t.Errorf("%q: got %q, want a fault of %q", c.prose, got, c.want)
		}
		if got := checkNumbers("05", nb, map[definition]string{{"05", c.want}: "why"}); c.want != "" && len(got) > 0 {
			t.Errorf("%q: with a definition: got %q", c.prose, got)
		}
	}
	nb := &notebook.Notebook{Cells: []*notebook.Cell{{Type: notebook.Markdown, Source: "nothing"}}}
	if got := checkNumbers("05", nb, map[definition]string{{"05", "7"}: "why"}); len(got) != 1 {
		t.Errorf("a definition that nothing needs: got %q", got)
	}
}
