package proof

import "strings"

// methodDecls declares types with a method Val on the value and a method Add on the pointer.
const methodDecls = `type mint int
func (m mint) Val(n int) int { return int(m) + n }
func (m *mint) Add(n int) { *m += mint(n) }
type mstruct struct { N int; S string }
func (m mstruct) Val(n int) int { return m.N + n }
func (m *mstruct) Add(n int) { m.N += n }
type membed struct { mstruct; K int }
type mptr struct { *mstruct; K int }
type mdeep struct { A int; membed }
type mdeepest struct { *mdeep }
type miface struct { valuer; K int }
type mslice []int
func (m mslice) Val(n int) int { return len(m) + n }
func (m *mslice) Add(n int) { *m = append(*m, n) }
type mmap map[string]int
func (m mmap) Val(n int) int { return m["k"] + n }
func (m mmap) Add(n int) { m["k"] += n }
type mfunc func(int) int
func (m mfunc) Val(n int) int { return m(n) }
func (m *mfunc) Add(n int) { f := *m; *m = func(x int) int { return f(x) + n } }
type mchan chan int
func (m mchan) Val(n int) int { return len(m) + n }
func (m mchan) Add(n int) { m <- n }
type marray [2]int
func (m marray) Val(n int) int { return m[1] + n }
func (m *marray) Add(n int) { m[1] += n }
type mgen[T any] struct { V T; N int }
func (m mgen[T]) Val(n int) int { return m.N + n }
func (m *mgen[T]) Add(n int) { m.N += n }
type mgenslice[T any] []T
func (m mgenslice[T]) Val(n int) int { return len(m) + n }
func (m *mgenslice[T]) Add(n int) { *m = append(*m, (*m)[0]) }
type mempty struct{}
func (mempty) Val(n int) int { return n }
func (*mempty) Add(int) {}
type mstring string
func (m mstring) Val(n int) int { return len(m) + n }
func (m *mstring) Add(n int) { *m += mstring(strings.Repeat("x", n)) }
type mfloat float64
func (m mfloat) Val(n int) int { return int(m*2) + n }
func (m *mfloat) Add(n int) { *m += mfloat(n) }
type mgenembed[T any] struct { mgen[T] }
type valuer interface { Val(int) int }
type adder interface { valuer; Add(int) }
func useValuer(v valuer) int { return v.Val(1) }
func useAdder(a adder) int { a.Add(2); return a.Val(3) }
func useGeneric[T valuer](v T) int { return v.Val(4) }
func useBoth[T any, P interface { *T; adder }](x T) int { P(&x).Add(5); return P(&x).Val(0) }`

// receivers lists types and a literal of each.
var receivers = []struct{ name, typ, value string }{
	{"int", "mint", "mint(3)"}, {"struct", "mstruct", `mstruct{3, "s"}`}, {"embedded", "membed", "membed{mstruct{N: 3}, 1}"}, {"embedded pointer", "mptr", "mptr{&mstruct{N: 3}, 1}"},
	{"deep", "mdeep", "mdeep{1, membed{mstruct{N: 3}, 1}}"}, {"deepest", "mdeepest", "mdeepest{&mdeep{1, membed{mstruct{N: 3}, 1}}}"}, {"slice", "mslice", "mslice{1, 2}"},
	{"map", "mmap", `mmap{"k": 3}`}, {"func", "mfunc", "mfunc(func(x int) int { return x * 2 })"}, {"chan", "mchan", "mchan(make(chan int, 9))"}, {"array", "marray", "marray{1, 2}"}, {"generic", "mgen[string]", `mgen[string]{"v", 3}`},
	{"generic slice", "mgenslice[string]", `mgenslice[string]{"a"}`}, {"generic embedded", "mgenembed[int]", "mgenembed[int]{mgen[int]{1, 3}}"}, {"empty", "mempty", "mempty{}"}, {"string", "mstring", `mstring("abc")`}, {"float", "mfloat", "mfloat(2.5)"},
	{"generic of a struct", "mgen[mstruct]", "mgen[mstruct]{mstruct{N: 1}, 3}"},
}

// uses lists statements that call methods of x, whose type is $T. $V is a literal of the type.
var uses = []struct{ name, text string }{
	{"call", "show(fmt.Sprint(x.Val(1)))"}, {"pointer call", "x.Add(2)\nshow(fmt.Sprint(x.Val(1)))"}, {"through a pointer", "p := &x\np.Add(2)\nshow(fmt.Sprint(p.Val(1), x.Val(0)))"},
	{"value", "f := x.Val\nx.Add(2)\nshow(fmt.Sprint(f(1), x.Val(1)))"}, {"pointer value", "f := x.Add\nf(2)\nf(1)\nshow(fmt.Sprint(x.Val(1)))"}, {"value of a pointer", "f := (&x).Val\nx.Add(2)\nshow(fmt.Sprint(f(1)))"},
	{"expression", "show(fmt.Sprint($T.Val(x, 1)))"}, {"pointer expression", "(*$T).Add(&x, 2)\nshow(fmt.Sprint((*$T).Val(&x, 1)))"}, {"expression value", "f := (*$T).Add\nf(&x, 3)\ng := $T.Val\nshow(fmt.Sprint(g(x, 1)))"},
	{"literal", "show(fmt.Sprint($V.Val(1), x.Val(0)))"}, {"interface", "var v valuer = x\nshow(fmt.Sprint(v.Val(1)))"}, {"pointer in an interface", "var a adder = &x\na.Add(2)\nshow(fmt.Sprint(a.Val(1), x.Val(0)))"},
	{"copy in an interface", "var v valuer = x\nx.Add(2)\nshow(fmt.Sprint(v.Val(1), x.Val(1)))"}, {"argument", "show(fmt.Sprint(useValuer(x), useValuer(&x)))"}, {"pointer argument", "show(fmt.Sprint(useAdder(&x), x.Val(0)))"},
	{"type parameter", "show(fmt.Sprint(useGeneric(x), useGeneric(&x)))"}, {"both", "show(fmt.Sprint(useBoth(x), x.Val(0)))"}, {"assertion", "var v any = x\nw, ok := v.(valuer)\n_, is := v.(adder)\nshow(fmt.Sprint(w.Val(1), ok, is))"},
	{"assertion of a pointer", "var v any = &x\nw := v.(adder)\nw.Add(1)\nshow(fmt.Sprint(w.Val(1)))"}, {"type switch", "for _, v := range []any{x, &x, 1} {\nswitch v := v.(type) {\ncase adder:\nshow(\"adder\", fmt.Sprint(v.Val(1)))\ncase valuer:\nshow(\"valuer\", fmt.Sprint(v.Val(1)))\ndefault:\nshow(\"none\")\n}\n}"},
	{"element", "l := []$T{x, x}\nl[1].Add(2)\nshow(fmt.Sprint(l[0].Val(1), l[1].Val(1)))"}, {"array element", "l := [2]$T{x, x}\nl[1].Add(2)\nshow(fmt.Sprint(l[0].Val(1), l[1].Val(1)))"}, {"entry", "m := map[string]$T{\"a\": x}\nshow(fmt.Sprint(m[\"a\"].Val(1)))"},
	{"entry of pointers", "m := map[string]*$T{\"a\": &x}\nm[\"a\"].Add(2)\nshow(fmt.Sprint(x.Val(1)))"}, {"field", "w := struct { V $T }{x}\nw.V.Add(2)\nshow(fmt.Sprint(w.V.Val(1), x.Val(1)))"}, {"deferred", "func() {\ndefer x.Add(2)\ndefer func() { show(fmt.Sprint(x.Val(0))) }()\nx.Add(1)\n}()\nshow(fmt.Sprint(x.Val(1)))"},
	{"goroutine", "done := make(chan int)\ngo func() { x.Add(2); done <- x.Val(1) }()\nshow(fmt.Sprint(<-done))"}, {"range", "for _, y := range []$T{x, x} {\ny.Add(2)\nshow(fmt.Sprint(y.Val(1)))\n}"}, {"closure", "f := func() int { x.Add(2); return x.Val(1) }\nf()\nshow(fmt.Sprint(f(), x.Val(0)))"},
	{"logical", "show(fmt.Sprint(x.Val(1) > 100 || $V.Val(1) > 0 && x.Val(0) >= 0))"}, {"case", "switch n := x.Val(1); n {\ncase 100, x.Val(1):\nshow(\"in\")\ndefault:\nshow(\"out\")\n}"}, {"returned value", "f := func() func(int) int { return x.Val }\nshow(fmt.Sprint(f()(1)))"},
	{"functions", "fs := []func(int) int{x.Val, (&x).Val, $V.Val}\nshow(fmt.Sprint(fs[0](1), fs[1](1), fs[2](1)))"}, {"of an interface", "f := valuer(x).Val\ng := valuer.Val\nshow(fmt.Sprint(f(1), g(x, 2)))"}, {"call result", "f := func() $T { return x }\ng := func() *$T { return &x }\ng().Add(2)\nshow(fmt.Sprint(f().Val(1), g().Val(1)))"},
	{"method of an interface field", "w := miface{x, 1}\nshow(fmt.Sprint(w.Val(1), useValuer(w), useGeneric(w)))"}, {"global", "!\ng_$N.Add(2)\nshow(fmt.Sprint(g_$N.Val(1)))"},
}

// methodCells crosses receivers and uses of methods.
func methodCells() (cells []Cell) {
	for _, r := range receivers {
		for _, u := range uses {
			fill := strings.NewReplacer("$T", r.typ, "$V", "("+r.value+")").Replace
			decls, body := "", "x := "+r.value+"\n"+u.text
			if text, ok := strings.CutPrefix(u.text, "!\n"); ok {
				decls, body = "var g_$N $T = "+r.value, text
			}
			cells = append(cells, Cell{[]string{r.name, u.name}, []string{"method"}, "", fill(decls), fill(body)})
		}
	}
	return cells
}
