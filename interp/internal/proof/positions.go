package proof

import "strings"

// A position is a place of an expression in a function. In text, $X stands for the expression, which has the type $T.
type position struct {
	name  string
	text  string
	needs string // flags of the kind
}

var positions = []position{
	{"assign", "var x $T\nx = $X\nshow($S(x))", ""},
	{"define", "x := $X\nshow($S(x))", ""},
	{"blank", "_ = $X\nshow(\"blank\")", ""},
	{"var", "var x $T = $X\nshow($S(x))", ""},
	{"var untyped", "var x, n = $X, 1\nshow($S(x), fmt.Sprint(n))", ""},
	{"return", "f := func() $T { return $X }\nshow($S(f()))", ""},
	{"return first", "f := func() ($T, int) { return $X, 1 }\nx, n := f()\nshow($S(x), fmt.Sprint(n))", ""},
	{"return second", "f := func() (int, $T, error) { return 1, $X, nil }\nn, x, err := f()\nshow($S(x), fmt.Sprint(n, err))", ""},
	{"return twice", "f := func() ($T, $T) { return $X, $X }\nx, y := f()\nshow($S(x), $S(y))", ""},
	{"return any", "f := func() (any, error) { return $X, nil }\nx, err := f()\nshow(fmt.Sprint(x != nil, err))", ""},
	{"return and defer", "f := func() (x $T) {\ndefer func() { show($S(x)) }()\nreturn $X\n}\nshow($S(f()))", ""},
	{"return of a declared function", "!func f_$N() (string, $T) { return \"s\", $X }\nfunc(s string, x $T) { show(s, $S(x)) }(f_$N())", ""},
	{"argument", "show($S($X))", ""},
	{"later argument", "func(n int, x $T, s string) { show($S(x), fmt.Sprint(n), s) }(1, $X, \"s\")", ""},
	{"argument of type any", "func(x any) { y, ok := x.($T); show($S(y), fmt.Sprint(ok)) }($X)", ""},
	{"generic argument", "show($S(id($X)))", ""},
	{"variadic", "func(xs ...$T) { for _, x := range xs { show($S(x)) } }($X, $X)", ""},
	{"only variadic", "func(s string, xs ...$T) { show(s, fmt.Sprint(len(xs)), $S(xs[0])) }(\"s\", $X)", ""},
	{"variadic of any", "!func n_$N(xs ...any) int { return len(xs) }\nshow(fmt.Sprint(n_$N($X), n_$N(1, $X), n_$N($X, 1)))", ""},
	{"spread", "func(xs ...$T) { show($S(xs[1])) }([]$T{$X, $X}...)", ""},
	{"slice", "x := []$T{$X, 3: $X}\nshow($S(x[0]), $S(x[1]), $S(x[3]))", ""},
	{"array", "x := [...]$T{$X, $X}\nshow($S(x[0]), $S(x[1]))", ""},
	{"slice of any", "x := []any{1, $X}\ny, ok := x[1].($T)\nshow($S(y), fmt.Sprint(ok))", ""},
	{"entry", "x := map[string]$T{\"a\": $X}\nshow($S(x[\"a\"]))", ""},
	{"key", "x := map[$T]int{$X: 1}\nshow(fmt.Sprint(len(x)))\nfor k := range x { show($S(k)) }", "k"},
	{"index of a map", "x := map[$T]int{}\nx[$X]++\nx[$A] += 2\nshow(fmt.Sprint(len(x)))", "k"},
	{"field", "x := w_$K{1, $X}\nshow($S(x.V))", ""},
	{"field by name", "x := &w_$K{V: $X}\nshow($S(x.V))", ""},
	{"generic field", "x := box[$T]{$X}\nshow($S(x.Get()))", ""},
	{"unnamed field", "x := struct { N int; V $T }{1, $X}\nshow($S(x.V))", ""},
	{"nested literal", "x := []map[string][]w_$K{{\"a\": {{V: $X}}}}\nshow($S(x[0][\"a\"][0].V))", ""},
	{"send", "c := make(chan $T, 1)\nc <- $X\nshow($S(<-c))", ""},
	{"select send", "c := make(chan $T, 1)\nselect {\ncase c <- $X:\nshow(\"sent\")\n}\nshow($S(<-c))", ""},
	{"defer", "func() {\ndefer func(x $T) { show($S(x)) }($X)\nshow(\"before\")\n}()", ""},
	{"go", "c := make(chan $T)\ngo func(x $T) { c <- x }($X)\nshow($S(<-c))", ""},
	{"left of &&", "ok := len($S($X)) > 0 && yes(\"r\")\nshow(fmt.Sprint(ok))", ""},
	{"right of &&", "ok := yes(\"l\") && len($S($X)) > 0\nshow(fmt.Sprint(ok))", ""},
	{"left of ||", "ok := len($S($X)) > 1000 || not(\"r\")\nshow(fmt.Sprint(ok))", ""},
	{"right of ||", "if not(\"l\") || len($S($X)) > 0 || yes(\"r\") {\nshow(\"in\")\n}", ""},
	{"if", "if $S($X) == $S($B) {\nshow(\"in\")\n} else {\nshow(\"out\")\n}", ""},
	{"else if", "if not(\"a\") {\n} else if x := ($X); $S(x) == $S($B) {\nshow($S(x))\n}", ""},
	{"for", "for i := 0; i < 2 && $S($X) == $S($B); i++ {\nshow(fmt.Sprint(i))\n}", ""},
	{"tag", "switch ($X) {\ncase $A:\nshow(\"a\")\ndefault:\nshow(\"other\")\n}", "k"},
	{"case", "var x $T = $B\nswitch x {\ncase $A, $X:\nshow(\"in\")\ndefault:\nshow(\"other\")\n}", "k"},
	{"case condition", "switch {\ncase not(\"a\"), $S($X) == $S($B), yes(\"b\"):\nshow(\"in\")\ndefault:\nshow(\"other\")\n}", ""},
	{"equal", "var x $T = $B\nshow(fmt.Sprint(x == $X, $X != $A))", "k"},
	{"equal to any", "var x any = $A\nshow(fmt.Sprint(x == $X, $X == x))", "k"},
	{"equal to nil", "show(fmt.Sprint($X == nil, nil != $X))", "n"},
	{"conversion", "x := ($T)($X)\nshow($S(x))", ""},
	{"assertion", "x := any($X).($T)\nshow($S(x))", ""},
	{"type switch", "switch x := any($X).(type) {\ncase string, *w_$K:\nshow(\"other\")\ncase $T:\nshow($S(x))\n}", "-string"},
	{"append", "x := append([]$T{$A}, $X, $X)\nshow(fmt.Sprint(len(x)), $S(x[2]))", ""},
	{"address", "x := &[]$T{$X}[0]\nshow($S(*x))", ""},
	{"closure", "f := func() string { return $S($X) }\nshow(f(), f())", ""},
	{"range", "for i, x := range []$T{$X, $A} {\nshow(fmt.Sprint(i), $S(x))\n}", ""},
	{"yield", "for x := range func(yield func($T) bool) { _ = yield($X) && yield($A) } {\nshow($S(x))\nbreak\n}", ""},
	{"panic", "defer func() {\nx, ok := recover().($T)\nshow($S(x), fmt.Sprint(ok))\n}()\npanic($X)", ""},
	{"concatenation", "s := \"<\" + $S($X) + \">\"\ns += $S($X)\nshow(s)", ""},
	{"index", "show([]string{\"a\", \"b\"}[len($S($X))*0+1], strings.Repeat(\"z\", len($S($X))))", ""},
	{"parallel", "x, y := $X, $X\nx, y = $X, $A\nshow($S(x), $S(y))", ""},
	{"method of a literal", "show($S(w_$K{V: $X}.Give()), $S((&w_$K{1, $X}).Give()))", ""},
	{"loop variable", "var fs []func() string\nfor x := ($X); len(fs) < 2; x = ($A) {\nfs = append(fs, func() string { return $S(x) })\n}\nshow(fs[0](), fs[1]())", ""},
	{"label", "n := 0\nagain:\nx := $X\nif n++; n < 2 { goto again }\nshow($S(x))", "-"},
}

// A value is a form of an expression for the second value of a kind.
type value struct {
	name   string
	before string // statements before the expression is used
	text   string
}

var values = []value{
	{"literal", "", "$B"},
	{"variable", "var v $T = $B", "v"},
	{"call", "", "b_$K()"},
	{"generic call", "", "id[$T]($B)"},
	{"closure call", "", "func() $T { return $B }()"},
	{"field call", "h := f_$K{func() $T { return $B }}", "h.F()"},
	{"method call", "h := w_$K{V: $B}", "h.Give()"},
	{"method of a literal", "", "(w_$K{V: $B}).Give()"},
	{"element", "v, at := []$T{$A, $B}, 1", "v[at]"},
	{"element of a literal", "", "([]$T{$A, $B}[1])"},
	{"entry", "v := map[string]$T{\"k\": $B}", "v[\"k\"]"},
	{"entry of a literal", "", "(map[string]$T{\"k\": $B}[\"k\"])"},
	{"missing entry", "v := map[string]$T{\"k\": $B}", "v[\"m\"]"},
	{"field", "v := &w_$K{V: $B}", "v.V"},
	{"dereference", "v := ptr[$T]($B)", "*v"},
	{"receive", "v := full[$T]($B, $B, $B)", "<-v"},
	{"assertion", "var v any = w_$K{V: $B}", "v.(w_$K).V"},
	{"conversion", "", "($T)($B)"},
	{"closure variable", "var v $T = $B\nput := func() { v = $B }\nput()", "v"},
	{"function of a map", "v := map[string]func() $T{\"f\": b_$K}", "v[\"f\"]()"},
	{"global", "!var g_$N $T = $B\n", "g_$N"},
	{"called result", "v := func() func() $T { return b_$K }", "v()()"},
}

// declared separates a first line that begins with "!", which is a declaration, from statements.
func declared(text string) (decl, statements string) {
	line, rest, _ := strings.Cut(text, "\n")
	if decl, ok := strings.CutPrefix(line, "!"); ok {
		return decl + "\n", rest
	}
	return "", text
}

// crossed returns the cells of a kind with a value in a position, or none if the kind cannot stand there.
func crossed(k kind, p position, v value) []Cell {
	if needs, not := strings.CutPrefix(p.needs, "-"); not && k.typ == needs || !not && !k.has(p.needs) {
		return nil
	}
	before, statements := declared(v.before)
	decls, body := declared(p.text)
	text := v.text
	if decls != "" && statements != "" { // the value's variables are those of the declared function
		decls = strings.Replace(decls, "{ return", "{ "+strings.ReplaceAll(statements, "\n", "; ")+"; return", 1)
		if strings.Contains(body, "$X") {
			decls, _ = declared(p.text)
		} else {
			statements = ""
		}
	}
	fill := func(s string) string { return k.fill(strings.ReplaceAll(s, "$X", text)) }
	return []Cell{{[]string{k.name, p.name, v.name}, []string{k.name}, "", fill(before + decls), fill(statements + "\n" + body)}}
}

// positionCells crosses kinds, positions and forms of values. Each kind has a share of the forms in each position.
func positionCells() (cells []Cell) {
	for i, k := range kinds {
		for j, p := range positions {
			for l, v := range values {
				if (i*5+j*3+l)%17 == 0 || v.name == "literal" {
					cells = append(cells, crossed(k, p, v)...)
				}
			}
		}
	}
	return cells
}
