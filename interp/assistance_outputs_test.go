package interp

import (
	"slices"
	"strings"
	"testing"
)

// TestCompleteOutputs checks completion and help for Out[n], _n and _ in the statements of
// a cell, until the name has another meaning.
func TestCompleteOutputs(t *testing.T) {
	s := newSession(t)
	for i, code := range []string{"type point struct{ X, Y int }\npoint{1, 2}", "tensor.Ones(2, 3)", `"text"`} {
		evalFor(t, s, i+1, code, "")
	}
	matches := func(cell string) (list []string) {
		code, cursor := at(cell)
		for _, m := range s.Complete(code, cursor).Matches {
			list = append(list, m.Text+" "+m.Signature)
		}
		return list
	}
	for cell, want := range map[string]string{
		"___.|": "X int", "Out[1].|": "Y int", "_1.X|": "X int", "x := _2.Mat|": "MatMul ", "__.T|": "To ",
		"Ou|": "Out[2] *tensor.Tensor", "_|": "_1 point", "__|": "__ *tensor.Tensor", "I|": "In []string",
		"strings.ToUpper(_|": "_ string", "for i := range Out[2].Sh|": "Shape () []int",
	} {
		if got := matches(cell); !slices.ContainsFunc(got, func(m string) bool { return strings.HasPrefix(m, want) }) {
			t.Errorf("%s: got %q, want %q among them", cell, got, want)
		}
	}
	for _, cell := range []string{"_ := point{}\n_.|", "Out := []string{}\nOut[1].|", "func f() { _1.| }", "Out[7].|"} {
		if got := matches(cell); len(got) > 0 && strings.HasPrefix(got[0], "X") {
			t.Errorf("%s: got %q, want no match from Out[1]", cell, got)
		}
	}
	for cell, want := range map[string][]string{
		"_|":               {"var _ string", `text`},
		"__|.Sum()":        {"var __ *tensor.Tensor", "tensor([[1., 1., 1.]"},
		"O|ut[1]":          {"var ___ point", "X:1"},
		"fmt.Println(_1|)": {"var ___ point"},
		"I|n[2]":           {"var In []string", "tensor.Ones"},
		"Out[1].X|":        {"field X int", "1"},
	} {
		code, cursor := at(cell)
		b, ok := s.Inspect(code, cursor, 0)
		for _, w := range want {
			if !ok || !strings.Contains(b.String(), w) {
				t.Errorf("%s: got\n%s\nwant %s in it", cell, b, w)
			}
		}
	}
	evalFor(t, s, 4, "%reset", "")
	if got := matches("Ou|"); slices.ContainsFunc(got, func(m string) bool { return strings.HasPrefix(m, "Out[") }) {
		t.Errorf("after %%reset: got %q, want no match that begins with Out[", got)
	}
}
