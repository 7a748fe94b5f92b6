package proof

import (
	"slices"
	"strings"
)

// A kind is a type with two values.
type kind struct {
	name  string
	typ   string
	a, b  string // expressions of the type
	raw   string // the second value without its type, where the context gives one; "" for b
	show  string // expression of the text of x; "" for fmt.Sprint(x)
	decls string // declarations that the type needs
	flags string // c: comparable; k: key of a map without a panic; n: nil is a value
}

const fn = "func(x int) int { return x "

var kinds = []kind{
	{"bool", "bool", "true", "(1 < 0)", "false", "", "", "ck"},
	{"int", "int", "3", "-5", "", "", "", "ck"},
	{"int8", "int8", "int8(3)", "int8(-5)", "-5", "", "", "ck"},
	{"int16", "int16", "int16(3)", "int16(-5)", "-5", "", "", "ck"},
	{"int32", "int32", "int32(3)", "int32(-5)", "'x'", "", "", "ck"},
	{"int64", "int64", "int64(3)", "int64(-5)", "1 << 40", "", "", "ck"},
	{"uint", "uint", "uint(3)", "uint(5)", "5", "", "", "ck"},
	{"uint8", "uint8", "uint8(3)", "uint8(250)", "250", "", "", "ck"},
	{"uint16", "uint16", "uint16(3)", "uint16(65000)", "5", "", "", "ck"},
	{"uint32", "uint32", "uint32(3)", "uint32(5)", "5", "", "", "ck"},
	{"uint64", "uint64", "uint64(3)", "uint64(5)", "1 << 60", "", "", "ck"},
	{"uintptr", "uintptr", "uintptr(3)", "uintptr(5)", "5", "", "", "ck"},
	{"float32", "float32", "float32(1.5)", "float32(-0.1)", "-0.1", "", "", "ck"},
	{"float64", "float64", "1.5", "-0.1", "2", "", "", "ck"},
	{"complex64", "complex64", "complex64(1+2i)", "complex64(3)", "2i", "", "", "ck"},
	{"complex128", "complex128", "(1 + 2i)", "complex(3, 4)", "2", "", "", "ck"},
	{"string", "string", `"a"`, `"bé"`, "", "", "", "ck"},
	{"count", "count", "count(3)", "count(-5)", "7", "fmt.Sprint(int(x), x.Size())", "type count int\nfunc (c count) Size() int { return int(c) * 2 }", "ck"},
	{"word", "word", `word("a")`, `word("b")`, `"b"`, "x.String()", "type word string\nfunc (w word) String() string { return \"<\" + string(w) + \">\" }", "ck"},
	{"flag", "flag", "flag(true)", "flag(false)", "", "", "type flag bool", "ck"},
	{"ratio", "ratio", "ratio(1.5)", "ratio(2)", "1", "", "type ratio float64", "ck"},
	{"addr", "addr", "addr(1)", "addr(2)", "2", "fmt.Sprint(uint64(x))", "type addr uintptr", "ck"},
	{"level", "level", "low", "high", "", "x.String()", "type level uint8\nconst (\nlow level = iota + 1\nhigh\n)\nfunc (l level) String() string { return fmt.Sprint(\"level \", uint8(l)) }", "ck"},
	{"duration", "time.Duration", "time.Second", "2 * time.Minute", "5", "", "", "ck"},
	{"month", "time.Month", "time.May", "time.Month(2)", "3", "", "", "ck"},

	{"pt", "pt", "pt{1, 2}", "pt{X: 6, Y: 7}", "", "fmt.Sprint(x.X, x.Y)", "", "ck"},
	{"acct", "acct", `acct{"a", 1}`, `acct{Name: "b"}`, "", "fmt.Sprint(x.Name, x.N, x.Add(2))", "type acct struct { Name string; N int }\nfunc (a *acct) Add(n int) int { a.N += n; return a.N }", "ck"},
	{"mixed", "mixed", `mixed{A: 1, C: []int{1}, D: map[string]int{"a": 1}}`, `mixed{2, "b", nil, nil, [2]int{3, 4}, nil}`, "", "fmt.Sprint(x.A, x.B, x.C, x.D, x.E, x.F == nil)", "type mixed struct { A int; B string; C []int; D map[string]int; E [2]int; F *int }", ""},
	{"boxint", "box[int]", "box[int]{1}", "box[int]{V: 2}", "", "fmt.Sprint(x.V, x.Get())", "", "ck"},
	{"boxpt", "box[pt]", "box[pt]{pt{1, 2}}", "box[pt]{pt{3, 4}}", "box[pt]{V: pt{Y: 5}}", "fmt.Sprint(x.V.X, x.Get().Y)", "", "ck"},
	{"couple", "couple[int, string]", `couple[int, string]{1, "a"}`, `couple[int, string]{B: "b"}`, "", "fmt.Sprint(x.A, x.B)", "type couple[A, B any] struct { A A; B B }", "ck"},
	{"unnamed", "struct{ A int; B string }", `struct{ A int; B string }{1, "a"}`, `struct{ A int; B string }{B: "b"}`, "", "fmt.Sprint(x.A, x.B)", "", "ck"},
	{"unnamedpt", "struct{ P pt }", `struct{ P pt }{pt{1, 2}}`, `struct{ P pt }{pt{3, 4}}`, "struct{ P pt }{P: pt{X: 5}}", "fmt.Sprint(x.P.X, x.P.Y)", "", "ck"},
	{"unnamedany", "struct{ V any }", `struct{ V any }{1}`, `struct{ V any }{"b"}`, "struct{ V any }{pt{1, 2}}", "fmt.Sprint(x.V)", "", "ck"},
	{"empty", "struct{}", "struct{}{}", "struct{}{}", "", "", "", "ck"},
	{"none", "none", "none{}", "none{}", "", "fmt.Sprint(x, x.Size())", "type none struct{}\nfunc (none) Size() int { return 8 }", "ck"},
	{"outer", "outer", `outer{pt{1, 2}, "a"}`, `outer{pt: pt{X: 3}, Name: "b"}`, "", "fmt.Sprint(x.X, x.pt.Y, x.Name, x.Sum())", "type outer struct { pt; Name string }", "ck"},
	{"outerp", "outerp", `outerp{&pt{1, 2}, 3}`, `outerp{N: 4}`, `outerp{pt: &pt{}}`, "fmt.Sprint(x.pt == nil, x.N)", "type outerp struct { *pt; N int }", "ck"},
	{"outeri", "outeri", `outeri{pt{1, 2}, 3}`, `outeri{sizer: pt{3, 4}}`, "", "fmt.Sprint(x.N, x.Size())", "type outeri struct { sizer; N int }", "ck"},
	{"clock", "clock", `clock{func() string { return "noon" }}`, `clock{Now: func() string { return "night" }}`, "", "x.Now()", "type clock struct { Now func() string }", ""},
	{"holder", "holder", `holder{1, nil}`, `holder{V: pt{1, 2}, E: errors.New("e")}`, "", "fmt.Sprint(x.V, x.E)", "type holder struct { V any; E error }", "ck"},
	{"list", "*list", `&list{1, nil}`, `&list{2, &list{V: 3}}`, "", `func() string { s := ""; for ; x != nil; x = x.Next { s += fmt.Sprint(x.V, " ") }; return s }()`, "type list struct { V int; Next *list }", "ckn"},
	{"derived", "derived", `derived{1, 2}`, `derived{Y: 4}`, "", "fmt.Sprint(x.X, x.Y)", "type derived pt", "ck"},
	{"blank", "blank", `blank{A: 1}`, `blank{A: 2}`, "", "fmt.Sprint(x.A)", "type blank struct { A int; _ int }", "ck"},
	{"time", "time.Time", "time.Time{}", "time.Unix(100, 5).UTC()", "", "x.Format(time.RFC3339)", "", ""},
	{"point", "image.Point", "image.Point{1, 2}", "image.Pt(3, 4)", "image.Point{Y: 5}", "x.String()", "", "ck"},
	{"url", "url.URL", `url.URL{Host: "a"}`, `url.URL{Scheme: "https", Host: "b"}`, "", "x.String()", "", "ck"},

	{"array", "[3]int", "[3]int{1, 2, 3}", "[3]int{2: 5}", "[...]int{7, 8, 9}", "", "", "ck"},
	{"array0", "[0]int", "[0]int{}", "[0]int{}", "", "", "", "ck"},
	{"arraypt", "[2]pt", "[2]pt{{1, 2}, {3, 4}}", "[2]pt{1: {5, 6}}", "", "fmt.Sprint(x[0].X, x[1].Y)", "", "ck"},
	{"array2", "[2][2]int", "[2][2]int{{1, 2}, {3, 4}}", "[2][2]int{1: {5, 6}}", "", "", "", "ck"},
	{"arrayany", "[2]any", `[2]any{1, "a"}`, `[2]any{nil, 2.5}`, "", "", "", "ck"},
	{"grid", "grid", "grid{{1, 2}, {3, 4}}", "grid{1: {5, 6}}", "", "fmt.Sprint(x[0], x[1][1], x.Size())", "type grid [2][2]int\nfunc (g grid) Size() int { return g[1][0] }", "ck"},
	{"arrayfn", "[2]func(int) int", "[2]func(int) int{" + fn + "+ 1 }, nil}", "[2]func(int) int{1: " + fn + "* 2 }}", "", "fmt.Sprint(x[0] == nil, x[1] == nil)", "", ""},

	{"slice", "[]int", "[]int{1, 2}", "[]int{3, 4, 5}", "nil", "fmt.Sprint(x, x == nil)", "", "n"},
	{"bytes", "[]byte", "[]byte{1, 2}", `[]byte("abc")`, "", "", "", "n"},
	{"strings", "[]string", `[]string{"a"}`, `[]string{"b", "c"}`, "", "", "", "n"},
	{"slicept", "[]pt", "[]pt{{1, 2}}", "[]pt{{3, 4}, {5, 6}}", "", "fmt.Sprint(len(x), len(x) > 0 && x[0].X > 1)", "", "n"},
	{"slicepp", "[]*pt", "[]*pt{{1, 2}}", "[]*pt{nil, {5, 6}}", "", "fmt.Sprint(len(x), len(x) > 1 && x[1].Y == 6)", "", "n"},
	{"slice2", "[][]int", "[][]int{{1}, {2, 3}}", "[][]int{nil, {4}}", "", "", "", "n"},
	{"anys", "[]any", `[]any{1, "a"}`, "[]any{nil, 2.5, true}", "", "", "", "n"},
	{"errs", "[]error", `[]error{errors.New("a")}`, `[]error{nil, io.EOF}`, "", "", "", "n"},
	{"ints", "ints", "ints{1, 2}", "ints{3}", "[]int{5, 6}", "fmt.Sprint(x.Sum(), len(x))", "type ints []int\nfunc (l ints) Sum() (s int) { for _, x := range l { s += x }; return s }", "n"},
	{"stack", "stack[string]", `stack[string]{"a"}`, `stack[string]{"b", "c"}`, `[]string{"d"}`, "fmt.Sprint(x.Len(), x)", "type stack[T any] []T\nfunc (s stack[T]) Len() int { return len(s) }", "n"},
	{"slicefn", "[]func(int) int", "[]func(int) int{" + fn + "+ 1 }}", "[]func(int) int{nil, " + fn + "* 2 }}", "", "fmt.Sprint(len(x), len(x) > 0 && x[len(x)-1](3) == 6)", "", "n"},
	{"slicech", "[]chan int", "[]chan int{full(1)}", "[]chan int{full(2), nil}", "", "fmt.Sprint(len(x), len(x) > 0 && len(x[0]) == 1)", "", "n"},
	{"sliceun", "[]struct{ A int }", "[]struct{ A int }{{1}}", "[]struct{ A int }{{2}, {3}}", "", "fmt.Sprint(len(x), len(x) > 0 && x[0].A == 2)", "", "n"},
	{"intslice", "sort.IntSlice", "sort.IntSlice{1, 2}", "sort.IntSlice{3}", "[]int{5}", "fmt.Sprint(x.Len(), x)", "", "n"},

	{"map", "map[string]int", `map[string]int{"a": 1}`, `map[string]int{"b": 2, "c": 3}`, "nil", "fmt.Sprint(x, x == nil)", "", "n"},
	{"mappt", "map[string]pt", `map[string]pt{"a": {1, 2}}`, `map[string]pt{"b": {3, 4}}`, "", `fmt.Sprint(len(x), x["b"].X, x["a"].Y)`, "", "n"},
	{"mapkey", "map[pt]string", `map[pt]string{{1, 2}: "a"}`, `map[pt]string{{3, 4}: "b"}`, "", "fmt.Sprint(len(x), x[pt{3, 4}])", "", "n"},
	{"mapslice", "map[string][]int", `map[string][]int{"a": {1}}`, `map[string][]int{"b": {2, 3}}`, "", "", "", "n"},
	{"set", "set", `set{"a": true}`, `set{"b": true}`, `map[string]bool{"c": true}`, "fmt.Sprint(x.Has(\"b\"), len(x))", "type set map[string]bool\nfunc (s set) Has(k string) bool { return s[k] }", "n"},
	{"setof", "setof[int]", "setof[int]{1: {}}", "setof[int]{2: {}, 3: {}}", "", "fmt.Sprint(x.Has(2), len(x))", "type setof[K comparable] map[K]struct{}\nfunc (s setof[K]) Has(k K) bool { _, ok := s[k]; return ok }", "n"},
	{"mapany", "map[string]any", `map[string]any{"a": 1}`, `map[string]any{"b": nil, "c": "x"}`, "", "", "", "n"},
	{"anymap", "map[any]int", `map[any]int{1: 2}`, `map[any]int{"b": 3, pt{1, 2}: 4}`, "", `fmt.Sprint(len(x), x["b"], x[pt{1, 2}])`, "", "n"},
	{"mapmap", "map[string]map[string]int", `map[string]map[string]int{"a": {"b": 1}}`, `map[string]map[string]int{"c": nil}`, "", "", "", "n"},
	{"mapfn", "map[string]func(int) int", `map[string]func(int) int{"a": ` + fn + `+ 1 }}`, `map[string]func(int) int{"b": ` + fn + `* 2 }}`, "", `fmt.Sprint(len(x), x["b"] != nil && x["b"](4) == 8)`, "", "n"},
	{"maparr", "map[[2]int]string", `map[[2]int]string{{1, 2}: "a"}`, `map[[2]int]string{{3, 4}: "b"}`, "", "", "", "n"},
	{"header", "http.Header", `http.Header{"A": {"1"}}`, `http.Header{"B": {"2", "3"}}`, "", `fmt.Sprint(len(x), x.Get("b"))`, "", "n"},

	{"func", "func(int) int", fn + "+ 1 }", fn + "* 2 }", "nil", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x(7)) }()`, "", "n"},
	{"func0", "func()", "func() {}", `func() { fmt.Println("called") }`, "", `func() string { if x == nil { return "nil" }; x(); return "ran" }()`, "", "n"},
	{"func2", "func(int, string) (string, error)", `func(i int, s string) (string, error) { return s, nil }`, `func(i int, s string) (string, error) { return fmt.Sprint(i, s), io.EOF }`, "", `func() string { if x == nil { return "nil" }; s, err := x(7, "z"); return fmt.Sprint(s, err) }()`, "", "n"},
	{"funcvar", "func(...int) int", `func(xs ...int) int { return len(xs) }`, `func(xs ...int) int { if xs == nil { return -1 }; return xs[0] }`, "", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x(), x(7, 8), x([]int{9}...)) }()`, "", "n"},
	{"funcany", "func(string, ...any) string", `func(s string, xs ...any) string { return fmt.Sprint(s, len(xs)) }`, `fmt.Sprintf`, "", `func() string { if x == nil { return "nil" }; return x("q%v", 5) }()`, "", "n"},
	{"handler", "handler", "handler(" + fn + "+ 1 })", "handler(" + fn + "* 2 })", fn + "* 3 }", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x.Size(), x(4)) }()`, "type handler func(int) int\nfunc (h handler) Size() int { return h(3) }", "n"},
	{"funcfunc", "func() func() string", `func() func() string { return func() string { return "a" } }`, `func() func() string { s := "b"; return func() string { s += "c"; return s } }`, "", `func() string { if x == nil { return "nil" }; f := x(); f(); return f() }()`, "", "n"},
	{"bound", "func() int", "pt{1, 2}.Sum", "(&pt{3, 4}).Sum", "", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x()) }()`, "", "n"},
	{"methodex", "func(*pt, int)", "(*pt).Move", "func(p *pt, n int) { p.Y = n }", "", `func() string { if x == nil { return "nil" }; p := pt{1, 2}; x(&p, 5); return fmt.Sprint(p.X, p.Y) }()`, "", "n"},
	{"mapper", "mapper[int, string]", `mapper[int, string](func(i int) string { return fmt.Sprint("a", i) })`, `mapper[int, string](strconv.Itoa)`, "strconv.Itoa", `func() string { if x == nil { return "nil" }; return x(7) }()`, "type mapper[A, B any] func(A) B", "n"},
	{"seq", "iter.Seq[int]", "upto(2)", "upto(3)", "", `func() string { if x == nil { return "nil" }; s := 0; for i := range x { s += i + 1 }; return fmt.Sprint(s) }()`, "", "n"},
	{"funcpt", "func(pt) pt", "func(p pt) pt { return p }", "func(p pt) pt { return pt{p.Y, p.X} }", "", `func() string { if x == nil { return "nil" }; p := x(pt{1, 2}); return fmt.Sprint(p.X, p.Y) }()`, "", "n"},
	{"handlerfn", "http.HandlerFunc", "http.HandlerFunc(http.NotFound)", "http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})", "func(http.ResponseWriter, *http.Request) {}", `fmt.Sprint(x == nil)`, "", "n"},

	{"chan", "chan int", "full(1)", "full(2, 3)", "nil", `func() string { if x == nil { return "nil" }; v := <-x; x <- v; return fmt.Sprint(v, len(x)) }()`, "", "ckn"},
	{"chanrecv", "(<-chan int)", "(<-chan int)(full(1))", "(<-chan int)(full(2, 3))", "full(2, 3, 4)", "fmt.Sprint(len(x))", "", "ckn"},
	{"chansend", "chan<- int", "(chan<- int)(full(1))", "(chan<- int)(full(2, 3))", "full(2, 3, 4)", "fmt.Sprint(len(x))", "", "ckn"},
	{"chanpt", "chan pt", "full(pt{1, 2})", "full(pt{3, 4}, pt{5, 6})", "make(chan pt)", "fmt.Sprint(len(x))", "", "ckn"},
	{"chanempty", "chan struct{}", "full(struct{}{})", "make(chan struct{}, 3)", "nil", "fmt.Sprint(len(x), cap(x))", "", "ckn"},
	{"chanchan", "chan chan int", "full(full(1))", "full(full(2), full(3))", "nil", "fmt.Sprint(len(x), cap(x))", "", "ckn"},
	{"chanfn", "chan func(int) int", "full(" + fn + "+ 1 })", "full(" + fn + "* 2 }, " + fn + "* 3 })", "nil", "fmt.Sprint(len(x), cap(x))", "", "ckn"},
	{"pipe", "pipe", "pipe(full(1))", "pipe(full(2, 3))", "make(chan int)", "fmt.Sprint(x.Size())", "type pipe chan int\nfunc (p pipe) Size() int { return len(p) }", "ckn"},

	{"ptr", "*int", "ptr(1)", "ptr(2)", "nil", `func() string { if x == nil { return "nil" }; return fmt.Sprint(*x) }()`, "", "ckn"},
	{"ptrpt", "*pt", "&pt{1, 2}", "&pt{X: 3}", "nil", `func() string { if x == nil { return "nil" }; x.Move(1); return fmt.Sprint(x.X, x.Y, x.Sum()) }()`, "", "ckn"},
	{"ptrslice", "*[]int", "&[]int{1}", "&[]int{2, 3}", "", `func() string { if x == nil { return "nil" }; return fmt.Sprint(*x, len(*x)) }()`, "", "ckn"},
	{"ptrarray", "*[3]int", "&[3]int{1}", "&[3]int{2, 3}", "", `func() string { if x == nil { return "nil" }; return fmt.Sprint(*x, x[1], len(x)) }()`, "", "ckn"},
	{"ptrptr", "**int", "ptr(ptr(1))", "ptr(ptr(2))", "new(*int)", `func() string { if x == nil || *x == nil { return "nil" }; return fmt.Sprint(**x) }()`, "", "ckn"},
	{"ptrany", "*any", "ptr(any(1))", "ptr[any](pt{1, 2})", "new(any)", `func() string { if x == nil { return "nil" }; return fmt.Sprint(*x) }()`, "", "ckn"},
	{"ptrun", "*struct{ A int }", "&struct{ A int }{1}", "&struct{ A int }{A: 2}", "", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x.A) }()`, "", "ckn"},
	{"ptrbox", "*box[int]", "&box[int]{1}", "&box[int]{V: 2}", "", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x.V, x.Get()) }()`, "", "ckn"},
	{"ptrmap", "*map[string]int", `&map[string]int{"a": 1}`, `&map[string]int{"b": 2}`, "", `func() string { if x == nil { return "nil" }; return fmt.Sprint(*x) }()`, "", "ckn"},
	{"builder", "*strings.Builder", "new(strings.Builder)", `written("b")`, "&strings.Builder{}", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x.String(), x.Len()) }()`, "func written(s string) *strings.Builder { b := &strings.Builder{}; b.WriteString(s); return b }", "ckn"},
	{"bigint", "*big.Int", "big.NewInt(1)", "new(big.Int).Lsh(big.NewInt(1), 70)", "", `func() string { if x == nil { return "nil" }; return x.String() }()`, "", "ckn"},

	{"any", "any", "any(1)", `any("b")`, "2.5", "", "", "ckn"},
	{"anypt", "any", "any(pt{1, 2})", "any(pt{3, 4})", "pt{5, 6}", `func() string { if p, ok := x.(pt); ok { return fmt.Sprint(p.X, p.Y) }; return fmt.Sprint(x == nil) }()`, "", "ckn"},
	{"anyslice", "any", "any([]int{1})", "any([]any{1, 2})", "map[string]int{}", "", "", "n"},
	{"anyfn", "any", "any(" + fn + "+ 1 })", "any(" + fn + "* 2 })", "nil", `func() string { if f, ok := x.(func(int) int); ok { return fmt.Sprint(f(4)) }; return fmt.Sprint(x == nil) }()`, "", "n"},
	{"error", "error", `errors.New("a")`, `fmt.Errorf("b: %w", io.EOF)`, "io.EOF", `func() string { if x == nil { return "nil" }; return x.Error() }()`, "", "ckn"},
	{"failure", "error", `error(failure{1})`, `error(&failure{2})`, "failure{3}", `func() string { if x == nil { return "nil" }; return x.Error() }()`, "type failure struct { Code int }\nfunc (f failure) Error() string { return fmt.Sprint(\"failure \", f.Code) }", "ckn"},
	{"sizer", "sizer", "sizer(pt{1, 2})", "sizer(&pt{3, 4})", "pt{5, 6}", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x.Size()) }()`, "", "ckn"},
	{"mover", "mover", "mover(&pt{1, 2})", "mover(&pt{3, 4})", "&pt{5, 6}", `func() string { if x == nil { return "nil" }; x.Move(3); return fmt.Sprint(x.Size()) }()`, "type mover interface { sizer; Move(int) }", "ckn"},
	{"stringer", "fmt.Stringer", "fmt.Stringer(time.Second)", "fmt.Stringer(pt{3, 4})", "time.May", `func() string { if x == nil { return "nil" }; return x.String() }()`, "", "ckn"},
	{"reader", "io.Reader", `io.Reader(strings.NewReader("a"))`, `io.Reader(bytes.NewBufferString("bc"))`, `strings.NewReader("d")`, `fmt.Sprint(x == nil)`, "", "ckn"},
	{"getter", "getter[int]", "getter[int](box[int]{1})", "getter[int](&box[int]{2})", "box[int]{3}", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x.Get()) }()`, "type getter[T any] interface { Get() T }", "ckn"},
	{"unnamedif", "interface{ Sum() int }", "interface{ Sum() int }(pt{1, 2})", "interface{ Sum() int }(&pt{3, 4})", "pt{5, 6}", `func() string { if x == nil { return "nil" }; return fmt.Sprint(x.Sum()) }()`, "", "ckn"},
}

// has reports whether the kind has all of some flags.
func (k kind) has(flags string) bool {
	for _, f := range flags {
		if !strings.ContainsRune(k.flags, f) {
			return false
		}
	}
	return true
}

// fill replaces the names of the kind's parts: $T is the type, $A and $B are the values, $R is the second one without its type,
// $S shows a value. Names that start with a capital letter and end with $K are declared by section.
func (k kind) fill(text string) string {
	raw := k.raw
	if raw == "" {
		raw = k.b
	}
	return strings.NewReplacer("$T", k.typ, "$A", k.a, "$B", k.b, "$R", raw, "$S", "s_"+k.name, "$K", k.name).Replace(text)
}

// section returns the declarations of the kind: its type, a function that shows a value, and functions and types that hold it.
func (k kind) section() string {
	show := k.show
	if show == "" {
		show = "fmt.Sprint(x)"
	}
	return k.decls + k.fill(`
func $S(x $T) string { return `+show+` }
func a_$K() $T { return $A }
func b_$K() $T { return $B }
func two_$K() ($T, int) { return $B, 2 }
type w_$K struct { N int; V $T }
func (w w_$K) Give() $T { return w.V }
type f_$K struct { F func() $T }
`)
}

// base is the section that all cells use.
const base = `func full[T any](xs ...T) chan T { c := make(chan T, len(xs)); for _, x := range xs { c <- x }; return c }
func shut[T any](xs ...T) chan T { c := full(xs...); close(c); return c }
func ptr[T any](x T) *T { return &x }
func id[T any](x T) T { return x }
func assign[T any](p *T, x T) { *p = x }
func upto(n int) iter.Seq[int] { return func(yield func(int) bool) { for i := 0; i < n && yield(i); i++ {} } }
func each[T any](xs ...T) iter.Seq[T] { return func(yield func(T) bool) { for _, x := range xs { if !yield(x) { return } } } }
func show(xs ...string) { fmt.Println(strings.Join(xs, " ")) }
func yes(s string) bool { fmt.Println("yes", s); return true }
func not(s string) bool { fmt.Println("not", s); return false }
func mark(name string, x int) int { fmt.Println("mark", name); return x }
type sizer interface { Size() int }
type pt struct { X, Y int }
func (p pt) Size() int { return p.X * 10 + p.Y }
func (p pt) Sum() int { return p.X + p.Y }
func (p *pt) Move(n int) { p.X += n }
func (p pt) String() string { return fmt.Sprintf("(%d|%d)", p.X, p.Y) }
type box[T any] struct { V T }
func (b box[T]) Get() T { return b.V }
func (b *box[T]) Set(x T) { b.V = x }`

// others maps the names of sections that are not those of kinds to their declarations. "" is the section that all cells use.
var others = map[string]string{"": base, "part": operandDecls, "order": orderDecls, "method": methodDecls, "str": conversionDecls}

// Section returns the declarations of a name in Uses.
func Section(name string) string {
	if text, ok := others[name]; ok {
		return text
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	return kinds[i].section()
}

// Packages lists the paths that sections and cells import.
var Packages = []string{"bytes", "errors", "fmt", "image", "io", "iter", "math/big", "net/http", "net/url", "sort", "strconv", "strings", "time"}

// byName returns the kinds with some names.
func byName(names ...string) (list []kind) {
	for _, k := range kinds {
		if slices.Contains(names, k.name) {
			list = append(list, k)
		}
	}
	return list
}
