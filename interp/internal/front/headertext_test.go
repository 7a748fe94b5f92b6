package front

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestHeaders checks that declarations mean the same after they have been text, and that renaming changes the identifiers that denote the binding and no others.
func TestHeaders(t *testing.T) {
	const source = `package main
type (
	T struct { a, b int; T2 ` + "`tag:\"x\"`" + `; c chan (<-chan T2); d <-chan (chan<- int) }
	T2 = []map[string]*T
	I interface { M(x int, y ...string) (n int, err error); ~int | ~string }
	J interface { error; N() }
	G[K comparable, V any] struct { m map[K]V; f func(K) func() V }
	A[X any] = []X
	F func(func(int) chan int, ...any) (a, b struct{})
	R [3][]([2]R2)
	R2 *R
)
const (
	C = 1 << 70
	D float32 = -2.5
	E = 'x'
	S = "a\x00\"\n"
	Z = 1i
)
var (
	x int
	y, z = any(1), func(T) *T { return nil }
)
func f(x int, t *T, _ string) (int, T2) { return 0, nil }
func g[X ~int | ~string, Y interface{ *X }](x X, y ...Y) (r G[string, X]) { return r }
func h()`
	fset := token.NewFileSet()
	check := func(f *ast.File) *types.Package {
		t.Helper()
		p, err := (&types.Config{Importer: importer.Default(), IgnoreFuncBodies: true}).Check("main", fset, []*ast.File{f}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	file, err := parser.ParseFile(fset, "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := check(file)
	ground := token.Pos(fset.AddFile("earlier", -1, 0).Base())
	old := p.Scope().Lookup("T")
	denoted := &Binding{Name: "T"}
	again := &ast.File{Package: ground, Name: ast.NewIdent("main")}
	references := 0
	for _, name := range p.Scope().Names() {
		o := p.Scope().Lookup(name)
		w := newHeading()
		decls, err := headerOf(o, func(o *types.TypeName) (ast.Expr, error) {
			id := ast.NewIdent(o.Name())
			if o == old {
				w.refer(id, denoted)
			}
			return id, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if o == old {
			w.refer(declared(decls)[0], denoted)
		}
		h := w.header(decls...)
		references += len(h.refs)
		if back := h.renamed(denoted, "Other").renamed(denoted, "T"); back.text != h.text {
			t.Errorf("%s: renamed twice: %s\nwant %s", name, back.text, h.text)
		}
		again.Decls = append(again.Decls, h.renamed(denoted, "Other").Decls(ground)...)
	}
	for _, id := range identifiers(again.Decls) {
		if id.Pos() != ground {
			t.Errorf("%s is at %d, want %d", id.Name, id.Pos(), ground)
		}
		if id.Name == "Other" {
			references--
			id.Name = "T"
		}
	}
	if references != 0 {
		t.Errorf("%d references have not been renamed", references)
	}
	q := check(again)
	plain := func(*types.Package) string { return "" }
	for _, name := range p.Scope().Names() {
		want, got := types.ObjectString(p.Scope().Lookup(name), plain), types.ObjectString(q.Scope().Lookup(name), plain)
		if got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
