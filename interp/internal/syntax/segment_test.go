package syntax

import "testing"

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
