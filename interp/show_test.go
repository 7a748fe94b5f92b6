package interp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"halfnote/kernel/eval"
)

// TestTables shows slices of structs, and maps, as the last expression.
func TestTables(t *testing.T) {
	const head = `type Run struct { Name string; LR float64; steps int; Inner struct{ A, B int } }
type Loud struct { N int }
func (l Loud) String() string { return fmt.Sprint("loud ", l.N) }
type Color int
`
	tests := []struct {
		code string
		want []string // cells of the table from left to right; nil if there is none
	}{
		{`[]Run{{Name: "a", LR: 0.25, steps: 10}, {Name: "<b>", LR: 1}}`, []string{"", "Name", "LR", "steps", "Inner", "0", "a", "0.25", "10", "{A:0 B:0}", "1", "&lt;b&gt;", "1", "0", "{A:0 B:0}"}},
		{`[]*Run{{Name: "a"}, nil}`, []string{"", "Name", "LR", "steps", "Inner", "0", "a", "0", "0", "{A:0 B:0}", "1", "", "", "", ""}},
		{`[2]struct{ C Color; D time.Duration }{{1, 2}}`, []string{"", "C", "D", "0", "1", "2 ns", "1", "0", "0 ns"}},
		{`[]struct{ A any }{{1}, {Run{Name: "in"}}, {nil}}`, []string{"", "A", "0", "1", "1", "Run{Name:in LR:0 steps:0 Inner:{A:0 B:0}}", "2", ""}},
		{`map[string]Run{"b": {Name: "x", LR: 1}, "a": {steps: 3}}`, []string{"key", "Name", "LR", "steps", "Inner", "a", "", "0", "3", "{A:0 B:0}", "b", "x", "1", "0", "{A:0 B:0}"}},
		{`map[Color]*Run{10: nil, 9: {Name: "x"}}`, []string{"key", "Name", "LR", "steps", "Inner", "9", "x", "0", "0", "{A:0 B:0}", "10", "", "", "", ""}},
		{`map[string][]Run{"a": {{Name: "x"}}}`, []string{"key", "value", "a", "[Run{Name:x LR:0 steps:0 Inner:{A:0 B:0}}]"}},
		{`map[Loud]int{{1}: 5}`, []string{"key", "value", "loud 1", "5"}},
		{`map[string]Loud{"a": {1}}`, []string{"key", "value", "a", "loud 1"}},
		{`map[string]struct{ X, Y int }{"p": {1, 2}}`, []string{"key", "X", "Y", "p", "1", "2"}},
		{`map[string]Run{}`, nil},
		{`[]Loud{{1}}`, nil},
		{`[]Run{}`, nil},
		{`[]Color{1, 2}`, nil},
	}
	s := newSession(t)
	evaluate := func(n int, code string) string {
		r := s.Eval(context.Background(), eval.Cell{Code: code, Count: n}, &recorder{})
		if r.Err != nil {
			t.Fatalf("%s: %v", code, r.Err)
		}
		if r.Value == nil {
			return ""
		}
		html, _ := r.Value.Data["text/html"].(string)
		return html
	}
	evaluate(1, head)
	for i, test := range tests {
		var got []string
		for _, part := range strings.Split(evaluate(i+2, test.code), "</t") {
			if j := strings.LastIndex(part, `">`); j >= 0 && strings.Contains(part, "padding:") {
				got = append(got, part[j+len(`">`):])
			}
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
			t.Errorf("%s: table with cells %q, want %q", test.code, got, test.want)
		}
	}
}
