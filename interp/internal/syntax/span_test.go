package syntax

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestSpanOf checks the fields of the checker's errors that go/types does not export. If it
// fails after an upgrade of Go, carets underline only one word.
func TestSpanOf(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", "package p\n\nvar s string = 1 + 22\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []Span
	cfg := types.Config{Error: func(err error) { got = append(got, SpanOf(err.(types.Error))) }}
	cfg.Check("p", fset, []*ast.File{f}, nil)
	if want := (Span{3, 16, 22}); len(got) != 1 || got[0] != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
