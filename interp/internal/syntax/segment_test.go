package syntax

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestQuestion checks the names that cells with question marks ask for.
func TestQuestion(t *testing.T) {
	tests := []struct {
		cell, name string
		marks      int
		ok         bool
	}{
		{"net?", "net", 1, true},
		{" net.Forward?? \n", "net.Forward", 2, true},
		{"?net", "net", 1, true},
		{"net", "net", 0, false},
		{"?", "", 1, true},
		{"", "", 0, false},
		{"x = 1 // right?", "x = 1 // right", 1, false},
		{"//why?", "//why", 1, false},
		{"!ls?", "!ls", 1, false},
		{"x := 1\nx?", "x := 1\nx", 1, false},
	}
	for _, tt := range tests {
		name, marks, ok := Question(tt.cell)
		if name != tt.name || marks != tt.marks || ok != tt.ok {
			t.Errorf("Question(%q): got %q, %d, %v, want %q, %d, %v", tt.cell, name, marks, ok, tt.name, tt.marks, tt.ok)
		}
	}
}

// TestWorkOfSegments counts the bytes that are allocated to find magics among lines that look like them: four times the lines
// take little more than four times as many.
func TestWorkOfSegments(t *testing.T) {
	for name, find := range map[string]func(code string){
		"segments": func(code string) { Segments(code, func(string, bool) bool { return false }) },
		"blanks":   func(code string) { BlankMagic(code) },
	} {
		work := func(n int) uint64 {
			code := "s := `\n" + strings.Repeat("%time\n!ls x\nx?\n", n) + "`\n!ls" + strings.Repeat(" \\\n  x", n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			find(code)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if n, more := work(1000), work(4000); more > 6*n {
			t.Errorf("%s: %d bytes for 1000 times the lines, %d for 4000; want linear growth", name, n, more)
		}
	}
}

// TestContinued checks the extent of commands that backslashes continue.
func TestContinued(t *testing.T) {
	const code = "x := 1\nfiles := !ls \\\n  -a \\\n  .\n!pwd\ny := x\n!echo \\"
	got := Segments(code, func(string, bool) bool { return false })
	want := []Segment{
		{Code: "x := 1\n"},
		{Magic: "!", Args: "ls \\\n  -a \\\n  .", Variable: "files", Assign: ":=", Line: 2, Lines: 3, Col: 1},
		{Magic: "!", Args: "pwd", Line: 5, Lines: 1, Col: 1},
		{Code: "\n\n\n\n\ny := x\n"},
		{Magic: "!", Args: "echo \\", Line: 7, Lines: 1, Col: 1},
	}
	for i := range got {
		if g := &got[i]; g.Magic != "" {
			if !strings.HasSuffix(g.Code, g.Args) || strings.Count(strings.TrimSuffix(g.Code, g.Args), "\n") != g.Line-1 {
				t.Errorf("command %d does not keep its place: %q", i, g.Code)
			}
			g.Code = ""
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got, want := strings.Fields(BlankMagic(code[strings.Index(code, "y :="):]+"\n  -n\nx")), []string{"y", ":=", "x", "x"}; !slices.Equal(got, want) {
		t.Errorf("without commands: got %q, want %q", got, want)
	}
}

// TestDeclares checks which names a cell declares, whether it parses or not.
func TestDeclares(t *testing.T) {
	const code = "import \"gonum.org/v1/gonum/mat\"\nimport (\n\t\"math/rand/v2\"\n\tmg \"github.com/erkkah/margaid\"\n)\na, b := 1, (\nfunc f() {\n\tc := \"text\"\n}\nlist := []string{\n\t\"word\",\n}\n"
	for _, name := range []string{"mat", "rand", "mg", "a", "b", "f", "list"} {
		if !Declares(code, name) {
			t.Errorf("%s: got false, want true", name)
		}
	}
	for _, name := range []string{"margaid", "v2", "c", "text", "word", "gonum"} {
		if Declares(code, name) {
			t.Errorf("%s: got true, want false", name)
		}
	}
}
