package interp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

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

// shapes are cells of any size. least is a size at which the constant costs of a cell do not count.
var shapes = []struct {
	name  string
	least int
	code  func(n int) string
}{
	{"index expressions in each other", 100, func(n int) string {
		return "xs := []int{0}\n" + strings.Repeat("xs[", n) + "0" + strings.Repeat("]", n)
	}},
	{"function literals in each other", 30, func(n int) string { return strings.Repeat("func() {\n", n) + strings.Repeat("}()\n", n) }},
	{"calls in each other", 100, func(n int) string {
		return "func f(x int) int { return x }\n" + strings.Repeat("f(", n) + "0" + strings.Repeat(")", n)
	}},
	{"ifs in each other", 200, func(n int) string { return strings.Repeat("if true {\n", n) + strings.Repeat("}\n", n) }},
	{"loops in each other", 100, func(n int) string { return strings.Repeat("for range 1 {\n", n) + strings.Repeat("}\n", n) }},
	{"parentheses in each other", 400, func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }},
	{"literals in each other", 100, func(n int) string {
		return "type L struct{ in []L }\nl := " + strings.Repeat("L{[]L{", n) + strings.Repeat("}}", n)
	}},
	{"slices of slices", 400, func(n int) string { return "var s " + strings.Repeat("[]", n) + "int" }},
	{"functions of functions", 200, func(n int) string { return "var f " + strings.Repeat("func(", n) + strings.Repeat(")", n) }},
	{"a sum", 400, func(n int) string { return "x := 1\nx" + strings.Repeat(" + x", n) }},
	{"a conjunction", 400, func(n int) string { return "x := true\nx" + strings.Repeat(" && x", n) }},
	{"chained calls", 200, func(n int) string {
		return "type C struct{}\nfunc (c C) m() C { return c }\nC{}" + strings.Repeat(".m()", n)
	}},
	{"else ifs", 400, func(n int) string {
		return "x := 1\nif x == 0 {\n}" + numbered(n, " else if x == %d {\n\tx++\n}")
	}},
	{"cases", 1000, func(n int) string { return "x := 1\nswitch x {\n" + numbered(n, "case %d:\n\tx++\n") + "}" }},
	{"statements", 2000, func(n int) string { return "x := 1\n" + strings.Repeat("x++\n", n) }},
	{"variables", 1000, func(n int) string { return numbered(n, "x%d := %d\n") }},
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
	{"open parentheses", 3000, func(n int) string { return strings.Repeat("(", n) }},
}

// TestWorkOfSource counts the bytes that the front end allocates for cells of the sizes n, 2n and 4n: they grow as the cell does.
func TestWorkOfSource(t *testing.T) {
	for _, engine := range tested(t) {
		for _, shape := range shapes {
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
