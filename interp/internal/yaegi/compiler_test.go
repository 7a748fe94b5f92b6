package yaegi

import (
	"errors"
	"go/ast"
	"go/parser"
	"io"
	"testing"

	"halfnote/interp/internal/engine"
)

// TestCompilerPanic checks that a panic of the compiler becomes an error and that the engine
// can be used afterwards. The type checker would refuse the code. It is part of Y16.
func TestCompilerPanic(t *testing.T) {
	e, err := New(Options{
		Name: func(path string) string { return "p__" + path }, Stdout: io.Discard,
		Goroutine: func() uint64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	declare := func(name, src string) (engine.Program, error) {
		file, err := parser.ParseFile(e.Files(), name, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return e.Declare(t.Context(), &engine.Unit{Entry: file.Decls[len(file.Decls)-1].(*ast.FuncDecl).Name.Name, File: file, Fset: e.Files()})
	}
	_, err = declare("a", "package main; func bad() { if 5 {} }")
	if p := (*CompilerPanic)(nil); !errors.As(err, &p) {
		t.Errorf("got %v, want a panic of the compiler", err)
	}
	p, err := declare("b", "package main; var n int; func good() { n++ }")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(); err != nil {
		t.Error(err)
	}
	if v, ok := e.Slot("n"); !ok || v.Int() != 1 {
		t.Errorf("got n = %v after a run that adds 1 to 0, want 1", v)
	}
}
