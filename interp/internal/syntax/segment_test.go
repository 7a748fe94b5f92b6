package syntax

import (
	"runtime"
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
			code := "s := `\n" + strings.Repeat("%time\n!ls x\nx?\n", n) + "`\n!ls"
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
