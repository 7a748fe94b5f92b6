package core

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/lower"
)

// TestTable checks that the table is sorted and that each form that it lists has a name and a proof.
func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(Table, func(x, y Row) int { return strings.Compare(x.Form, y.Form) }) {
		t.Error("the table is not sorted by form")
	}
	for _, r := range Table {
		if r.Name == "" || r.Kinds == 0 {
			t.Errorf("incomplete row: %+v", r)
		}
		if _, err := os.Stat("../../../testdata/" + r.Proof + ".txtar"); err != nil {
			t.Errorf("the proof of %s is not a script: %v", r.Form, err)
		}
	}
	if got := len(positionNames); beyond != 1<<got {
		t.Errorf("%d names of positions", got)
	}
	if got := len(kindNames); beyondKinds != 1<<got {
		t.Errorf("%d names of kinds", got)
	}
	if got := len(storageNames); beyondStorages != 1<<got {
		t.Errorf("%d names of storages", got)
	}
}

// TestCheck checks small units as they are, without rewrites.
func TestCheck(t *testing.T) {
	const declarations = `
type T struct{ A int }
type set map[string]bool
type handler func(int) int
type holder struct{ f func() int; g func() any }
func has(m map[string]bool, k string) bool { return m[k] }
func list(xs ...any) int { return len(xs) }
func two() (any, int) { return 1, 2 }
`
	for _, c := range []struct{ code, want string }{
		{"func f(x, y int) int { return x + y*2 }", ""},
		{"func f() T { return T{1} }", ""},
		{"func f() { var v T; v = T{1}; _ = v }", "a struct literal assigned to a local variable"},
		{"var v T\nfunc f() { v = T{1} }", "a struct literal assigned to a variable of the session"},
		{"func f() (r T) { defer func() { r = T{1} }(); return }", "a struct literal assigned to a variable that a function literal shares or that is a named result"},
		{"func f(p *T, xs []T) { *p = T{1}; xs[0] = T{2} }", ""},
		{"func f(y bool) bool { return y && has(map[string]bool{}, \"a\") }", ""},
		{"func f(y bool) bool { return has(map[string]bool{}, \"a\") && y }", "a map literal, start of the left operand of && or ||"},
		{"func f(y bool) bool { return len(set{}) == 0 || y }", "a map literal, start of the left operand of && or ||"},
		{"func f(y bool, x int) bool { return x+1 == len(set{}) || y }", ""},
		{"func f(y bool, s set) bool { return has((map[string]bool)(s), \"a\") && y }", "a type in parentheses, start of the left operand of && or ||"},
		{"func f(y bool, v any) bool { return v.(func() bool)() && y }", "a func type, start of the left operand of && or ||"},
		{"func f(y bool) bool { return struct{ A bool }{true}.A && y }",
			"a literal of an unnamed struct type, start of the left operand of && or ||\na struct type, start of the left operand of && or ||"},
		{"func f(h holder) (int, error) { return h.f(), nil }", "a call of a field, operand of return beside others"},
		{"func f(h holder) any { return h.g() }", "a call of a field, operand of return for a result of interface type"},
		{"func f(h holder) int { return h.f() }", ""},
		{"func f(m map[int]map[int]handler) handler { return m[0][1] }", "an element of a map, operand of return with operands, for a result of a named func type"},
		{"func f(h handler) handler { return h }", ""},
		{"func f(row []any) int { return list(row) }", "a variable, variadic argument of the type of the whole list"},
		{"func f(row []any) int { return list(row...) + list(1, row) }", "a variable, variadic argument of the type of the whole list"},
		{"func f(x int, k int) { switch x { case k + 1: } }", "arithmetic, expression of a case"},
		{"func f(x int, k int) { switch x { case 1, k: } }", "a variable, one of several expressions of a case"},
		{"func f(x int) { switch x { case 1, 2: } }", ""},
		{"func f(cs []chan int) { for _, c := range cs { c <- 1 } }", "a loop over a slice of kind channel"},
		{"func f(cs []chan int) { for i := range cs { cs[i] <- 1 } }", ""},
		{"func f() *[]int { return &[]int{1} }", "a form of Go that the interpreter has not been shown to run right (address.lit.place)"},
		{"func f(p uintptr) { p++ }", "++ and -- of kind uintptr"},
		{"func f(x any) { _ = x.(struct{}) }", "a type assertion of kind struct{}"},
		{"func f(a, b any) { a, b = b, a }", "a parallel assignment of kind interface"},
		{"func f(a, b int) { a, b = b, a }", ""},
		{"func f(m map[string]any) { var n int; m[\"k\"], n = two(); _ = n }", "an element of a map, left side of an assignment of several results"},
		{"func f(xs []int, g func() int) { xs[0] += g() }", "a form of Go that the interpreter has not been shown to run right (assign.op.call)"},
		{"func f(b holder) { var g func() int; b.f, g = func() int { return 1 }, func() int { return 2 }; _ = g }",
			"a parallel assignment of kind func\na function literal, right side of a parallel assignment\na function literal, right side of a parallel assignment"},
		{"func f() { for i := range 3 { _ = i } }", "a form of Go that the interpreter has not been shown to run right (range.int)"},
		{"func f(x int) { switch x { case 1: ; } }", "a form of Go that the interpreter has not been shown to run right (clause.empty)"},
	} {
		var got []string
		Report(unit(t, declarations+c.code), func(r Refusal) {
			got = append(got, strings.TrimSuffix(r.What, advice))
			if !r.Pos.IsValid() {
				t.Errorf("%s\nhas no position", c.code)
			}
		})
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s\ngot  %q\nwant %q", c.code, got, c.want)
		}
	}
}

func unit(t testing.TB, src string) *lower.Unit {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", "package main\n"+src, 0)
	if err != nil {
		t.Fatal(err)
	}
	u := &lower.Unit{Tree: lower.Tree{File: f, Fset: fset, Info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}}
	cfg := types.Config{Importer: importer.Default()}
	if u.Pkg, err = cfg.Check("main", fset, []*ast.File{f}, u.Info); err != nil {
		t.Fatal(err, src)
	}
	return u
}
