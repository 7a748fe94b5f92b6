package proof

import "strings"

// loops lists statements with a body $W that sees the number i, and leaves or continues the loop as leaves says.
var loops = []struct{ name, text string }{
	{"for", "for i := 0; i < 4; i++ {\n$W\n}"}, {"while", "i := -1\nfor i < 3 {\ni++\n$W\n}"}, {"endless", "for i := 0; ; i++ {\nif i > 3 { break }\n$W\n}"}, {"range int", "for i := range 4 {\n$W\n}"}, {"range slice", "for i := range []int{1, 2, 3, 4} {\n$W\n}"}, {"range value", "for _, i := range []int{0, 1, 2, 3} {\n$W\n}"},
	{"range array", "for _, i := range [4]int{0, 1, 2, 3} {\n$W\n}"}, {"range pointer", "for i := range &[4]int{} {\n$W\n}"}, {"range string", "for i := range \"abcd\" {\n$W\n}"}, {"range channel", "for i := range shut(0, 1, 2, 3) {\n$W\n}"}, {"range func", "for i := range upto(4) {\n$W\n}"}, {"range func of two", "for i, s := range func(yield func(int, string) bool) {\n_ = yield(0, \"a\") && yield(1, \"b\") && yield(2, \"c\") && yield(3, \"d\")\n} {\nshow(s)\n$W\n}"},
	{"range map", "for i := range map[int]bool{2: true} {\n$W\n}"}, {"goto", "i := 0\nagain:\nif i < 4 {\nfunc() {\nfor range 1 {\n$W\n}\n}()\ni++\ngoto again\n}"}, {"range uint8", "for i := range uint8(3) {\n$W\n}"}, {"two", "for i, j := 0, 9; i < j; i, j = i+1, j-2 {\nshow(fmt.Sprint(j))\n$W\n}"},
	{"switch in a loop", "for i := range 4 {\nswitch i {\ncase 1, 3:\nshow(\"odd\")\ndefault:\n$W\n}\n}"}, {"select in a loop", "c := full(0, 1, 2)\nfor range 4 {\nselect {\ncase i := <-c:\n$W\ndefault:\nshow(\"none\")\n}\n}"}, {"closure in a loop", "var fs []func()\nfor i := range 3 {\nfs = append(fs, func() {\nfor range 1 {\n$W\n}\n})\n}\nfor _, f := range fs { f() }"},
	{"iterator in an iterator", "for j := range upto(2) {\nfor i := range upto(3) {\nshow(fmt.Sprint(j))\n$W\n}\n}"}, {"labelled", "outer:\nfor i := range 4 {\nfor j := range upto(3) {\nif j == 1 { continue outer }\nif i == 3 { break outer }\n$W\n}\n}"}, {"labelled iterators", "outer:\nfor i := range upto(4) {\nfor j := range upto(3) {\nif j == 1 { continue outer }\nif i == 3 { break outer }\n$W\n}\n}"},
	{"generic iterator", "for i := range each(0, 1, 2) {\n$W\n}"}, {"slices.Values", "for _, s := range strings.Fields(\"a b c\") {\ni := len(s)\n$W\n}"},
}

// leaves lists bodies of loops.
var leaves = []struct{ name, text string }{
	{"print", "show(fmt.Sprint(i))"}, {"break", "show(fmt.Sprint(i))\nif i == 1 { break }"}, {"continue", "if i == 1 { continue }\nshow(fmt.Sprint(i))"}, {"return", "show(fmt.Sprint(i))\nif i == 2 { return }"}, {"defer", "defer func() { show(\"deferred\", fmt.Sprint(i)) }()\nshow(fmt.Sprint(i))"},
	{"defer and return", "defer func(n int) { show(\"deferred\", fmt.Sprint(n)) }(int(i))\nif i == 1 { return }"}, {"panic", "if i == 1 { panic(\"at one\") }\nshow(fmt.Sprint(i))"}, {"recover", "func() {\ndefer func() { show(fmt.Sprint(recover())) }()\nif i >= 1 { panic(i) }\n}()"}, {"switch", "switch {\ncase i == 0:\nshow(\"zero\")\nfallthrough\ncase i == 7:\nshow(\"after\")\ncase i == 2:\nbreak\ndefault:\nshow(fmt.Sprint(i))\n}"},
	{"type switch", "for _, v := range []any{int(i), \"s\", nil, 2.5} {\nswitch v := v.(type) {\ncase int, float64:\nshow(fmt.Sprint(v))\ncase nil:\nshow(\"nil\")\ncase string:\nshow(v + \"!\")\n}\n}"}, {"closure", "f := func() string { return fmt.Sprint(i) }\ni++\nshow(f())\ni--"}, {"shadow", "i := i + 1\nif i := i * 2; i > 2 {\nshow(fmt.Sprint(i))\n}\nshow(fmt.Sprint(i))"},
	{"inner loop", "for j := range int(i) {\nif j == 1 { continue }\nif j == 3 { break }\nshow(fmt.Sprint(i, j))\n}"}, {"if chain", "if i == 0 {\nshow(\"a\")\n} else if x := i * 2; x == 2 {\nshow(\"b\", fmt.Sprint(x))\n} else {\nshow(\"c\", fmt.Sprint(x))\n}"}, {"block", "{\ni := \"inner\"\nshow(i)\n}\nshow(fmt.Sprint(i))"},
	{"empty case", "switch i {\ncase 0:\ncase 1:\n;\ncase 2:\nshow(\"two\")\n}\nshow(fmt.Sprint(i))"}, {"computed case", "two := func() int { show(\"asked\"); return 2 }\nswitch int(i) {\ncase 0, two(), two() + 1:\nshow(\"in\")\ndefault:\nshow(\"out\")\n}"}, {"select", "c, d := make(chan int, 1), make(chan string)\nc <- int(i)\nselect {\ncase x, ok := <-c:\nshow(fmt.Sprint(x, ok))\ncase s := <-d:\nshow(s)\n}"}, {"goto", "n := 0\nretry:\nn++\nif n < 3 { goto retry }\nshow(fmt.Sprint(i, n))"},
}

// controlCells crosses loops, their bodies, and kinds of functions around them.
func controlCells() (cells []Cell) {
	around := []struct{ name, text string }{
		{"function", "$L\nshow(\"after\")"}, {"literal", "func() {\n$L\n}()\nshow(\"after\")"}, {"result", "f := func() (s string) {\ndefer func() { s += fmt.Sprint(recover()) }()\nrun := func() {\n$L\n}\nrun()\nreturn \"returned \"\n}\nshow(f())"}, {"iterator", "for range upto(1) {\nfunc() {\n$L\n}()\n}\nshow(\"after\")"}, {"in an iterator", "for range upto(2) {\n$L\n}\nshow(\"after\")"},
	}
	for _, l := range loops {
		for _, b := range leaves {
			for _, a := range around {
				if l.name == "goto" && strings.Contains(b.text, "goto") || strings.Contains(l.text, "again:") && (b.name == "shadow" || a.name == "in an iterator") || b.name == "shadow" && strings.Contains(l.text, "i := <-c") || b.name == "shadow" && strings.Contains(l.text, "i := len") || b.name == "closure" && (l.name == "while" || l.name == "goto") {
					continue
				}
				body := strings.ReplaceAll(a.text, "$L", strings.ReplaceAll(l.text, "$W", b.text))
				cells = append(cells, Cell{[]string{l.name, b.name, a.name}, nil, "", "", body})
			}
		}
	}
	return cells
}
