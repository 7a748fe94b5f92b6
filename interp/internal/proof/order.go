package proof

import "strings"

// orderDecls declares functions that print when they are called.
const orderDecls = `func said[T any](name string, x T) T { fmt.Println("said", name); return x }
func saidTo[T any](name string, p *T) *T { fmt.Println("to", name); return p }`

// orders lists statements in which the order of evaluation is visible. $a, $b and $c stand for calls that print their names
// and have the value of the kind, $1 and $2 for calls with an index.
var orders = []struct{ name, text, needs string }{
	{"arguments", "func(x, y, z $T) { show($S(x), $S(y), $S(z)) }($a, $b, $c)", ""},
	{"variadic", "func(xs ...$T) { show($S(xs[0]), $S(xs[2])) }($a, $b, $c)", ""},
	{"nested", "func(x $T, y string) { show($S(x), y) }(id($a), $S($b)+$S($c))", ""},
	{"index and value", "x := []$T{$A, $A, $A}\nx[$1] = $a\nshow($S(x[1]))", ""},
	{"map and value", "x := map[int]$T{}\nx[$1] = $a\nshow($S(x[1]))", ""},
	{"key and value", "x := map[int]$T{$1: $a, $2: $b}\nshow($S(x[1]), $S(x[2]))", ""},
	{"two indexes", "x := []$T{$A, $A, $A}\nx[$1], x[$2] = $a, $b\nshow($S(x[1]), $S(x[2]))", ""},
	{"field and value", "x := w_$K{}\nsaidTo(\"w\", &x).V = $a\nshow($S(x.V))", ""},
	{"two fields", "x, y := w_$K{}, w_$K{}\nsaidTo(\"x\", &x).V, saidTo(\"y\", &y).V = $a, $b\nshow($S(x.V), $S(y.V))", ""},
	{"dereference", "var x $T\n*saidTo(\"p\", &x) = $a\nshow($S(x))", ""},
	{"slice literal", "x := []$T{$a, 2: $b}\nshow($S(x[0]), $S(x[2]))", ""},
	{"struct literal", "x := struct { A, B $T }{B: $a, A: $b}\nshow($S(x.A), $S(x.B))", ""},
	{"return", "f := func() ($T, $T, $T) { return $a, $b, $c }\nx, y, z := f()\nshow($S(x), $S(y), $S(z))", ""},
	{"send", "c := make(chan $T, 1)\n*saidTo(\"c\", &c) <- $a\nshow($S(<-c))", "-"},
	{"defer", "func() {\ndefer func(x, y $T) { show($S(x), $S(y)) }($a, $b)\nshow(\"body\")\n}()", ""},
	{"go", "c := make(chan string)\ngo func(x, y $T) { c <- $S(x) + $S(y) }($a, $b)\nshow(<-c)", ""},
	{"method", "show($S(said(\"w\", w_$K{V: $a}).Give()), $S($b))", ""},
	{"logical", "ok := $S($a) == $S($b) && $S($b) != $S($c) || $S($c) == $S($A)\nshow(fmt.Sprint(ok))", ""},
	{"comparison", "show(fmt.Sprint($a == $b, $b != $c))", "k"},
	{"switch", "switch $S($a) {\ncase $S($b), $S($c):\nshow(\"in\")\ncase $S(said(\"d\", $A)):\nshow(\"d\")\ndefault:\nshow(\"other\")\n}", ""},
	{"select", "c, d := make(chan $T, 1), make(chan $T)\nselect {\ncase c <- $a:\nshow(\"c\")\ncase d <- $b:\nshow(\"d\")\n}", ""},
	{"range", "for i, x := range said(\"l\", []$T{$a, $b}) {\nshow(fmt.Sprint(i), $S(x))\n}", ""},
	{"append", "x := append(said(\"l\", []$T{$a}), $b, $c)\nshow($S(x[0]), $S(x[2]))", ""},
	{"copy", "x := make([]$T, 2)\nn := copy(x[$1:], said(\"l\", []$T{$a}))\nshow(fmt.Sprint(n), $S(x[1]))", ""},
	{"slice bounds", "x := []$T{$A, $B, $A}[$1:$2]\nshow(fmt.Sprint(len(x)), $S(x[0]))", ""},
	{"closure call", "func() func($T) { show(\"f\"); return func(x $T) { show($S(x)) } }()($a)", ""},
	{"op-assignment of a map", "x := map[int]int{1: 3}\nx[$1] += len($S($a))\nshow(fmt.Sprint(x))", ""},
	{"op-assignment of a slice", "x := []string{\"a\", \"b\"}\nx[$1] += $S($a)\nshow(x[1])", ""},
	{"op-assignment of a field", "x := struct { S string }{\"a\"}\nsaidTo(\"x\", &x).S += $S($a)\nshow(x.S)", ""},
	{"op-assignment of a variable", "x := \"a\"\nx += func() string { x = \"changed\"; return $S($a) }()\nshow(x)", ""},
	{"variable and call", "var x $T = $A\nf := func() $T { x = $B; return x }\ny, z := x, f()\nshow($S(y), $S(z))", "-"},
	{"swap", "x, y := $a, $b\nx, y = y, x\nshow($S(x), $S(y))", ""},
	{"increment of a call", "x := map[string]int{}\nx[$S($a)]++\nshow(fmt.Sprint(len(x)))", ""},
	{"panic in the middle", "defer func() { show(fmt.Sprint(recover())) }()\nfunc(x $T, n int, y $T) { show(\"not called\") }($a, func() int { panic(\"stop\") }(), $b)", ""},
	{"deferred calls", "for i := range 3 {\ndefer func(x $T) { show(fmt.Sprint(i), $S(x)) }($a)\n}\nshow(\"body\")", ""},
}

// orderCells crosses kinds and statements whose order of evaluation is visible.
func orderCells() (cells []Cell) {
	calls := strings.NewReplacer("$a", `said("a", b_$K())`, "$b", `said("b", a_$K())`, "$c", `said("c", b_$K())`, "$1", `said("1", 1)`, "$2", `said("2", 2)`)
	for _, k := range kinds {
		for _, o := range orders {
			if o.needs != "-" && k.has(o.needs) || o.needs == "-" && k.name != "chanrecv" {
				cells = append(cells, Cell{[]string{k.name, o.name}, []string{k.name, "order"}, "", "", k.fill(calls.Replace(o.text))})
			}
		}
	}
	return cells
}
