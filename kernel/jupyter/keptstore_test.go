package jupyter

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"halfnote/kernel"
)

// kept returns the outputs of a cell that printed text.
func kept(count int, text, failed string) kernel.Entry {
	return kernel.Entry{
		Count: count, Kind: kernel.OutputsOf, Text: fmt.Sprintf(`[{"output_type":"stream","name":"stdout","text":%q}]`, text),
		Kept: kernel.KeptCell{Took: 1, Lines: 1, Failed: failed},
	}
}

// TestKeptOfEarlierKernels checks that a kernel finds the outputs of earlier kernels of its notebook.
func TestKeptOfEarlierKernels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.sqlite")
	open := func(notebook string) *history { return newHistory(path, notebook, &postMortem{}, kernel.NewLog(nil)) }
	for _, run := range []struct{ notebook, text string }{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"a", ""}} {
		h := open(run.notebook)
		h.Put(kernel.Entry{Count: 1, Text: "source"})
		if run.text != "" {
			h.Put(kept(1, run.text, ""))
		}
		h.Close()
	}
	h := open("a")
	defer h.Close()
	check := func(back int, want string) {
		t.Helper()
		list, err := h.Outputs(back, 1)
		got := ""
		for _, o := range list {
			got += o.Text
		}
		if got != want || err != nil {
			t.Errorf("%d kernels back: got %q, %v; want %q", back, got, err, want)
		}
	}
	for back, want := range []string{"", "3", "1", ""} {
		check(back, want)
	}
	h.Put(kernel.Entry{Count: 1, Text: "now"})
	check(1, "3")
	if cells, err := h.Cells(1); len(cells) != 1 || cells[0] != (kernel.KeptCell{Count: 1, Source: "source", Took: 1, Lines: 1}) {
		t.Errorf("got the cells %+v, %v", cells, err)
	}
}

// TestKeptIsPruned checks that the newest outputs stay.
func TestKeptIsPruned(t *testing.T) {
	h := newHistory(filepath.Join(t.TempDir(), "h.sqlite"), "", &postMortem{}, kernel.NewLog(nil))
	defer h.Close()
	big := strings.Repeat("y", 1<<20)
	for i := range 101 {
		h.Put(kept(i+1, big, ""))
		h.use(func(*historyStore) error { return nil })
	}
	if cells, err := h.Cells(0); err != nil || len(cells) > 64+pruneKept || len(cells) < 60 || cells[len(cells)-1].Count != 101 {
		t.Errorf("got %d cells on disk (%v), want the newest 64 to %d", len(cells), err, 64+pruneKept)
	}
}

// TestSources checks that the cells of the kernel before are found with and without output, and how they ended, and none of a kernel whose
// notebook is unknown.
func TestSources(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.sqlite")
	for _, notebook := range []string{"a.ipynb", ""} {
		h := newHistory(path, notebook, &postMortem{}, kernel.NewLog(nil))
		for i, code := range []string{"x := 1", "fmt.Println(x)", "y := z"} {
			h.Put(kernel.Entry{Count: i + 1, Text: code})
		}
		h.Put(kept(2, "1\n", ""))
		h.Put(kept(3, "", "CompileError"))
		h.Close()
		after := newHistory(path, notebook, &postMortem{}, kernel.NewLog(nil))
		cells, err := after.Sources(1)
		got := ""
		for _, c := range cells {
			got += fmt.Sprintln(c.Count, c.Source, c.Failed)
		}
		want := "1 x := 1 \n2 fmt.Println(x) \n3 y := z CompileError\n"
		if notebook == "" {
			want = ""
		}
		if got != want || err != nil {
			t.Errorf("%q: got %q, %v; want %q", notebook, got, err, want)
		}
		if cells, err := after.Sources(0); len(cells) != 0 || err != nil {
			t.Errorf("%q: got %v, %v of this kernel, which ran none", notebook, cells, err)
		}
		after.Close()
	}
}

// TestMemoryFindsWhatTheDatabaseFinds asks both for the same cells.
func TestMemoryFindsWhatTheDatabaseFinds(t *testing.T) {
	inFile, inMemory := newHistory(filepath.Join(t.TempDir(), "h.sqlite"), "", &postMortem{}, kernel.NewLog(nil)), &kernel.Memory{}
	defer inFile.Close()
	for i, source := range []string{"a", "b", "ab", "a", "a-b", "x[1]", "", "é", "b"} {
		for _, h := range []kernel.History{inFile, inMemory} {
			h.Put(kernel.Entry{Count: i + 1, Text: source})
			if i%2 == 0 {
				h.Put(kernel.Entry{Count: i + 1, Text: "result", Kind: kernel.ResultOf})
			}
		}
	}
	queries := []kernel.HistoryQuery{
		{Access: "tail"}, {Access: "tail", N: new(2)}, {Access: "tail", N: new(0)}, {Access: "tail", N: new(-1)},
		{Access: "range"}, {Access: "range", Session: 1}, {Access: "range", Session: 2}, {Access: "range", Session: -1},
		{Access: "range", Start: 3}, {Access: "range", Start: -2}, {Access: "range", Start: 2, Stop: new(4)}, {Access: "range", Stop: new(-3)}, {Access: "range", Stop: new(0)},
		{Access: "search"}, {Access: "search", Unique: true}, {Access: "search", N: new(1), Unique: true},
	}
	for _, pattern := range []string{"*", "a", "a*", "*b", "*a*b*", "?", "??", "[a-c]", "[^a]", "[]]", "[a", "[a-]*", "[-a]b", "[a-b-c]*", "x[[]1]", "é", "*[*", "", "[^]a]", "[z-a]", "a[-]b"} {
		queries = append(queries, kernel.HistoryQuery{Access: "search", Pattern: pattern})
	}
	for _, q := range queries {
		want := found(t, inFile, q)
		list, err := inMemory.Find(t.Context(), q)
		if got := line(q, list); got != want || err != nil {
			t.Errorf("%+v: memory finds %q, %v; the database %q", q, got, err, want)
		}
	}
}
