package lower

import (
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"halfnote/interp/internal/dynamic"
)

// TestRewrites checks the output of some rewrites on small functions. The scripts of package
// interp test how the output behaves.
func TestRewrites(t *testing.T) {
	for _, c := range []struct{ needs, in, want string }{
		{"rangeint", "func f(n int) { for i := range n { println(i) } }",
			"func f(n int) { for i, n__2 := 0, n; i < n__2; i++ { println(i) } }"},
		{"rangeint", "func f() { for range 3 {} }",
			"func f() { for i__1, n__2 := 0, 3; i__1 < n__2; i__1++ {} }"},
		{"loopvar", "func f() { for i := 0; i < 3; i++ { g(func() int { return i }) } }\nfunc g(func() int) {}",
			"func f() { for i__1 := 0; i__1 < 3; i__1++ { i := i__1 g(func() int { return i }) i__1 = i } } func g(func() int) {}"},
		{"loopvar", "func f() { for i := 0; i < 3; i++ { println(i) } }",
			"func f() { for i := 0; i < 3; i++ { println(i) } }"},
		{"minmax", "func f(a, b float32) float32 { return min(a, b, 0) }",
			"func f(a, b float32) float32 { return p__kernel__.Min_float32(a, b, 0) }"},
		{"constants", "const k = 1 << 70\nfunc f() int { return k >> 68 }",
			"const k = 1180591620717411303424 func f() int { return 4 }"},
		{"interfaces", "type D int\nfunc f(d D) any { return d }",
			"type D int func f(d D) interface {} { return p__kernel__.Box(d, \"D\") }"},
		{"interfaces", "type S struct{ I }\ntype I interface{ M(int) }\nfunc f(s S) { s.M(1) }",
			"type S struct { I \"halfnote:\\\"N S\\\"\" } type I interface {} func f(s S) { call__0_0(s.I, 1) } " +
				"func call__0_0(r__ interface {}, a__0 int) { p__kernel__.Method(r__, \"M\").(func(interface {}, int))(r__, a__0) }"},
		{"interfaces", "func f(x any) (int, bool) { n, ok := x.(int); return n, ok && x == x.(any) }",
			"func f(x interface {}) (int, bool) { n, ok := x.(int) return n, ok && p__kernel__.Equal(x, p__kernel__.Assert(x, \"interface {}\")) }"},
		{"assign", "func f(n int) { for i, e := 1, 2; i < n; i, e = i+1, g(e) {} }\nfunc g(n int) int { return n }",
			"func f(n int) { for i, e := 1, 2; i < n; func() { o__1 := g(e) o__2 := i + 1 i = o__2 e = o__1 }() {} } func g(n int) int { return n }"},
		{"variadic", "type S []S\nfunc f(s S) S { g(s); g(s...); return append(s, s) }\nfunc g(...S) {}",
			"type S []S func f(s S) S { g([]S{s}...) g([]S(s)...) return append(s, S{s}...) } func g(...S) {}"},
		{"funcvalue", "func f() func() { return g }\nfunc g() {}",
			"func f() func() { var f__1 func() = g return f__1 } func g() {}"},
		{"variabletypes", "var v []struct{ A int }\nvar f func(n, m int) (ok bool)",
			"type v__type = []struct{ A int } var v v__type var f func(int, int) bool"},
		{"newvalue", "func f() *int { return new(3) }",
			"func f() *int { return func(v__ int) *int { return &v__ }(3) }"},
		{"shift", "func f(x uint8, n int) uint8 { return x << (n + 1) >> n }",
			"func f(x uint8, n int) uint8 { return x << int((n + 1)) >> n }"},
		{"shift", "func f(x int, n uint8) int { return x << (1 << n) }",
			"func f(x int, n uint8) int { return x << (uint(1) << n) }"},
		{"assign", "func f(x []int, i int) { i, x[i] = 1, 2 }",
			"func f(x []int, i int) { o__1 := i i = 1 x[o__1] = 2 }"},
		{"assign", "func f(x []int, i, j int) { x[i], x[j] = x[j], x[i] }",
			"func f(x []int, i, j int) { o__1 := x[j] o__2 := x[i] x[i] = o__1 x[j] = o__2 }"},
		{"assign", "func f(n int) { for i, j := 0, n; i < j; i, j = i+1, j-1 {} }",
			"func f(n int) { for i, j := 0, n; i < j; i, j = i+1, j-1 {} }"},
		{"assign", "func f(m map[int]int, v int, ok any) { v, ok = m[v] }",
			"func f(m map[int]int, v int, ok any) { r__1, r__2 := m[v] if !r__2 { var zero__3 int r__1 = zero__3 } v = r__1 ok = r__2 }"},
		{"assign", "func f(x any) int { if v, ok := x.(int); ok { return v }; v, _ := x.(int); return v }",
			"func f(x any) int { if v, ok := x.(int); ok { return v } v, ok__1 := x.(int) if !ok__1 { var zero__2 int v = zero__2 } return v }"},
		{"assign", "func f(m map[int]int) int { if v, ok := m[1]; ok { return v } else { return v } }",
			"func f(m map[int]int) int { { v, ok := m[1] if !ok { var zero__1 int v = zero__1 } if ok { return v } else { return v } } }"},
		{"assign", "type T struct{ a int }\nfunc f(t T) { t = T{1} }", "type T struct{ a int } func f(t T) { o__1 := T{1} t = o__1 }"},
		{"assign", "func f(p uintptr) { p++ }", "func f(p uintptr) { p += 1 }"},
		{"return", "func f(g func() int) (int, error) { return g(), nil }",
			"func f(g func() int) (int, error) { o__1 := g() return o__1, nil }"},
		{"return", "func f(g func() any) any { return g() }", "func f(g func() any) any { o__1 := g() return o__1 }"},
		{"return", "func f(n int) int { return f(n - 1) + f(n - 2) }", "func f(n int) int { return f(n-1) + f(n-2) }"},
		{"logical", "func f(g func([]int) bool) bool { return g([]int{1}) && g(nil) || g(nil) }",
			"func f(g func([]int) bool) bool { return (true && g([]int{1})) && g(nil) || g(nil) }"},
		{"empty", "func f(n int) { switch n { case 1: ; default: ; } }", "func f(n int) { switch n { case 1: default: } }"},
		{"rangevalue", "func f(m map[int]chan int) { L: for _, c := range m { close(c); continue L } }",
			"func f(m map[int]chan int) { { o__1 := m L: for k__2 := range o__1 { c, ok__3 := o__1[k__2] if !ok__3 { continue } close(c) continue L } } }"},
		{"switch", "func f(n int) { switch { default: f(0); case n == 1, n == 2: f(1) } }",
			"func f(n int) { switch { case n == 1 || n == 2: f(1) default: f(0) } }"},
		{"switch", "func f(n int) { switch { case n == 1: fallthrough; default: f(0); case n == 2: f(2) } }",
			"func f(n int) { { clause__1 := 1 switch { case n == 1: clause__1 = 0 case n == 2: clause__1 = 2 } " +
				"switch { case clause__1 == 0: fallthrough case clause__1 == 1: f(0) default: f(2) } } }"},
		{"elements", "const k = 1\nvar x = [...]int{k + 1: 3}", "const k = 1 var x = [3]int{2: 3}"},
		{"dropped", "func f(a int) { _ = a == 1 }", "func f(a int) { v__1 := a == 1 _ = v__1 }"},
		{"rangestring", "func f(s string) { for i := range s { println(i) } }",
			"func f(s string) { for s__1, i__2, r__3, w__4 := s, 0, rune(0), 0; i__2 < len(s__1); i__2 += w__4 { r__3, w__4 = p__kernel__.Rune(s__1, i__2) i := i__2 println(i) } }"},
		{"rangeassign", "func f(k int) { for k = range map[int]int{} {} }",
			"func f(k int) { for k__1 := range map[int]int{} { k = k__1 } }"},
		{"arraylen", "func f(p *[4]int) { for range p {} }", "func f(p *[4]int) { for range 4 {} }"},
		{"print", "func f(x any) { println(1, x) }",
			"func f(x any) { p__kernel__.Println(1, p__kernel__.Iface(x)) }"},
		{"recover", "func f() any { return recover() }", "func f() any { return p__kernel__.Keep(recover()) }"},
		{"go", "func f(c chan int, g func(int)) { go g(len(c)) }",
			"func f(c chan int, g func(int)) { { f__1 := g arg__2 := len(c) p__kernel__.Go(func() { f__1(arg__2) }, 1) } }"},
		{"go", "func f(c chan int, g func(int, int)) { go g(len(c), cap(<-h())) }; func h() chan []int { return nil }",
			"func f(c chan int, g func(int, int)) { { arg__3 := cap(<-h()) f__1 := g arg__2 := len(c) p__kernel__.Go(func() { f__1(arg__2, arg__3) }, 1) } } " +
				"func h() chan []int { return nil }"},
		{"switch", "func f(v any) { switch v { case 1, nil: } }",
			"func f(v any) { switch tag__1 := v; { case tag__1 == 1 || tag__1 == nil: } }"},
		{"switch", "func f(v any) { L: switch x := 1; v { case x: break L } }",
			"func f(v any) { { x := 1 tag__1 := v L: switch { case tag__1 == x: break L } } }"},
		{"results", "func f() (n int, _ error) { n++; return }",
			"func f() (int, error) { var n int var result__1 error n++ return n, result__1 }"},
		{"results", "func f() (n int) { defer g(&n); return 1 }\nfunc g(*int) {}",
			"func f() (n int) { var zero__1 int n = zero__1 defer g(&n) return 1 } func g(*int) {}"},
		{"return", "func f() (a, b int) { defer f(); return b, a }", "func f() (a, b int) { defer f() o__1 := b o__2 := a return o__1, o__2 }"},
		{"order", "func f(s []byte, n int) []byte { return append(s[:n], 1, s[n]) }",
			"func f(s []byte, n int) []byte { return append(s[:n], []byte{1, s[n]}...) }"},
		{"assign", "func f(x []int, g func() int) { x[g()] += g() }", "func f(x []int, g func() int) { o__1 := g() o__2 := g() x[o__1] += o__2 }"},
		{"dropped", "func f(p *int) { _ = *p }", "func f(p *int) { v__1 := *p _ = v__1 }"},
		{"assign", "func f(g func() int) (a, b int) { a, b = g(), g(); return }",
			"func f(g func() int) (a, b int) { o__1 := g() o__2 := g() a = o__1 b = o__2 return }"},
		{"defer", "func f(g func(int)) { defer g(len(\"a\")) }",
			"func f(g func(int)) { defers__1 := p__kernel__.Defers() defer func() { defers__1.Run(recover()) }() f__2 := g defers__1.PushCall(2, func() { f__2(len(\"a\")) }) }"},
		{"defer", "func f() { defer func() { recover() }() }",
			"func f() { defers__1 := p__kernel__.Defers() defer func() { defers__1.Run(recover()) }() defers__1.Push(func() { defers__1.Recover() }) }"},
		{"defer", "func f() any { return recover() }",
			"func f() any { called__1 := p__kernel__.Called() return called__1.Recover() }"},
		{"depth", "func f() { g := func() {}; g(); h(func() {}) }\nfunc h(func())",
			"func f() { g := func() {} *p__kernel__.Calls-- if *p__kernel__.Calls < 0 { p__kernel__.Call(p__kernel__.Calls, 1) } g() h(func() { if *p__kernel__.Flag != 0 { p__kernel__.Poll(2) } }) } func h(func())"},
		{"depth", "func f() func() { g := func() {}; g(); return g }",
			"func f() func() { g := func() { if *p__kernel__.Flag != 0 { p__kernel__.Poll(2) } } *p__kernel__.Calls-- if *p__kernel__.Calls < 0 { p__kernel__.Call(p__kernel__.Calls, 1) } g() return g }"},
		{"poll", "func f() { for {} }",
			"func f() { for { if *p__kernel__.Flag != 0 { p__kernel__.Poll(1) } } }"},
	} {
		t.Run(c.needs, func(t *testing.T) {
			u := unit(t, c.in)
			if err := u.Lower([]string{c.needs}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range u.File.Decls {
				got = append(got, Print(d))
			}
			text := strings.Join(strings.Fields(strings.Join(got, " ")), " ")
			text = space.ReplaceAllString(text, `halfnote:\"N `)
			if text = strings.ReplaceAll(text, "{ }", "{}"); text != c.want {
				t.Errorf("%s\ngot  %s\nwant %s", c.in, text, c.want)
			}
		})
	}
}

// space matches the number of the space of types, which depends on earlier tests.
var space = regexp.MustCompile(`halfnote:\\"\d+ `)

func unit(t *testing.T, src string) *Unit {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", "package main\n"+src, 0)
	if err != nil {
		t.Fatal(err)
	}
	u := &Unit{
		Tree: Tree{File: f, Fset: fset, Info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Instances: map[*ast.Ident]types.Instance{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		}},
		Names: Names{
			Types:  dynamic.NewSpace(),
			Name:   func(o *types.TypeName) (ast.Expr, error) { return ast.NewIdent(o.Name()), nil },
			Import: func(path string) string { return path },
			Var:    func(path, name string) (string, bool) { return "", false },
		},
		FirstMark: 1,
	}
	cfg := types.Config{Importer: importer.Default()}
	if u.Pkg, err = cfg.Check("main", fset, []*ast.File{f}, u.Info); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestConstant checks that the expression for a constant has the value of the constant.
func TestConstant(t *testing.T) {
	for _, src := range []string{"1", "-7", "1 << 100", "0.1", "1.0/3", "-1e300", "2.5i + 1", "\"é\\n\"", "true", "3.0"} {
		want, err := types.Eval(token.NewFileSet(), nil, token.NoPos, src)
		if err != nil {
			t.Fatal(err)
		}
		text := Print(Constant(want.Value))
		got, err := types.Eval(token.NewFileSet(), nil, token.NoPos, text)
		if err != nil {
			t.Errorf("%s was written as %s: %v", src, text, err)
		} else if !constant.Compare(got.Value, token.EQL, want.Value) {
			t.Errorf("%s was written as %s, which is %v", src, text, got.Value)
		}
	}
}
