package chart

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestJSONHasData compares the rows of WriteJSON with those of WriteCSV for every chart.
func TestJSONHasData(t *testing.T) {
	same := []Series{{Name: "run", Values: []float64{1, 2}}, {Name: "run", Values: []float64{3}}, {Values: []float64{4}}}
	for _, s := range append(someSamples(t, 8), sample{name: "same names", fig: Loss(same)}) {
		lines, err := csv.NewReader(strings.NewReader(s.fig.Data())).ReadAll()
		if err != nil && len(s.fig.head) > 0 {
			t.Fatalf("%s: %v", s.name, err)
		}
		var b strings.Builder
		if err := s.fig.WriteJSON(&b); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		var rows []map[string]any
		if err := json.Unmarshal([]byte(b.String()), &rows); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if len(rows) != max(len(lines)-1, 0) {
			t.Fatalf("%s: got %d rows, want %d", s.name, len(rows), len(lines)-1)
		}
		for i, row := range rows {
			for j, text := range lines[i+1] {
				v, ok := row[lines[0][j]]
				if !ok {
					t.Fatalf("%s: row %d lacks %q; two columns may have one name", s.name, i, lines[0][j])
				}
				switch v := v.(type) {
				case nil:
					ok = slices.Contains([]string{"NaN", "+Inf", "-Inf", ""}, text)
				case float64:
					want, err := strconv.ParseFloat(text, 64)
					ok = err == nil && v == want
				case bool:
					ok = strconv.FormatBool(v) == text
				case string:
					ok = v == text
				}
				if !ok {
					t.Errorf("%s: row %d, %s: got %v, want %s", s.name, i, lines[0][j], v, text)
				}
			}
		}
	}
}

// TestDataIsWhole checks that the data of a figure has what its axes add: errors of each set, and the lines of a second y axis, also after
// later changes of the axes and in a grid.
func TestDataIsWhole(t *testing.T) {
	x, a, b, e := []float64{1, 10}, []float64{.5, .25}, []float64{3, 4}, []float64{.1, .2}
	twin := Plot(x, a, "loss").TwinX(Step(x, b, "scale"))
	for _, tt := range []struct {
		name string
		fig  *Figure
		want string
	}{
		{"error bars", Plot(a, "a", b, "b").ErrorBars(nil, e), "x,a,b,b error\n0,0.5,3,0.1\n1,0.25,4,0.2\n"},
		{"two distances", Plot(x, a).ErrorBars([][]float64{e, b}), "x,value,error below,error above\n1,0.5,0.1,3\n10,0.25,0.2,4\n"},
		{"bands and bars", Step(a, "a").Bands(e).ErrorBars(b), "x,a,a error,a band\n0,0.5,3,0.1\n1,0.25,4,0.2\n"},
		{"lines over other positions", Plot(x, a, "a", b, "b").ErrorBars(e), "name,x,value,error\na,1,0.5,0.1\na,10,0.25,0.2\nb,0,3,\nb,1,4,\n"},
		{"points", Scatter(x, a).Bands([][]float64{e, b}), "x,value,band below,band above\n1,0.5,0.1,3\n10,0.25,0.2,4\n"},
		{"a point apart", BoxPlot([]float64{1, 1, 2, 2, 9}, "p"), "name,median,25 %,75 %,lowest,highest,beyond\np,2,1,2,1,2,\np,,,,,,9\n"},
		{"bars", BarPlot([]string{"p", "q"}, a).ErrorBars(e), "name,value,error\np,0.5,0.1\nq,0.25,0.2\n"},
		{"groups of bars", BarPlot([]string{"p", "q"}, a, "a", b, "b").ErrorBars(nil, e), "name,run,value,error\np,a,0.5,\nq,a,0.25,\np,b,3,0.1\nq,b,4,0.2\n"},
		{"two axes", twin, "x,loss,scale\n1,0.5,3\n10,0.25,4\n"},
		{"two axes, then a name", twin.XLabel("step").LogX(), "step,loss,scale\n1,0.5,3\n10,0.25,4\n"},
		{"two axes with errors", Plot(x, a, "loss").Bands(e).TwinX(Plot(x, b, "scale").ErrorBars(e)), "x,loss,loss band,scale,scale error\n1,0.5,0.1,3,0.1\n10,0.25,0.2,4,0.2\n"},
		{"two axes over other positions", Plot(a, "loss").TwinX(Plot(x, b, "scale")).XLabel("step"), "chart,step,loss,scale\n1,0,0.5,\n1,1,0.25,\n2,1,,3\n2,10,,4\n"},
		{"a grid", Grid(2, twin, Plot(x, b, "b").ErrorBars(e)).ShareX(), "chart,x,loss,scale,b,b error\n1,1,0.5,3,,\n1,10,0.25,4,,\n2,1,,,3,0.1\n2,10,,,4,0.2\n"},
	} {
		if got := tt.fig.Data(); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
	if text := twin.XLabel("step").YLim(0, 1).String(); !strings.Contains(text, "axis at the right") {
		t.Errorf("the sentence after a change of the axes: %q", text)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := Loss([]Series{{Name: "run", Values: []float64{1, nan}}})
	for name, start := range map[string]string{
		"a.png": "\x89PNG", "a.svg": "<?xml", "a.HTML": "<figure", "a.csv": "step,run\n", "a.json": "[\n {\"step\": 0, \"run\": 1}",
	} {
		path := filepath.Join(dir, name)
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(data), start) {
			t.Errorf("%s: got %.20q (%v), want it to begin with %q", name, data, err, start)
		}
	}
	if err := f.Save(filepath.Join(dir, "a.gif")); err == nil || !strings.Contains(err.Error(), ".csv or .json") {
		t.Errorf("got %v, want an error that lists the formats", err)
	}
}
