package library

import (
	"testing"
	"testing/fstest"
)

// TestDeclaration checks which text shows the declaration of a name.
func TestDeclaration(t *testing.T) {
	files := fstest.MapFS{
		"p/a.go":         {Data: []byte("package p\n\n// F is a function.\nfunc F() int { return 1 }\n\ntype (\n\tT struct{ X int }\n\tU int\n)\n\nconst (\n\tA = 1\n\tB = 2\n)\n")},
		"p/b.go":         {Data: []byte("package p\n\nfunc (t *T) M() {}\n\nfunc (T) m() {}\n\nfunc (l L[E]) F() {}\n\ntype L[E any] []E\n")},
		"p/a_test.go":    {Data: []byte("package p\n\nfunc G() {}\n")},
		"p/a_plan9.go":   {Data: []byte("package p\n\nfunc H() {}\n")},
		"p/tagged.go":    {Data: []byte("//go:build never\n\npackage p\n\nfunc I() {}\n")},
		"p/incorrect.go": {Data: []byte("package p\n\nfunc F( {}\n")},
	}
	tests := []struct{ name, text, file string }{
		{"F", "func F() int { return 1 }", "p/a.go"},
		{"T", "type T struct{ X int }\n\nfunc (t *T) M() {}", "p/a.go"},
		{"T.M", "func (t *T) M() {}", "p/b.go"},
		{"T.X", "type T struct{ X int }", "p/a.go"},
		{"U", "type U int", "p/a.go"},
		{"B", "const (\n\tA = 1\n\tB = 2\n)", "p/a.go"},
		{"L", "type L[E any] []E\n\nfunc (l L[E]) F() {}", "p/b.go"},
		{"L.F", "func (l L[E]) F() {}", "p/b.go"},
		{"G", "", ""},
		{"H", "", ""},
		{"I", "", ""},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		if text, file := Declaration(files, "p", tt.name); text != tt.text || file != tt.file {
			t.Errorf("Declaration(%q): got %q in %q, want %q in %q", tt.name, text, file, tt.text, tt.file)
		}
	}
	if text, _ := Declaration(files, "q", "F"); text != "" {
		t.Errorf("unknown folder: got %q", text)
	}
}
