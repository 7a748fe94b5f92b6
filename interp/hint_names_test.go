package interp

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"halfnote/interp/internal/front"
)

// TestOtherNames calls each method of torch that tensors lack, and runs the code that the hint gives.
func TestOtherNames(t *testing.T) {
	args := map[string]string{
		"astype": "tensor.Float16", "expand_as": "y", "inner": "y", "new_full": "2, 0.5", "scale": "2",
		"type_as": "y", "clip": "0, 1", "arctan2": "y", "divide": "y", "greater": "y", "greater_equal": "y", "less": "y",
		"less_equal": "y", "moveaxis": "0, 1", "multiply": "2", "not_equal": "y", "subtract": "y", "swapdims": "0, 1",
		"true_divide": "2", "logical_and": "y", "add_": "1",
	}
	s := newSession(t)
	n := 0
	run := func(code string) string {
		n++
		return evalFor(t, s, n, code, "")
	}
	if out := run("x, y := tensor.Ones(3, 3), tensor.Ones(3, 3).Mul(tensor.Arange(0, 3))"); out != "" {
		t.Fatal(out)
	}
	names := slices.Concat(slices.Sorted(maps.Keys(front.OtherNames)), slices.Sorted(maps.Keys(front.Aliases)), []string{"logical_and", "logical_not", "add_"})
	for _, name := range names {
		if name == "type" { // a keyword of Go
			name = "Type"
		}
		run("x = tensor.Ones(3, 3)")
		call := "x." + name + "(" + args[name] + ")"
		out := run(call)
		_, hint, ok := strings.Cut(out, "write ")
		if !ok || !strings.Contains(out, "undefined") {
			t.Errorf("%s: got no code to write: %s", call, out)
			continue
		}
		code, _, _ := strings.Cut(strings.TrimSpace(hint), "; ")
		if out := run(code); strings.Contains(out, "Error") || strings.Contains(out, "anic") {
			t.Errorf("%s: write %s: %s", call, code, out)
		}
	}
}
