package proof

import "strings"

// faults lists statements that panic. The texts are those of compiled Go.
var faults = []struct{ name, text string }{
	{"index", "l, i := []int{1, 2}, 5\n_ = l[i]"}, {"negative index", "l, i := []int{1, 2}, -1\n_ = l[i]"}, {"array index", "l, i := [2]int{1, 2}, 2\n_ = l[i]"}, {"string index", "s, i := \"abc\", 3\n_ = s[i]"}, {"assigned index", "l, i := []int{1}, 1\nl[i] = 2"}, {"pointer to array", "l, i := &[2]int{}, 7\nl[i]++"},
	{"slice", "l, i := []int{1, 2}, 5\n_ = l[:i]"}, {"slice low", "l, i := []int{1, 2}, 3\n_ = l[i:]"}, {"slice order", "l, i, j := []int{1, 2}, 2, 1\n_ = l[i:j]"}, {"slice 3", "l, i := []int{1, 2}, 3\n_ = l[0:1:i]"}, {"string slice", "s, i := \"abc\", 4\n_ = s[i:]"}, {"string slice order", "s, i, j := \"abc\", 2, 1\n_ = s[i:j]"}, {"array slice", "l, i := [3]int{}, 4\n_ = l[:i]"},
	{"nil pointer", "var p *pt\n_ = p.X"}, {"nil pointer write", "var p *pt\np.X = 1"}, {"nil pointer method", "var p *pt\np.Move(1)"}, {"nil pointer value method", "var p *pt\n_ = p.Sum()"}, {"nil dereference", "var p *int\n_ = *p"}, {"nil dereference write", "var p *int\n*p = 1"}, {"nil array pointer", "var p *[2]int\np[0] = 1"},
	{"nil map", "var m map[string]int\nm[\"a\"] = 1"}, {"nil map op", "var m map[string][]int\nm[\"a\"] = append(m[\"a\"], 1)"}, {"nil func", "var f func()\nf()"}, {"nil func field", "var h struct { F func(int) int }\n_ = h.F(1)"}, {"nil interface", "var s sizer\n_ = s.Size()"}, {"nil error", "var err error\n_ = err.Error()"},
	{"assertion", "var v any = 1\n_ = v.(string)"}, {"assertion of nil", "var v any\n_ = v.(string)"}, {"assertion of a struct", "var v any = pt{1, 2}\n_ = v.(*pt)"}, {"assertion to an interface", "var v any = 1\n_ = v.(sizer)"}, {"assertion of nil to an interface", "var v any\n_ = v.(sizer)"}, {"assertion of an interface", "var v sizer = pt{}\n_ = v.(*pt)"}, {"assertion to Stringer", "var v any = []int{1}\n_ = v.(fmt.Stringer)"},
	{"assertion of a generic type", "var v any = box[int]{1}\n_ = v.(box[string])"}, {"assertion of an error", "var err error = errors.New(\"a\")\n_ = err.(interface{ Timeout() bool })"}, {"assertion to a func", "var v any = 1\n_ = v.(func(int) string)"}, {"assertion of a pointer method", "var v any = pt{}\n_ = v.(interface{ Move(int) })"},
	{"division", "x, y := 1, 0\n_ = x / y"}, {"remainder", "x, y := int8(1), int8(0)\n_ = x % y"}, {"division assigned", "x, y := uint(1), uint(0)\nx /= y"}, {"shift", "x, n := 1, -1\n_ = x << n"},
	{"close nil", "var c chan int\nclose(c)"}, {"close twice", "c := make(chan int)\nclose(c)\nclose(c)"}, {"send closed", "c := make(chan int, 1)\nclose(c)\nc <- 1"}, {"make slice", "n := -1\n_ = make([]int, n)"}, {"make slice cap", "n, m := 2, 1\n_ = make([]int, n, m)"}, {"make chan", "n := -1\n_ = make(chan int, n)"},
	{"key", "m := map[any]int{}\nm[[]int{1}] = 1"}, {"key read", "m := map[any]int{}\n_ = m[func() {}]"}, {"compare", "var x, y any = []int{1}, []int{1}\n_ = x == y"}, {"compare maps", "var x, y any = map[string]int{}, map[string]int{}\n_ = x == y"}, {"compare structs", "type s struct { V any }\nx, y := s{[]int{1}}, s{[]int{1}}\n_ = x == y"},
	{"array of a slice", "l := []int{1}\n_ = [2]int(l)"}, {"pointer to an array of a slice", "l := []int{1}\n_ = (*[2]int)(l)"}, {"panic string", "panic(\"text\")"}, {"panic error", "panic(fmt.Errorf(\"e %w\", io.EOF))"}, {"panic struct", "panic(pt{1, 2})"}, {"panic int", "panic(42)"}, {"panic nil", "panic(nil)"}, {"panic pointer", "panic(&pt{1, 2})"}, {"panic unnamed", "panic(struct{ A int }{1})"},
	{"repeat", "n := -1\n_ = strings.Repeat(\"a\", n)"}, {"unwound", "defer func() { show(\"first\") }()\ndefer func() { panic(\"second\") }()\npanic(\"one\")"}, {"nested index", "l, i := [][]int{{1}}, 3\nl[0][i] += 2"}, {"index of a call", "f := func() []string { return nil }\n_ = f()[0]"}, {"element of a nil slice", "var l []pt\nl[0].X = 1"},
}

// wraps lists where the statement $W panics.
var wraps = []struct{ name, text string }{
	{"function", "$W"}, {"closure", "func() {\n$W\n}()"}, {"recovered", "func() {\ndefer func() {\nr := recover()\n_, isError := r.(error)\nshow(fmt.Sprint(r), fmt.Sprint(isError))\n}()\n$W\n}()"},
	{"runtime error", "defer func() {\nr := recover()\nerr, ok := r.(interface{ RuntimeError() })\nshow(fmt.Sprint(ok, err != nil))\nshow(fmt.Sprintf(\"%v\", r))\n}()\n$W"},
	{"deferred", "defer func() { show(fmt.Sprint(recover())) }()\ndefer func() {\n$W\n}()\nshow(\"body\")"}, {"loop", "for i := range 2 {\nfunc() {\ndefer func() { show(fmt.Sprint(i, recover())) }()\n$W\n}()\n}"},
	{"iterator", "defer func() { show(fmt.Sprint(recover())) }()\nfor range upto(2) {\n$W\n}"}, {"goroutine", "c := make(chan string)\ngo func() {\ndefer func() { c <- fmt.Sprint(recover()) }()\n$W\n}()\nshow(<-c)"},
}

// faultCells crosses statements that panic and what is around them.
func faultCells() (cells []Cell) {
	for _, f := range faults {
		for _, w := range wraps {
			if strings.HasPrefix(f.text, "panic(&") || strings.Contains(f.text, "panic(\"one") && w.name == "goroutine" {
				continue
			}
			cells = append(cells, Cell{[]string{f.name, w.name}, nil, "", "", strings.ReplaceAll(w.text, "$W", f.text)})
		}
	}
	return cells
}
