package interp

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
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
