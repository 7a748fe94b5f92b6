package native

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"halfnote/interp/internal/engine"
)

// TestInRegisters checks which loops get local variables, and the copies of literals that they call.
func TestInRegisters(t *testing.T) {
	const declared = "package main\nvar r, n int\nvar f func(int)\nvar g func()\nfunc cell() {"
	const plain, local = "for i := range n { r += i }", "{ l__r := r; for i := range n { l__r += i; r = l__r } }"
	const add = "f = func(i int) { r += i };"
	for _, c := range []struct{ in, want string }{
		{plain, local},
		{"for i := range n { g(); r += i }", ""},
		{"for i := range n { p := &r; r += i; *p = 0 }", ""},
		{"{ r := 0; " + plain + "; _ = r }", ""},
		{add + "for i := range n { f(i) }", add + "{ l__r := r; l__f := func(i int) { l__r += i; r = l__r }; for i := range n { l__f(i) } }"},
		{"for i := range n { f(i); r++ }", ""},
		{"for i := range n { f(i); r++ };" + add, ""},
		{add + add + "for i := range n { f(i) }", ""},
		{add + "g = func() { f = nil }; for i := range n { f(i) }", ""},
		{add + "_ = &f; for i := range n { f(i) }", ""},
		{add + "{ f := f; for i := range n { f(i); r++ } }", ""},
		{add + "{ r := r; for i := range n { f(i) }; _ = r }", ""},
		{"f = func(r int) { n = r }; for i := range 3 { f(i); r++ }",
			"f = func(r int) { n = r }; { l__n := n; l__f := func(r int) { l__n = r; n = l__n }; for i := range 3 { l__f(i); r++ } }"},
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "cell.go", declared+c.in+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		info := &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{},
		}
		if _, err := (&types.Config{}).Check("main", fset, []*ast.File{file}, info); err != nil {
			t.Fatal(c.in, err)
		}
		e := &Engine{shared: map[string]bool{}}
		d := file.Decls[len(file.Decls)-1].(*ast.FuncDecl)
		inRegisters(d, info, "cell", e.literals(&engine.Unit{File: file, Entry: "cell"}))
		if c.want == "" {
			c.want = c.in
		}
		want, err := parser.ParseFile(token.NewFileSet(), "want.go", "package main\nfunc cell() {"+c.want+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		oneLine := func(n ast.Node) string { return strings.Join(strings.Fields(code(n)), " ") }
		if got, want := oneLine(d.Body), oneLine(want.Decls[0].(*ast.FuncDecl).Body); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", c.in, got, want)
		}
	}
}
