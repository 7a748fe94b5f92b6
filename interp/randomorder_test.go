package interp

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

var orderCases = flag.Int("ordercases", 0, "the number of cases of TestRandomOrder, if it is not the usual one")

// orderPrelude declares what the cases of TestRandomOrder use.
const orderPrelude = `type point struct{ x, y int }
//go:noinline
func (p *point) sum(a, b int) int { fmt.Println("sum"); return a + b }
//go:noinline
func (p point) plus(a, b int) int { return p.x + a + b }
type celsius int
func (c celsius) String() string { return fmt.Sprint(int(c), "°") }
type adder interface{ plus(int, int) int }
//go:noinline
func f(s string, n int) int { fmt.Println(s); return n }
//go:noinline
func word(s string) string { fmt.Println(s); return s }
//go:noinline
func yes(s string) bool { fmt.Println(s); return true }
//go:noinline
func two(a, b int) int { return a - b }
//go:noinline
func three(a any, b int, s string) int { return b }
//go:noinline
func pair(p, q point) int { return p.x - q.y }
//go:noinline
func all(n ...int) int { return len(n) }
//go:noinline
func double(n int) (int, int) { fmt.Println("double"); return n, 2 * n }
//go:noinline
func id[T any](x T) T { return x }
func roomy(n int) chan int { return make(chan int, 3) }
func full(n int) chan int { c := make(chan int, 1); c <- n; return c }
func values(n ...int) (int, int, int, int) { return n[0], n[1], n[2], n[3] }`

// orderVars are the variables of a case. Some operations on them panic: those with b, i, neg and the variables that are nil.
const orderVars = `a, b, i, neg := values(1, 0, 5, -1)
xs, ys, arr, text := []int{1, 2, 3, 4}, []int{5, 6}, [3]int{7, 8, 9}, "héllo"
var none map[int]int
m, keyed, words := map[int]int{1: 10, 2: 20}, map[any]int{1: 3}, map[string]int{"a": 4}
var v, bad any = "word", []int{1}
var p, q *int; q = &xs[2]
var np, okp *point; okp = &point{3, 4}
var na *[3]int
var nf func(int) int
oks, pts, fns, empty := []adder{okp, nil, okp}, []point{{1, 2}, {3, 4}}, []func(int) int{nil, func(n int) int { a += n; return n }}, [0]int{}
var ni, oki adder; oki = okp
var pt = point{5, 6}
var c = make(chan int, 9); for n := range 9 { c <- n }
var degrees celsius = 3
change := func(n int) int { a += n; xs[1] += n; pt.x += n; arr[1] += n; degrees++; text += "!"; v = a; return a }
defer func() { fmt.Println(recover(), a, xs, ys, arr, m, len(keyed), keyed[1], words, *okp, pt, text, len(c), degrees, v) }()
_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _ = b, i, neg, none, bad, p, q, np, na, nf, ni, oki, change, v, oks, pts, fns, empty
`

// orderForms lists forms of operands by type: $type$ stands for an operand, # for a number.
var orderForms = map[string][]string{
	"int": {"#", "a", "xs[1]", "pt.x", "*q", "okp.y", "len(ys)", "m[2]", "arr[1]",
		"f(\"call #\", #)", "f(\"call #\", #)", "change(#)", "<-c", "xs[i+#]", "ys[neg]", "arr[i+#]", "a/b", "a%b", "a<<neg", "a>>neg", "*p", "np.x", "np.y", "na[2]", "v.(int)", "int(bad.(celsius))", "[2]int(ys)[1]", "[4]int(ys)[1]", "nf(#)", "keyed[bad]", "ni.plus(1, 2)",
		"($int$ + $int$)", "($int$ * $int$)", "($int$ - $int$)", "-($int$)", "two($int$, $int$)", "two($int$, $int$)", "all($int$, $int$)", "three($any$, $int$, $string$)", "pair($point$, $point$)", "xs[$int$]", "arr[$int$&1]", "m[$int$]", "keyed[$any$]", "words[$string$]",
		"$point$.x", "($point$).plus($int$, $int$)", "okp.sum($int$, $int$)", "oki.plus($int$, $int$)", "oks[$int$].plus($int$, $int$)", "pts[$int$].sum($int$, $int$)", "pts[$int$].plus($int$, $int$)", "fns[$int$]($int$)", "empty[b+$int$]", "(&point{$int$, $int$}).y", "[]int{$int$, $int$}[0]", "[2]int{$int$, $int$}[1]", "map[int]int{$int$: $int$}[1]", "map[any]int{$any$: $int$}[1]", "len([]int{$int$, $int$})",
		"min($int$, $int$)", "any($int$).(int)", "<-full($int$)", "func() int { return $int$ }()", "func(n int) int { return n }($int$)", "append([]int{$int$}, $int$, $int$)[0]", "append(xs, $int$, $int$)[1]", "len($string$)", "int($string$[$int$])", "len(xs[$int$:])", "len(ys[$int$:$int$])",
		"$int$ / id($int$)", "$int$ << id($int$)", "int(int8($int$))", "id($int$)", "copy(xs[$int$:], []int{$int$})", "struct{ a, b int }{$int$, $int$}.b", "[]point{{$int$, $int$}, {x: $int$}}[0].x", "int($celsius$)", "make([]int, $int$&3)[$int$]"},
	"string":  {"text", "\"a\"", "word(\"word #\")", "text[i+#:]", "v.(string)", "($string$ + $string$)", "string(rune($int$&63 + 33))", "fmt.Sprint($int$, $any$)", "text[$int$:]", "id($string$)", "string([]byte{byte($int$&63 + 33), 97})", "fmt.Sprintf(\"%v %v\", $int$, $int$)", "strings.Repeat($string$, $int$&1)", "$celsius$.String()"},
	"bool":    {"a == 1", "yes(\"yes #\")", "$int$ < $int$", "$int$ == $int$", "$string$ == $string$", "$any$ == $any$", "$any$ == $any$", "$point$ == $point$", "($bool$ && $bool$)", "($bool$ || $bool$)", "!($bool$)", "[2]int{$int$, $int$} == [2]int{$int$}", "$any$ == $int$", "$any$ != nil", "v == bad", "bad == bad"},
	"any":     {"v", "any(a)", "any($int$)", "any($string$)", "any($point$)", "any($bool$)", "any($celsius$)", "bad"},
	"point":   {"pt", "(*okp)", "(*np)", "point{$int$, $int$}", "point{$int$, $int$}", "point{y: $int$, x: $int$}", "id($point$)", "v.(point)", "any($point$).(point)", "[]point{$point$, pt}[$int$&1]"},
	"celsius": {"degrees", "celsius($int$)", "(degrees + celsius($int$))", "v.(celsius)", "celsius(xs[i+#])", "id(degrees)"},
	"stmt": {"fmt.Println($int$, $int$)", "fmt.Println($int$, $any$)", "fmt.Println($any$, $point$, $int$)", "fmt.Println($bool$, $int$)", "fmt.Println($string$, $bool$)", "fmt.Println($celsius$, $int$)", "fmt.Println([]any{$celsius$, $int$, $any$}...)", "two($int$, $int$)", "three($any$, $int$, $string$)", "three($celsius$, $int$, $string$)", "pair($point$, $point$)",
		"a = $int$", "a += $int$", "a, b = $int$, $int$", "a, xs[$int$] = $int$, $int$", "xs[$int$] = $int$", "xs[$int$] = $int$", "xs[$int$] += $int$", "xs[$int$], ys[$int$] = $int$, $int$", "arr[$int$] = $int$", "m[$int$] = $int$", "none[$int$] = $int$", "m[$int$] += $int$", "keyed[$any$] = $int$", "keyed[$any$] += $int$", "words[$string$] = $int$", "words[$string$]++",
		"pt = $point$", "pt.x = $int$", "np.x = $int$", "okp.x = $int$", "okp.y -= $int$", "np.y += $int$", "*p = $int$", "*q = $int$", "*p += $int$", "*okp = $point$", "*np = $point$", "na[$int$] = $int$", "pt, a = $point$, $int$", "okp.x, okp.y = $int$, $int$", "v = $any$", "v = $int$", "v = $point$", "v = $celsius$", "text += $string$", "pt.x, m[$int$] = $int$, $int$", "xs[$int$]++", "xs[$int$], m[$int$] = double($int$)", "a, ok := m[$int$]; fmt.Println(a, ok)", "a, ok := $any$.(int); fmt.Println(a, ok)",
		"x, y := $int$, $int$; fmt.Println(x, y)", "x, y := $point$, $int$; fmt.Println(x, y)", "var x, y = $int$, $any$; fmt.Println(x, y)", "x := $point$; fmt.Println(x)", "x := [2]point{$point$, $point$}; fmt.Println(x)", "x := map[int]int{$int$: $int$, $int$: $int$}; fmt.Println(x)", "x := map[string]any{$string$: $any$, \"k\": $int$}; fmt.Println(x)", "x := map[point]int{$point$: $int$}; fmt.Println(x)", "x := []any{$any$, $int$}; fmt.Println(x)", "x := struct { a any; b int }{$any$, $int$}; fmt.Println(x)",
		"fmt.Println(func() (int, int) { return $int$, $int$ }())", "fmt.Println(func() (any, int) { return $any$, $int$ }())", "fmt.Println(func() (point, string) { return $point$, $string$ }())", "fmt.Println(func() bool { return $bool$ }())", "fmt.Println(func() (r int, s int) { defer func() { recover() }(); return $int$, $int$ }())",
		"if $bool$ { fmt.Println(\"in\") }", "if x := $int$; $bool$ { fmt.Println(\"in\", x) }", "for $bool$ { fmt.Println(\"in\"); break }", "for a = $int$; a > 0; { fmt.Println(\"in\"); break }", "for x, y := $int$, $int$; ; { fmt.Println(\"in\", x, y); break }", "for n := 0; n < 2; a, n = $int$, n + 1 + $int$&1 { fmt.Println(\"in\", n) }", "for n := 0; n < 2; xs[$int$], n = $int$, n + 1 { fmt.Println(\"in\", n) }", "goto L; L: fmt.Println($int$, $int$)", "L: for { a = $int$ + $int$; break L }", "L: for a, v = $int$, $any$; ; { fmt.Println(\"in\"); break L }", "L: switch $int$ { case $int$: break L; default: fmt.Println(\"other\") }", "L: for range []int{$int$, $int$} { continue L }", "n := 0; L: a, b = $int$, $int$; if n++; n < 2 { goto L }", "for range []int{$int$, $int$} { fmt.Println(\"in\") }", "for range all($int$, $int$)&3 { fmt.Println(\"in\") }", "switch $int$ { case 1: fmt.Println(\"one\"); default: fmt.Println(\"other\") }", "switch $int$ { case $int$, $int$: fmt.Println(\"case\"); default: fmt.Println(\"other\") }", "switch { case $bool$, $bool$: fmt.Println(\"case\"); default: fmt.Println(\"other\") }", "switch x := $any$.(type) { case int: fmt.Println(x + 1); default: fmt.Println(x) }",
		"<-c; c <- $int$", "roomy($int$) <- $int$", "defer two($int$, $int$)", "defer fmt.Println($int$, $any$)", "defer okp.sum($int$, $int$)", "defer ni.plus($int$, $int$)", "delete(m, $int$)", "delete(keyed, $any$)", "ys = append(ys, $int$, $int$)", "ys = append(ys[$int$:], $int$)", "copy(xs[$int$:], ys[$int$:])", "panic($any$)", "panic(fmt.Sprint($int$, $int$))", "okp.sum($int$, $int$)", "np.sum($int$, $int$)", "np.plus($int$, $int$)", "ni.plus($int$, $int$)", "nf(two($int$, $int$))", "(*np).plus($int$, $int$)", "_ = $int$ + $int$", "_, _ = $int$, $int$", "_ = $bool$", "_ = $point$", "select { case c <- $int$: fmt.Println(\"sent\"); case roomy($int$) <- $int$: default: }", "fmt.Println(double($int$ + $int$))", "two(double($int$))"},
}

// orderCase returns the statement of a case.
func orderCase(r *rand.Rand) string {
	var expr func(typ string, depth int) string
	expr = func(typ string, depth int) string {
		list := orderForms[typ]
		for {
			form := list[r.IntN(len(list))]
			if depth <= 0 && strings.Contains(form, "$") {
				continue
			}
			for strings.Contains(form, "#") {
				form = strings.Replace(form, "#", fmt.Sprint(r.IntN(3)), 1)
			}
			parts := strings.Split(form, "$")
			for i := 1; i < len(parts); i += 2 {
				parts[i] = expr(parts[i], depth-1)
				head, _, _ := strings.Cut(strings.TrimPrefix(form, "L: "), " ")
				if (head == "if" || head == "for" || head == "switch") && strings.Contains(parts[i], "{") {
					parts[i] = "(" + parts[i] + ")" // a literal in a head
				}
			}
			return strings.Join(parts, "")
		}
	}
	return expr("stmt", 1+r.IntN(3))
}

// TestRandomOrder runs random statements whose operands print, panic and change variables, as cells and as one Go program: both print the same.
func TestRandomOrder(t *testing.T) {
	count := 300
	if testenv.Requires("long") {
		count = 6000
	}
	if *orderCases > 0 {
		count = *orderCases
	}
	r := rand.New(rand.NewPCG(*firstSeed, 40))
	var cases []string
	var source strings.Builder
	for i := range count {
		text := fmt.Sprintf("func case%d() {\n%s%s\n}", i, orderVars, orderCase(r))
		cases = append(cases, text)
		source.WriteString(text + "\n")
	}
	source.WriteString("func main() {\n")
	for i := range cases {
		fmt.Fprintf(&source, "fmt.Println(\"\\x00%d\")\ncase%d()\n", i, i)
	}
	want := compiledOutput(t, "package main\n\nimport (\"fmt\"; \"strings\")\n\nvar _ = strings.Repeat\n\n"+orderPrelude+"\n"+source.String()+"}\n")
	s := newSessionOn(t, Engines[0])
	evalAll(t, s, orderPrelude)
	failed := 0
	for i, text := range cases {
		rec := &recorder{}
		res := s.Eval(t.Context(), eval.Cell{Code: fmt.Sprintf("%s\ncase%d()", text, i), Count: i + 2}, rec)
		got := rec.printed()
		if res.Err != nil {
			got += res.Err.Name + ": " + res.Err.Value
		}
		if w := want[fmt.Sprint(i)]; strings.TrimSpace(got) != strings.TrimSpace(w) {
			if failed++; failed < 5 || os.Getenv("HALFNOTE_TEST_ALL") != "" {
				t.Errorf("case %d: %s\ngot:\n%s\nwant, as compiled Go prints:\n%s", i, strings.TrimPrefix(text[strings.Index(text, "{")+1:], "\n"+orderVars), got, w)
			}
		}
	}
	t.Logf("%d of %d cases differ", failed, count)
}
