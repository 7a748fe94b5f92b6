package proof

import (
	"slices"
	"strings"
)

// A storage is a place for a value. In body, $W stands for statements that write to the place and $L for the place.
type storage struct {
	name   string
	place  string // $L
	flags  string // m: element of a map, without an address
	before string
	decls  string
	body   string
}

var storages = []storage{
	{"local", "x", "", "", "", "var x $T = $A\n$W\nshow($S(x))"},
	{"read by a closure", "x", "", "", "", "var x $T = $A\nget := func() $T { return x }\nshow($S(get()))\n$W\nshow($S(get()), $S(x))"},
	{"written by a closure", "x", "", "", "", "x := a_$K()\nput := func() {\n$W\n}\nput()\nshow($S(x))"},
	{"two closures", "x", "", "", "", "var x $T = $A\nget := func() $T { return x }\nput := func() { func() {\n$W\n}() }\nput()\nshow($S(get()), $S(x))"},
	{"parameter", "x", "", "", "", "func(x $T) {\n$W\nshow($S(x))\n}($A)"},
	{"result", "x", "", "", "", "f := func() (x $T) {\nx = $A\n$W\nreturn\n}\nshow($S(f()))"},
	{"result and closure", "x", "", "", "", "f := func() (x $T) {\nx = $A\nput := func() {\n$W\n}\nput()\nreturn x\n}\nshow($S(f()))"},
	{"result and defer", "x", "", "", "", "f := func() (x $T, n int) {\ndefer func() {\nshow($S(x))\n$W\n}()\nreturn $A, 1\n}\ny, n := f()\nshow($S(y), fmt.Sprint(n))"},
	{"result and recover", "x", "", "", "", "f := func() (x $T, err error) {\ndefer func() {\nr := recover()\nerr = fmt.Errorf(\"%v\", r)\n$W\n}()\nx = $A\npanic(\"out\")\n}\ny, err := f()\nshow($S(y), err.Error())"},
	{"range over func", "x", "", "", "", "var x $T = $A\nfor i := range upto(2) {\nif i == 1 { break }\n$W\nshow($S(x))\n}\nshow($S(x))"},
	{"goroutine", "x", "", "", "", "var x $T = $A\ndone := make(chan bool)\ngo func() {\ndefer close(done)\n$W\n}()\n<-done\nshow($S(x))"},
	{"global", "g_$N", "", "", "var g_$N $T = $A", "$W\nshow($S(g_$N))"},
	{"field of a global", "g_$N.V", "", "", "var g_$N = w_$K{V: $A}", "$W\nshow($S(g_$N.V), $S(g_$N.Give()))"},
	{"session", "v_$N", "", "var v_$N $T = $A", "", "$W\nshow($S(v_$N))"},
	{"session and closure", "v_$N", "", "var v_$N $T = $A", "func get_$N() $T { return v_$N }", "put := func() {\n$W\n}\nput()\nshow($S(v_$N), $S(get_$N()))"},
	{"field", "x.V", "", "", "", "x := w_$K{1, $A}\nold := x\n$W\nshow($S(x.V), $S(old.V))"},
	{"field of a captured one", "x.V", "", "", "", "x := w_$K{1, $A}\nput := func() {\n$W\n}\nput()\nshow($S(x.V), $S(x.Give()))"},
	{"field of a pointer", "x.V", "", "", "", "x := &w_$K{V: $A}\nold := x\n$W\nshow($S(x.V), $S(old.V))"},
	{"nested field", "x.In.V", "", "", "", "x := struct { In w_$K; M int }{w_$K{1, $A}, 2}\n$W\nshow($S(x.In.V))"},
	{"generic field", "x.V", "", "", "", "x := box[$T]{$A}\n$W\nshow($S(x.V), $S(x.Get()))"},
	{"array", "x[at]", "", "", "", "x, at := [2]$T{$A, $A}, 1\nold := x\n$W\nshow($S(x[0]), $S(x[1]), $S(old[1]))"},
	{"slice", "x[at]", "", "", "", "x, at := []$T{$A, $A}, 1\nold := x\n$W\nshow($S(x[0]), $S(x[1]), $S(old[1]))"},
	{"map", `x["k"]`, "m", "", "", "x := map[string]$T{\"k\": $A}\n$W\nshow($S(x[\"k\"]), fmt.Sprint(len(x)))"},
	{"dereference", "*x", "", "", "", "x := new($T)\n*x = $A\nold := *x\n$W\nshow($S(*x), $S(old))"},
	{"address", "x", "", "", "", "var x $T = $A\np := &x\n$W\nshow($S(*p), $S(x))"},
	{"field of an element", "x[0].V", "", "", "", "x := []w_$K{{V: $A}}\n$W\nshow($S(x[0].V))"},
	{"field in a map", `x["k"].V`, "", "", "", "x := map[string]*w_$K{\"k\": {V: $A}}\n$W\nshow($S(x[\"k\"].V))"},
	{"array in a field", "x.E[at]", "", "", "", "x, at := struct { E [2]$T }{[2]$T{$A, $A}}, 0\n$W\nshow($S(x.E[0]), $S(x.E[1]))"},
	{"pointer to an array", "x[at]", "", "", "", "x, at := &[2]$T{$A, $A}, 0\n$W\nshow($S(x[0]), $S(x[1]))"},
}

// A write puts the second value of a kind into a place.
type write struct {
	name  string
	text  string
	needs string // flags of the kind; a: the place has an address
}

var writes = []write{
	{"literal", "$L = $R", ""},
	{"typed", "$L = $B", ""},
	{"variable", "var v $T = $B\n$L = v", ""},
	{"call", "$L = b_$K()", ""},
	{"generic call", "$L = id[$T]($B)", ""},
	{"closure call", "$L = func() $T { return $B }()", ""},
	{"field call", "h := f_$K{func() $T { return $B }}\n$L = h.F()", ""},
	{"method call", "$L = w_$K{V: $B}.Give()", ""},
	{"element", "$L = []$T{$A, $B}[1]", ""},
	{"entry", "$L = map[string]$T{\"a\": $B}[\"a\"]", ""},
	{"missing entry", "$L = map[string]$T{\"a\": $B}[\"b\"]", ""},
	{"field", "$L = w_$K{V: $B}.V", ""},
	{"dereference", "$L = *ptr[$T]($B)", ""},
	{"receive", "$L = <-full[$T]($B)", ""},
	{"assertion", "var v any = w_$K{V: $B}\n$L = v.(w_$K).V", ""},
	{"conversion", "$L = ($T)($B)", ""},
	{"zero", "var v $T\n$L = v", ""},
	{"new", "$L = *new($T)", ""},
	{"two results", "n := 0\n$L, n = two_$K()\nshow(fmt.Sprint(n))", ""},
	{"two values", "n := 0\n$L, n = $R, 2\nshow(fmt.Sprint(n))", ""},
	{"two literals", "var v $T\nv, $L = $A, $B\nshow($S(v))", ""},
	{"swap", "var v $T = $B\n$L, v = v, $L\nshow($S(v))", ""},
	{"entry with ok", "ok := false\n$L, ok = map[string]$T{\"a\": $B}[\"a\"]\nshow(fmt.Sprint(ok))", ""},
	{"receive with ok", "ok := true\n$L, ok = <-shut[$T]()\nshow(fmt.Sprint(ok))", ""},
	{"assertion with ok", "var v any = w_$K{V: $B}\nw, ok := v.(w_$K)\n$L = w.V\nshow(fmt.Sprint(ok))", ""},
	{"range value", "for _, $L = range []$T{$A, $B} {\n}", ""},
	{"range array", "for _, $L = range [2]$T{$A, $B} {\nbreak\n}", ""},
	{"range channel", "for $L = range shut[$T]($A, $B) {\n}", ""},
	{"range func", "for $L = range each[$T]($A, $B) {\n}", ""},
	{"select", "select {\ncase $L = <-full[$T]($B):\n}", ""},
	{"post", "for i := 0; i < 1; i, $L = i+1, ($R) {\n}", ""},
	{"init", "if $L = ($R); true {\nshow($S($L))\n}", ""},
	{"pointer", "to := &$L\n*to = $R", "a"},
	{"helper", "assign(&$L, $B)", "a"},
	{"deferred", "func() {\ndefer func() { $L = $R }()\n}()", ""},
	{"after a copy", "v := $L\n$L = $R\nshow($S(v))", ""},
	{"self", "$L = id($L)", ""},
	{"branches", "if len(fmt.Sprint(1)) == 1 {\n$L = $R\n} else {\n$L = $A\n}", ""},
	{"nil", "$L = nil", "n"},
}

// storageCells crosses kinds, storages and writes. Each kind has a share of the writes in each storage.
func storageCells() (cells []Cell) {
	for i, k := range kinds {
		for j, s := range storages {
			for l, w := range writes {
				if !k.has(strings.ReplaceAll(w.needs, "a", "")) || strings.Contains(w.needs, "a") && s.flags == "m" || (i*3+j*7+l)%13 != 0 && !slices.Contains([]string{"literal"}, w.name) {
					continue
				}
				fill := func(text string) string {
					text = strings.ReplaceAll(text, "$W", w.text)
					return k.fill(strings.ReplaceAll(text, "$L", s.place))
				}
				cells = append(cells, Cell{[]string{k.name, s.name, w.name}, []string{k.name}, fill(s.before), fill(s.decls), fill(s.body)})
			}
		}
	}
	return cells
}
