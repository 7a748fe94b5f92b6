package chart

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// TestLargeMatrix checks that the interactive form of a matrix with more elements than fit shows elements, the extremes among them.
func TestLargeMatrix(t *testing.T) {
	m := matrix{rows: 300, columns: 200, numbers: numbers{values: slices.Concat(normal(30000), normal(30000))}}
	m.values[4321], m.values[54321] = 50, -60
	v, by := m.view(Width, matrixHeight, mostPoints)
	if by < 2 || len(v.layers[0].rows) > mostPoints {
		t.Fatalf("got %d cells of %d × %[2]d elements, want at most %d", len(v.layers[0].rows), by, mostPoints)
	}
	var shown []float64
	for _, r := range v.layers[0].rows {
		i, k, value := r.facts[0].(int), r.facts[1].(int), r.facts[2].(float64)
		if m.values[i*m.columns+k] != value {
			t.Fatalf("row %d, column %d: got %g, want %g", i, k, value, m.values[i*m.columns+k])
		}
		shown = append(shown, value)
	}
	if lo, hi := slices.Min(shown), slices.Max(shown); lo != -60 || hi != 50 {
		t.Errorf("got values from %g to %g, want -60 to 50", lo, hi)
	}
	m.values[4322] = nan
	if i, k := m.extreme(0, 20, 25, 100, 125); i*m.columns+k != 4322 {
		t.Errorf("got the element in row %d, column %d, want the one that is not finite", i, k)
	}
}

// TestReasonsBelow checks that the interactive form of the dtypes of a step explains the reasons that the picture explains.
func TestReasonsBelow(t *testing.T) {
	ops := []OpDType{{Name: "linear", Phase: "forward", DType: "float16", Why: "lower"}, {Name: "mse_loss", Phase: "forward", DType: "float32", Why: "fp32"}}
	why := newOpSheet(ops).why
	spec, err := json.Marshal(DTypes(ops).VegaLite())
	if err != nil || len(why) != 2 {
		t.Fatal(why, err)
	}
	for _, line := range why {
		if !strings.Contains(strings.ReplaceAll(string(spec), `","`, " "), line) { // it may take several lines
			t.Errorf("the interactive form lacks %q", line)
		}
	}
}

// TestSymbolsWithoutDashes checks that a legend shows dashes only on lines: dashes around a symbol fray it.
func TestSymbolsWithoutDashes(t *testing.T) {
	kinds := []kind{{name: "a", color: textInk, symbol: dot}, {name: "b", color: textInk, symbol: diamond, dashes: []vg.Length{4, 2}}}
	marked := layer{rows: []row{{kind: 0}, {kind: 1}}}
	for _, tt := range []struct {
		of     mark
		legend bool
	}{{points{}, false}, {curves{}, true}} {
		marked.mark = tt.of
		v := view{kinds: kinds, layers: []layer{marked}}
		if _, dashes := v.colors(marked); (dashes["legend"] != nil) != tt.legend {
			t.Errorf("%T: got the legend %v of dashes, want one: %t", tt.of, dashes["legend"], tt.legend)
		}
	}
}

// TestLettersOnBands checks that the letters of dtypes on float16's bands have the ink of text, which TestContrast compares with the bands.
func TestLettersOnBands(t *testing.T) {
	letters := 0
	for _, l := range rangeView(ranges(20)).layers {
		for _, r := range l.rows {
			if _, ok := l.mark.(texts); !ok {
				continue
			}
			letters++
			for name, th := range themes {
				if r.color == nil || r.color(th) != th.Text {
					t.Errorf("%s: the letter %s has another ink than text", name, r.text)
				}
			}
		}
	}
	if letters == 0 {
		t.Error("got no letters")
	}
}
