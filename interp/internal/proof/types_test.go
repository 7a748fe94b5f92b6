package proof

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// checked reports the errors of cells that are not valid Go, before they are compiled.
func checked(t *testing.T, cells []Cell) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "main.go", Program(cells), parser.SkipObjectResolution|parser.AllErrors)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: importer.Default(), Error: func(err error) { t.Error(err) }}
	conf.Check("main", fset, []*ast.File{file}, nil)
	if t.Failed() {
		t.FailNow()
	}
}
