package notebook

import (
	"strings"
	"testing"
)

func TestSetParameters(t *testing.T) {
	const declares = "lr, steps := 0.1, 10\nvar name = \"a\"\nconst depth = 2"
	tests := []struct {
		name   string
		source string // of the cell tagged parameters; "" for none
		values map[string]string
		want   string // source of the injected cell, or the error
	}{
		{"types of the cell", declares, map[string]string{"lr": "1", "steps": "-3", "name": "adam", "depth": "4"},
			"// Parameters\nconst depth = 4\nlr = 1\nname = \"adam\"\nsteps = -3"},
		{"a string that looks like a selector", declares, map[string]string{"name": "data.csv"}, "// Parameters\nname = \"data.csv\""},
		{"quoted", declares, map[string]string{"name": `"1"`}, "// Parameters\nname = \"1\""},
		{"without a parameters cell", "", map[string]string{"on": "true", "list": "[]int{1, 2}"}, "// Parameters\nlist := []int{1, 2}\non := true"},
		{"a cell of more than statements", "import \"os\"\nlr := 0.1", map[string]string{"other": "1"}, "// Parameters\nother := 1"},
		{"unknown", declares, map[string]string{"step": "3"}, `notebook: unknown parameter "step"; the cell tagged parameters declares depth, lr, name, steps`},
		{"not a name", "", map[string]string{"a b": "3"}, `notebook: parameter "a b", want the name of a Go variable`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			nb := code("first", "last")
			at := 0
			if test.source != "" {
				nb.Cells[0] = &Cell{Type: Code, Source: test.source, Metadata: map[string]any{"tags": []any{"parameters"}}}
				at = 1
			}
			var got string
			for range 2 { // the second time replaces the injected cell
				if err := nb.SetParameters(test.values); err != nil {
					got = err.Error()
				} else {
					got = nb.Cells[at].Source
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if n := len(nb.Cells); n != 3 && !strings.HasPrefix(test.want, "notebook:") {
				t.Errorf("%d cells, want 3", n)
			}
		})
	}
	nb := code("x = 1")
	nb.Metadata = map[string]any{"language_info": map[string]any{"name": "python"}}
	if err := nb.SetParameters(map[string]string{"x": "2"}); err == nil || err.Error() != "notebook: parameters for cells in python, want Go" {
		t.Errorf("parameters of Python cells: error %v", err)
	}
}
