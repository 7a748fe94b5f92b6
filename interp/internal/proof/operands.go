package proof

// operandDecls declares what forms of operands refer to.
const operandDecls = `type part struct { N int; S string; P *part; L []part; M map[string]part; F func(int) int; A [3]int; V any; pt }
func (p part) Get(n int) int { return p.N + n }
func (p *part) Self() *part { return p }
func parts() (part, *part, []int, map[string]int, [][]int, []func(int) int, any, func(int) func(int) int) {
	p := part{1, "ab", &part{N: 2, S: "cd"}, []part{{N: 3}, {N: 4, S: "ef"}}, map[string]part{"k": {N: 5}}, func(x int) int { return x + 6 }, [3]int{7, 8, 9}, 10, pt{11, 12}}
	return p, &p, []int{1, 2, 3}, map[string]int{"a": 4, "b": 5}, [][]int{{1}, {2, 3}}, []func(int) int{func(x int) int { return x * 2 }}, 13, func(a int) func(int) int { return func(b int) int { return a * b } }
}`

const operandVars = "p, q, l, m, ll, fs, v, ff := parts()\n_, _, _, _, _, _, _, _ = p, q, l, m, ll, fs, v, ff"

// operands lists expressions of type int and of type string.
var operands = []struct {
	kind  string
	texts []string
}{
	{"int", []string{"p.N", "q.N", "p.P.N", "q.P.N", "(*q).N", "(*q.P).N", "p.L[1].N", "q.L[len(q.L)-1].N", "p.M[\"k\"].N", "p.M[\"none\"].N", "p.A[2]", "q.A[p.N]", "(&p).A[0]", "p.X", "q.pt.Y",
		"p.Sum()", "q.Size()", "p.Get(1)", "q.Get(p.N)", "q.Self().N", "q.Self().Get(2)", "p.F(1)", "q.F(p.N)", "part.Get(p, 3)", "(*part).Self(q).N", "l[0]", "l[1:][1]", "l[:2][len(l)-2]", "l[1:3:3][0]", "l[l[0]]",
		"m[\"a\"]", "m[\"none\"]", "m[p.S[:1]]", "ll[1][0]", "ll[len(ll)-1][1]", "fs[0](4)", "ff(2)(3)", "ff(p.N)(ff(2)(2))", "v.(int)", "p.V.(int)", "any(p).(part).N", "any(q).(sizer).Size()", "-p.N", "^p.N", "+q.N",
		"p.N + q.N*2", "p.N<<3 | q.N", "(p.N + 1) * (q.P.N - 3)", "p.N - -q.N", "7 % (q.P.N + 1)", "len(p.S)", "len(l)", "cap(l[:1])", "len(m)", "len(ll[1])", "len(p.A)", "len(\"const\")", "min(p.N, 3, q.P.N)", "max(l[0], l[1])",
		"int(p.S[0])", "int(float64(q.N) * 2.5)", "int(uint8(300 - p.N))", "int(count(q.N))", "count(2).Size()", "copy(make([]int, 2), l)", "append([]int{1}, l...)[2]", "append(l, p.N)[3]", "[]int{1, p.N, 3}[1]", "[...]int{p.N, 2}[0]",
		"map[string]int{p.S: 3}[\"ab\"]", "part{N: 4}.N", "(&part{N: 4}).Get(1)", "struct{ A int }{p.N}.A", "func() int { return p.N + 1 }()", "func(a, b int) int { return a - b }(p.N, q.P.N)", "id(p.N)", "id(q).N", "*ptr(p.N)", "*&p.N", "box[int]{p.N}.Get()",
		"(box[part]{p}).V.P.N", "strings.Count(p.S, \"a\")", "strings.Index(p.S, string(p.S[1]))", "len(strings.Fields(\"a b\"))", "int(time.Duration(p.N).Nanoseconds())", "image.Pt(p.N, 2).Add(image.Pt(1, 1)).X", "<-full(p.N)", "len(full(1, 2))",
		"(<-full(p)).N", "new(part).N", "(*new(int))", "len([]byte(p.S))", "len(string([]rune{'a', 'é'}))", "int([]byte(p.S)[1])", "int([3]int(l)[1])", "len(fmt.Sprint(p.N, q.N))", "int(real(complex(float64(p.N), 4)))", "len(p.S + q.P.S)", "int((p.S + q.P.S)[2])"}},
	{"string", []string{"p.S", "q.P.S", "p.L[1].S", "p.S + q.S", "p.S[1:]", "p.S[:1] + \"z\"", "string(p.S[0])", "string([]byte{97, 98})", "string('é')", "fmt.Sprint(p.N)", "fmt.Sprintf(\"%d-%s\", p.N, q.S)", "strings.ToUpper(p.S)", "strings.Join([]string{p.S, q.P.S}, \"+\")",
		"word(p.S).String()", "pt{1, 2}.String()", "map[bool]string{true: p.S}[p.N == 1]", "any(p.S).(string)", "[]string{p.S, \"b\"}[1]", "func() string { return p.S }()", "id(p.S)", "(box[string]{p.S}).V", "max(p.S, q.P.S)", "strconv.Itoa(p.N + 1)", "(`raw` + p.S)", "errors.New(p.S).Error()"}},
}

// operandCells crosses forms of operands with positions.
func operandCells() (cells []Cell) {
	for _, o := range operands {
		k := byName(o.kind)[0]
		for i, text := range o.texts {
			for j, p := range positions {
				if (i+j)%2 != 0 {
					continue
				}
				if p.name == "loop variable" || text == "len(p.A)" && p.name == "case" {
					continue // the position declares a name of operandVars; a constant that the switch has
				}
				for _, c := range crossed(k, p, value{text, operandVars, text}) {
					c.Uses = append(c.Uses, "count", "word", "part")
					cells = append(cells, c)
				}
			}
		}
	}
	return cells
}
