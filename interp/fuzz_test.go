package interp

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"halfnote/internal/testenv"
	"halfnote/kernel/eval"
)

// FuzzComplete checks that completion and help return for any text and cursor, and that
// every match begins with the text that it replaces.
func FuzzComplete(f *testing.F) {
	for _, tt := range []struct {
		code   string
		cursor int
	}{
		{"net.", 4}, {"strings.ToUpper(", 16}, {"type T[P any] struct{ a P }\nT[int]{", 35}, {"func (n *Net) M() { n.", 22},
		{"import \"ma", 10}, {"if x := f(); x.", 15}, {"%%time\nx := func(", 17}, {"for i := range 3 { switch v := any(i).(type) { case ", 52},
		{"points[\"a\"].X", 8}, {"held.X + 1", 6}, {"os.Open(\"te\")", 11}, {"%cd test", 8}, {"%env HO", 7}, {"?net", 4}, {"net.Forward??", 5},
		{"outer:\nfor { break o }", 21}, {"Net{Hidden: 1, }", 15}, {"go net.Fo", 9}, {"x := `\r\n`\r\nnet.\r\n", 15}, {"žluť := 'ť' + 0x1f; žl", 22},
		{"/* \n */ a\n//line x.go:9\nne", 27}, {"hex.Dump(", 9}, {"list[0].", 8}, {"(*Net).Forward", 10}, {"%%bash\necho $x", 10},
	} {
		f.Add(tt.code, tt.cursor)
	}
	s := newSession(f)
	evalFor(f, s, 1, "type Net struct{ Hidden int; fc *nn.Linear }\nfunc (n *Net) Forward(x *tensor.Tensor) *tensor.Tensor { return n.fc.Forward(x) }\nnet := &Net{}\ntype Point struct{ X, Y int }\nfunc (p Point) Norm() int { return p.X }\nvar held any = Point{1, 2}\npoints := map[string]*Point{\"a\": {1, 2}, \"b\\\"\\n\": nil}\nlist := []any{3, \"x\", Point{3, 4}, nil}\nx := tensor.Ones(2, 3)", "")
	f.Fuzz(func(t *testing.T, code string, cursor int) {
		if !utf8.ValidString(code) || cursor < 0 || cursor > utf8.RuneCountInString(code) || len(code) > 300 {
			t.Skip()
		}
		defer time.AfterFunc(patience, func() { panic("did not return: " + code) }).Stop()
		c := s.Complete(code, cursor)
		if c.Start < 0 || c.Start > c.End || c.End != cursor {
			t.Fatalf("got replacement of %d to %d, want to %d", c.Start, c.End, cursor)
		}
		replaced := string([]rune(code)[c.Start:c.End])
		for _, m := range c.Matches {
			if !strings.HasPrefix(m.Text, "(") && !strings.EqualFold(m.Text[:min(len(replaced), len(m.Text))], replaced) {
				t.Errorf("got match %q for %q", m.Text, replaced)
			}
			if m.Text == "" || m.Type == "" || !utf8.ValidString(m.Text) {
				t.Errorf("got %+v", m)
			}
		}
		if b, ok := s.Inspect(code, cursor, 1); ok && b.Data["text/plain"] == "" {
			t.Error("got found with an empty explanation")
		}
	})
}

// FuzzCell checks that the front end returns for any cell, and that twice the text takes about twice the work. A cell is a part that is repeated, so that
// it is as long as wanted, and one that closes it as often: "f(" and ")" nest calls. Its work is counted in bytes that are allocated.
func FuzzCell(f *testing.F) {
	for _, c := range [][2]string{
		{"f(", ")"}, {"xs[", "]"}, {"(", ")"}, {"-", ""}, {"&", ""}, {"[]", "int{}"}, {"func() {", "}()"}, {"if true {", "}"}, {"for {", "}"}, {"{", "}"},
		{"switch {\ncase true:\n", "}"}, {"if x := 1; x > 0 {} else ", "{}"}, {"struct{ a ", "}"}, {"map[string]", "int{}"}, {"// x\n", ""}, {"/* x */", ""},
		{"x.y", ""}, {"1 + ", "1"}, {"\"a\" + ", "\"b\""}, {"x, ", "x"}, {"x = 1; ", ""}, {"type T struct{}\n", ""}, {"func g() {}\n", ""}, {"import \"fmt\"\n", ""},
		{"%time x\n", ""}, {"%%time\n", ""}, {"!echo {x}\n", ""}, {"x?\n", ""}, {"\\\n", ""}, {"`", "`"}, {"\"", "\""}, {"L: ", "x = 1"}, {"T[", "]"}, {"var v = ", "1"}, {"#", "\""}, {"T[", "["}, {"[[]", "int{}"},
	} {
		f.Add(c[0], c[1])
	}
	cells, share := 0, testenv.Share(f, 40)
	for _, file := range glob(f, "testdata/*.txtar") {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range a.Files {
			if cells++; strings.HasPrefix(part.Name, "cell") && len(part.Data) < 500 && cells%share == 0 {
				f.Add(string(part.Data)+"\n", "")
			}
		}
	}
	s := newSession(f)
	evalFor(f, s, 1, "xs := []int{1}\nx := 1\nf := func(n int) int { return n }", "")
	f.Fuzz(func(t *testing.T, part, end string) {
		if !utf8.ValidString(part) || !utf8.ValidString(end) || part == "" || len(part)+len(end) > 500 {
			t.Skip()
		}
		defer time.AfterFunc(patience, func() { panic("did not return: " + part + end) }).Stop()
		cell := func(n int) string { return strings.Repeat(part, n) + strings.Repeat(end, n) }
		small := 2 + 2000/(len(part)+len(end))/2*2 // even, so that quotes that open are closed in both
		for name, look := range map[string]func(code string){
			"the check":  func(code string) { magicHost{s}.Check(eval.Cell{Code: code, Count: 2}, &recorder{}) },
			"IsComplete": func(code string) { s.IsComplete(code) },
			"Format":     func(code string) { Format(code) },
			"Complete":   func(code string) { s.Complete(code, utf8.RuneCountInString(code)) },
			"Inspect":    func(code string) { s.Inspect(code, utf8.RuneCountInString(code)/2, 0) },
		} {
			look(cell(1))
			if name == "Format" && (end != "" || strings.Contains(part, "%%")) { // the square: indentation of nested blocks, and magics that apply to magics
				continue
			}
			once, twice := bytesOf(func() { look(cell(small)) }), bytesOf(func() { look(cell(2 * small)) })
			if limit := 3*once + 8<<20; twice > limit {
				t.Errorf("%s: %d bytes for %d times the part %q and the end %q, %d for twice as many", name, once, small, part, end, twice)
			}
		}
	})
}

// bytesOf returns the number of bytes that f allocates.
func bytesOf(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
