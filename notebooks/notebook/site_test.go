package notebook

import (
	"encoding/base64"
	"encoding/json"
	"image/color"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// lesson returns a lesson with Markdown and code cells in turn.
func lesson(name string, sources ...string) Lesson {
	nb := &Notebook{}
	for i, s := range sources {
		nb.Cells = append(nb.Cells, &Cell{Type: []string{Markdown, Code}[i%2], Source: s})
	}
	nb.giveIDs()
	return Lesson{Name: name, Notebook: nb}
}

func TestWriteSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "site")
	first := lesson("01-first", "# First <steps>\n\n**What is `x`?** You will see\nit in *five* minutes.\n\nMore: [second](02-second.ipynb#Experiment), [same](./02-second.ipynb), [else](https://example.org).",
		"x := \"</script>\"", "## Experiment: one\n\nSee.", "chart", "## Time", "exercise.Cost()")
	blue := base64.StdEncoding.EncodeToString(square(t, color.NRGBA{0, 0, 255, 255}))
	first.Notebook.Cells[1].Outputs = []*Output{{Type: Stream, Name: "stdout", Text: "\x1b[31mfound\x1b[0m"}}
	first.Notebook.Cells[3].Outputs = []*Output{{Type: ExecuteResult, Data: map[string]any{"image/png": blue, "text/plain": "it is \"blue\"\nrest"}}}
	first.Notebook.Cells[5].Metadata = map[string]any{"tags": []any{"timing"}}
	first.Notebook.Cells[5].Outputs = []*Output{{Type: ExecuteResult, Data: map[string]any{"text/plain": "1.5 s of processor time"}}}
	lessons := []Lesson{first, lesson("02-second", "# Second"), lesson("03-third", "no title")}
	if err := WriteSite(dir, "The & course", "../lite/", lessons); err != nil {
		t.Fatal(err)
	}
	page := func(name string) string {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for name, wants := range map[string][]string{
		"index.html": {
			"<title>The &amp; course</title>", `<a href="01-first.html"><img loading="lazy" src="charts/01-first.png" alt="it is &#34;blue&#34;">`,
			"<h2>01 First &lt;steps&gt;</h2>", "<strong>What is x?</strong> You will see it in five minutes.", "1.5 s of processor time", "<h2>02 Second</h2>", "<h2>03 03-third</h2>",
		},
		"01-first.html": {
			`<link rel="stylesheet" href="style.css">`, `<a href="index.html">The &amp; course</a>`, `<a rel="next" href="02-second.html">Second →</a>`,
			`<a href="02-second.html#Experiment">second</a>`, `<a href="02-second.html">same</a>`, `<a href="https://example.org">else</a>`,
			`<a class="live" href="../lite/lab/index.html?path=01-first.ipynb">Run this lesson</a>`, `<li><a href="#Experiment:-one">Experiment: one</a></li>`, `id="Experiment:-one"`,
		},
		"02-second.html": {`<a rel="prev" href="01-first.html">← First &lt;steps&gt;</a>`, `<a rel="next" href="03-third.html">03-third →</a>`},
		"style.css":      {".prose", ".lessons"},
	} {
		for _, want := range wants {
			if !strings.Contains(page(name), want) {
				t.Errorf("%s lacks %s:\n%s", name, want, page(name))
			}
		}
	}
	for _, name := range []string{"01-first.html", "03-third.html"} {
		if strings.Contains(page(name), "<script") {
			t.Errorf("%s has a script", name)
		}
	}
	if strings.Contains(page("01-first.html"), `rel="prev"`) || strings.Contains(page("03-third.html"), `rel="next"`) {
		t.Error("the first lesson has one before it, or the last one after it")
	}
	data := regexp.MustCompile(`<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page("index.html"))
	if data == nil {
		t.Fatal("the index has no data to search")
	}
	var got []found
	if err := json.Unmarshal([]byte(data[1]), &got); err != nil {
		t.Fatal(err)
	}
	want := []section{
		{"", "First <steps>", "First What is x? You will see it in five minutes. More: second, same, else. x := \"</script>\" found"},
		{"Experiment:-one", "Experiment: one", "See. chart it is \"blue\" rest"},
		{"Time", "Time", "exercise.Cost() 1.5 s of processor time"},
	}
	if len(got) != 3 || got[0].File != "01-first.html" || !reflect.DeepEqual(got[0].Sections, want) {
		t.Errorf("data to search: got %+v\nwant %+v", got, want)
	}
	if copied := read(t, filepath.Join(dir, "01-first.ipynb")); len(copied.Cells) != 6 {
		t.Errorf("copied notebook: got %d cells, want 6", len(copied.Cells))
	}
}

// TestCover checks which chart stands for a notebook.
func TestCover(t *testing.T) {
	chart := func(name string, tags ...any) *Cell {
		picture := base64.StdEncoding.EncodeToString([]byte(name))
		return &Cell{Type: Code, Metadata: map[string]any{"tags": tags}, Outputs: []*Output{
			{Type: Stream, Text: "text"},
			{Type: DisplayData, Data: map[string]any{"text/html": `<img alt="a" src="data:image/svg+xml;base64,` + picture + `">`, "text/plain": name}},
		}}
	}
	heading := &Cell{Type: Markdown, Source: "text\n\n## Experiment: sums"}
	for _, test := range []struct {
		want  string
		cells []*Cell
	}{
		{"", []*Cell{heading}},
		{"a", []*Cell{chart("a"), chart("b")}},
		{"b", []*Cell{chart("a"), heading, chart("b"), chart("c")}},
		{"c", []*Cell{chart("a"), heading, chart("b"), chart("c", "cover")}},
		{"a", []*Cell{chart("a"), heading}},
	} {
		nb := &Notebook{Cells: test.cells}
		if ext, data, alt := nb.cover(); string(data) != test.want || alt != test.want || (ext == ".svg") != (test.want != "") {
			t.Errorf("got %q %q %q, want %q", ext, data, alt, test.want)
		}
	}
}

func TestWriteSiteRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		lessons []Lesson
		want    string
	}{
		{"none", nil, "no notebooks are given; want at least one"},
		{"the same name", []Lesson{lesson("a", "x"), lesson("a", "y")}, "two pages would be"},
		{"the index", []Lesson{lesson("index", "x")}, "two pages would be"},
	} {
		if err := WriteSite(t.TempDir(), "Site", "", test.lessons); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got error %v, want one with %q", test.name, err, test.want)
		}
	}
}
