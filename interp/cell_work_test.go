package interp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"halfnote/internal/testenv"
	"halfnote/interp/internal/front"
)

// numbered returns n parts, in which %d is their number.
func numbered(n int, part string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(part, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// A shape is a cell of any size. least is a size at which the constant costs of a cell do not count.
type shape struct {
	name  string
	least int
	code  func(n int) string
}

var shapes = []shape{
	{"index expressions in each other", 100, nested("xs := []int{0}\n", "xs[", "0", "]")},
	{"function literals in each other", 30, nested("", "func() {\n", "", "}()\n")},
	{"calls in each other", 100, nested("func f(x int) int { return x }\n", "f(", "0", ")")},
	{"ifs in each other", 200, nested("", "if true {\n", "", "}\n")},
	{"loops in each other", 100, nested("", "for range 1 {\n", "", "}\n")},
	{"parentheses in each other", 400, nested("", "(", "1", ")")},
	{"literals in each other", 100, nested("type L struct{ in []L }\nl := ", "L{[]L{", "", "}}")},
	{"slices of slices", 400, nested("var s ", "[]", "int", "")},
	{"functions of functions", 100, nested("var f ", "func(", "", ")")},
	{"a sum", 400, nested("x := 1\nx", " + x", "", "")},
	{"a conjunction", 400, nested("x := true\nx", " && x", "", "")},
	{"chained calls", 200, nested("type C struct{}\nfunc (c C) m() C { return c }\nC{}", ".m()", "", "")},
	{"else ifs", 200, func(n int) string {
		return "x := 1\nif x == 0 {\n}" + numbered(n, " else if x == %d {\n\tx++\n}")
	}},
	{"cases", 500, func(n int) string { return "x := 1\nswitch x {\n" + numbered(n, "case %d:\n\tx++\n") + "}" }},
	{"statements", 1000, nested("x := 1\n", "x++\n", "", "")},
	{"variables", 500, func(n int) string { return numbered(n, "x%d := %d\n") }},
	{"functions that call the one before", 300, func(n int) string { return "func f0() {}\n" + numbered(n, "func g%d() { f0() }\n") }},
	{"methods", 300, func(n int) string { return "type T struct{}\n" + numbered(n, "func (T) m%d() {}\n") }},
	{"types in a ring", 200, func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "type T%d struct{ next *T%d }\n", i, (i+1)%n)
		}
		return b.String()
	}},
	{"types that double", 20, func(n int) string {
		var b strings.Builder
		b.WriteString("type T0 struct{}\n")
		for i := range n {
			fmt.Fprintf(&b, "type T%d struct{ a, b T%d }\n", i+1, i)
		}
		return b.String()
	}},
	{"fields", 500, func(n int) string { return "type T struct {\n" + numbered(n, "f%d int\n") + "}\nvar t T" }},
	{"elements", 3000, func(n int) string { return "xs := []int{" + strings.Repeat("1, ", n) + "}" }},
	{"mistakes", 500, func(n int) string { return numbered(n, "y%d\n") }},
	{"open parentheses", 3000, nested("", "(", "", "")},
	{"blocks in each other", 200, nested("", "{\n", "", "}\n")},
	{"switches in each other", 100, nested("", "switch {\ncase true:\n", "", "}\n")},
	{"selects in each other", 100, nested("", "select {\ndefault:\n", "", "}\n")},
	{"literals that use the variables around them", 30, func(n int) string {
		return numbered(n, "func() {\nx%d := %d\n") + numbered(n, "_ = x%d\n}()\n")
	}},
	{"loops with literals in each other", 30, func(n int) string {
		return numbered(n, "for i%d := range 1 {\nfunc() { _ = i%d }()\n") + strings.Repeat("}\n", n)
	}},
	{"literals that are arguments", 30, nested("", "func(f func()) { f() }(func() {\n", "", "})\n")},
	{"structs in each other", 100, nested("var s ", "struct{ a ", "int", "}")},
	{"interfaces in each other", 50, nested("var s ", "interface{ m() ", "int", "}")},
	{"maps of maps", 400, nested("var s ", "map[string]", "int", "")},
	{"pointers", 100, nested("var s ", "*", "int", "")},
	{"conversions in each other", 200, nested("x := 1\n", "int(", "x", ")")},
	{"sums in parentheses", 200, nested("x := 1\n", "x + (", "x", ")")},
	{"nots", 400, nested("x := true\n", "!", "x", "")},
	{"selectors", 400, nested("type P struct{ p *P }\nvar t P\n_ = t", ".p", "", "")},
	{"a disjunction", 400, nested("x := true\nx", " || x", "", "")},
	{"a condition of both", 200, nested("x := true\nx", " && x || x", "", "")},
	{"a conjunction of calls", 200, nested("func b() bool { return true }\nb()", " && b()", "", "")},
	{"a sum of calls", 200, nested("func b() int { return 1 }\nb()", " + b()", "", "")},
	{"joined strings", 400, nested("x := \"a\"\nx", " + x", "", "")},
	{"cases of types", 300, func(n int) string {
		return numbered(n, "type T%d int\n") + "x := any(1)\nswitch x.(type) {\n" + numbered(n, "case T%d:\n") + "}"
	}},
	{"cases of a select", 300, func(n int) string {
		return "c := make(chan int)\nselect {\n" + strings.Repeat("case <-c:\n", n) + "default:\n}"
	}},
	{"values of a case", 1000, func(n int) string { return "x := 1\nswitch x {\ncase " + numbered(n, "%d, ") + "-1:\n}" }},
	{"entries", 1000, func(n int) string { return "m := map[int]int{" + numbered(n, "%d: 1, ") + "}" }},
	{"elements that are literals", 1000, func(n int) string { return "xs := [][]int{" + strings.Repeat("{1}, ", n) + "}" }},
	{"type parameters", 50, func(n int) string { return "func f[" + numbered(n, "T%d any, ") + "]() {}" }},
	{"instances", 50, func(n int) string { return "func f[T any](x T) T { return x }\n" + numbered(n, "f([%d]int{})\n") }},
	{"parameters", 300, func(n int) string { return "func f(" + numbered(n, "a%d int, ") + ") {}" }},
	{"results", 300, func(n int) string { return "func f() (" + numbered(n, "a%d int, ") + ") { return }" }},
	{"arguments", 1000, func(n int) string { return "fmt.Sprint(" + strings.Repeat("1, ", n) + ")" }},
	{"arguments that are calls", 300, func(n int) string {
		return "func b() int { return 1 }\nvar x *int\nfmt.Sprint(" + strings.Repeat("*x, b(), ", n) + ")"
	}},
	{"assigned variables", 300, func(n int) string {
		names := strings.TrimSuffix(numbered(n, "a%d, "), ", ")
		return "var " + names + " int\n" + names + " = " + names
	}},
	{"assigned local variables", 100, func(n int) string {
		names := strings.TrimSuffix(numbered(n, "a%d, "), ", ")
		return "func f() {\nvar " + names + " int\n" + names + " = " + names + "\n}"
	}},
	{"returned variables", 100, func(n int) string {
		names := strings.TrimSuffix(numbered(n, "a%d, "), ", ")
		return "func f() (" + names + " int) {\nreturn " + names + "\n}"
	}},
	{"local variables", 100, func(n int) string { return "func f() {\n" + numbered(n, "x%d := %d\n") + "}" }},
	{"methods of an interface", 300, func(n int) string { return "type I interface {\n" + numbered(n, "m%d()\n") + "}" }},
	{"embedded fields", 30, func(n int) string {
		return "type E0 struct{ x int }\nfunc (E0) m() {}\n" + numbered(n, "type T%d struct{ E0 }\n") + numbered(n, "T%d{}.m()\n")
	}},
	{"constants", 1000, func(n int) string { return "const (\na = iota\n" + numbered(n, "c%d\n") + ")" }},
	{"imports of one package", 200, func(n int) string { return numbered(n, "import s%d \"strings\"\n") }},
	{"literals after each other", 200, func(n int) string { return strings.Repeat("func() {}()\n", n) }},
	{"literals of one variable", 200, func(n int) string { return "x := 1\n" + numbered(n, "f%d := func() int { return x }\n") }},
	{"deferred calls", 200, func(n int) string { return "func f() {}\nfunc g() {\n" + strings.Repeat("defer f()\n", n) + "}" }},
	{"labels", 200, func(n int) string { return numbered(n, "L%d:\nfor {\nbreak L%d\n}\n") }},
	{"loops after each other", 300, func(n int) string { return numbered(n, "for i := range 3 {\n_ = i\n}\n") }},
	{"a long line", 20000, func(n int) string { return "x := \"" + strings.Repeat("a", n) + "\"" }},
	{"statements in a line", 2000, func(n int) string { return "x := 1; " + strings.Repeat("x++; ", n) }},
	{"a long comment", 20000, func(n int) string { return "// " + strings.Repeat("a ", n/2) + "\nx := 1" }},
	{"comments", 3000, func(n int) string { return strings.Repeat("// a\n", n) + "x := 1" }},
}

// nested returns cells that repeat an opening text, and as often a closing one.
func nested(before, open, middle, closing string) func(n int) string {
	return func(n int) string { return before + strings.Repeat(open, n) + middle + strings.Repeat(closing, n) }
}

// TestWorkOfSource counts the bytes that the front end allocates for cells of the sizes n, 2n and 4n: they grow as the cell does. One shape in four is tried, or all under long.
func TestWorkOfSource(t *testing.T) {
	share := testenv.Share(t, 4)
	for _, engine := range tested(t) {
		for i, shape := range shapes {
			if i%share != 0 {
				continue
			}
			work := func(n int) (bytes uint64, took time.Duration) {
				s := newSessionOn(t, engine)
				files := &front.Files{}
				code := shape.code(n)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				_, _ = s.prepare(request{ctx: context.Background(), out: &recorder{}}, s.front.Input(2, code, files, false))
				took = time.Since(start)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc, took
			}
			a, took := work(shape.least)
			b, took2 := work(2 * shape.least)
			c, took4 := work(4 * shape.least)
			t.Logf("%s: %s of %d: %d, %d, %d KB, %v, %v, %v", engine, shape.name, shape.least, a>>10, b>>10, c>>10,
				took.Round(time.Millisecond), took2.Round(time.Millisecond), took4.Round(time.Millisecond))
			if c > 6*a {
				t.Errorf("%s: %s: %d, %d, %d KB for sizes of %d, twice and four times that; want linear growth", engine, shape.name, a>>10, b>>10, c>>10, shape.least)
			}
		}
	}
}
