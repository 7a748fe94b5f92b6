package proof

import "strings"

// convertible lists types and a variable's value of each, by groups within which every type converts to every other one.
var convertible = [][]struct{ typ, values string }{
	{{"int", "-5, 300, 1 << 40"}, {"int8", "-5, 127"}, {"int16", "-300, 1000"}, {"int32", "-70000, 'é'"}, {"int64", "-1 << 40, 7"}, {"uint", "5, 1 << 63"}, {"uint8", "5, 250"}, {"uint16", "5, 65000"},
		{"uint32", "5, 1 << 31"}, {"uint64", "5, 1<<64 - 1"}, {"uintptr", "5, 1 << 33"}, {"count", "-5, 300"}, {"level", "1, 200"}, {"addr", "5, 70000"}, {"time.Duration", "5, 1 << 41"}},
	{{"float32", "1.5, -2.25"}, {"float64", "1.5, -3.75"}, {"ratio", "1.5, 100"}, {"int", "-5, 100"}, {"int8", "-5, 100"}, {"uint8", "5, 100"}, {"count", "-5, 100"}, {"int64", "-5, 1 << 20"}, {"uint32", "7, 9"}},
	{{"string", `"bé", ""`}, {"word", `"bé", "x"`}, {"[]byte", `[]byte("bé"), nil`}},
	{{"string", `"bé", ""`}, {"[]rune", `[]rune("bé"), nil`}, {"word", `"bé", "x"`}},
	{{"complex64", "1 + 2i, 3"}, {"complex128", "1 + 2i, 3"}},
	{{"[]int", "[]int{1, 2}, nil"}, {"ints", "ints{1, 2}, nil"}, {"sort.IntSlice", "sort.IntSlice{3}, nil"}},
	{{"map[string]bool", `map[string]bool{"b": true}, nil`}, {"set", `set{"b": true}, nil`}},
	{{"pt", "pt{1, 2}, pt{}"}, {"derived", "derived{1, 2}, derived{}"}, {"struct{ X, Y int }", "struct{ X, Y int }{1, 2}, struct{ X, Y int }{}"}},
	{{"func(int) int", fn + "+ 1 }, nil"}, {"handler", "handler(" + fn + "+ 1 }), nil"}},
	{{"chan int", "full(1), nil"}, {"pipe", "pipe(full(1)), nil"}},
	{{"bool", "true, false"}, {"flag", "true, false"}},
}

// conversionForms lists uses of a conversion of v to the type $U.
var conversionForms = []struct{ name, text string }{
	{"plain", "y := $U(v)\nshow(str(y))"}, {"nested", "y := $U($T($U(v)))\nshow(str(y))"}, {"argument", "show(str($U(v)), str(id($U(v))))"},
	{"return", "f := func() $U { return $U(v) }\nshow(str(f()))"}, {"element", "y := []$U{$U(v), 1: $U(v)}\nshow(str(y[1]))"}, {"any", "var y any = $U(v)\nz, ok := y.($U)\nshow(str(z), fmt.Sprint(ok))"},
	{"logical", "ok := str($U(v)) == str($U(v)) && yes(\"r\")\nshow(fmt.Sprint(ok))"},
}

// conversionDecls declares a function that shows values of all types that conversions have.
const conversionDecls = `func str[T any](x T) string {
	switch x := any(x).(type) {
	case func(int) int: if x == nil { return "nil" }; return fmt.Sprint(x(3))
	case handler: if x == nil { return "nil" }; return fmt.Sprint(x(3))
	case chan int: return fmt.Sprint(len(x))
	case pipe: return fmt.Sprint(len(x))
	}
	return fmt.Sprint(x)
}`

// conversionCells crosses types from and to which values convert, and uses of the result.
func conversionCells() (cells []Cell) {
	needs := []string{"count", "word", "flag", "ratio", "addr", "level", "ints", "set", "derived", "handler", "pipe", "str"}
	for _, group := range convertible {
		for i, from := range group {
			for j, to := range group {
				for l, form := range conversionForms {
					if (i+j+l)%3 != 0 {
						continue
					}
					text := strings.NewReplacer("$T", "("+from.typ+")", "$U", "("+to.typ+")").Replace(form.text)
					body := "for _, v := range []" + from.typ + "{" + from.values + "} {\n" + text + "\n}"
					name := strings.NewReplacer(" ", "", "/", "").Replace
					cells = append(cells, Cell{[]string{name(from.typ), name(to.typ) + " " + name(group[1].typ), form.name}, needs, "", "", body})
				}
			}
		}
	}
	return cells
}
