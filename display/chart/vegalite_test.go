package chart

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"halfnote/internal/testenv"
)

// TestVegaLite validates every interactive figure against the official schema and draws it with
// the versions of Vega and Vega-Lite that JupyterLab ships.
func TestVegaLite(t *testing.T) {
	modules := os.Getenv("HALFNOTE_VEGA")
	if modules == "" {
		testenv.Missing(t, "vega", "HALFNOTE_VEGA is not set to a node_modules folder with vega and vega-lite")
	}
	specs := map[string]any{}
	for _, s := range append(samples(), markSamples()...) {
		if spec := s.fig.VegaLite(); spec != nil {
			specs[s.name] = spec
			specs[s.name+", dark"] = s.fig.With(Dark).VegaLite()
		}
	}
	in, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", filepath.Join(golden, "vega", "check.js"), modules)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var result map[string][]string
	if err := json.Unmarshal(out, &result); err != nil {
		t.Fatal(err)
	}
	if len(result) != len(specs) || len(specs) < 50 {
		t.Errorf("got %d results for %d figures", len(result), len(specs))
	}
	for name, errors := range result {
		for _, e := range errors {
			if strings.HasPrefix(name, "lines-bad") && strings.HasPrefix(e, "Infinite extent") { // it has no finite value
				continue
			}
			t.Errorf("%s: %s", name, e)
		}
	}
}

// TestVegaLiteHasData compares the values of the interactive figures with Data.
func TestVegaLiteHasData(t *testing.T) {
	for _, s := range samples() {
		spec := s.fig.VegaLite()
		// The figures of operations show one step, those of many rows the worst rows, the long ones
		// are decimated, and a logarithmic x axis has no place for negative numbers.
		if spec == nil || strings.HasPrefix(s.name, "dtypes") || s.name == "plot-negative" || strings.HasSuffix(s.name, "-many") || strings.HasSuffix(s.name, "-long") || strings.HasSuffix(s.name, "-wide") {
			continue
		}
		in := map[string]bool{}
		walk(spec, func(o object) {
			for _, row := range rowsOf(t, o) {
				for _, v := range row {
					in[fmt.Sprint(v)] = true
				}
			}
		})
		rows, err := csv.NewReader(strings.NewReader(s.fig.Data())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			for i, cell := range row {
				v, err := strconv.ParseFloat(cell, 64)
				if err != nil || !finite(v) || v == 0 || s.name == "spectrum" && row[1] == "0" {
					continue
				}
				if !in[cell] && !in[fmt.Sprint(v)] && rows[0][i] != words.headRepetition && !repetition(s.name, rows[0][i]) && !ofErrors.MatchString(rows[0][i]) {
					t.Errorf("%s: the interactive figure lacks %s %s", s.name, rows[0][i], cell)
				}
			}
		}
	}
}

// ofErrors matches the columns of errors, which are drawn as the places that far above and below the values.
var ofErrors = regexp.MustCompile(`\b(error|band)( below| above)?$`)

// repetition reports whether a column holds repetitions, which the figure sums up.
func repetition(name, column string) bool {
	return strings.HasPrefix(name, "throughput") && (column == "samples/s" || column == "GFLOP/s")
}

// rowsOf returns the rows of data, which are objects or CSV.
func rowsOf(t *testing.T, data object) (list []object) {
	t.Helper()
	text, ok := data["values"].(string)
	if !ok {
		list, _ = data["values"].([]object)
		return list
	}
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	parse := data["format"].(object)["parse"].(object)
	for _, line := range lines[1:] {
		row := object{}
		for i, cell := range line {
			name := lines[0][i]
			switch number, err := strconv.ParseFloat(cell, 64); {
			case parse[name] == "number" && cell != "":
				if row[name] = number; err != nil {
					t.Errorf("%s: %v", name, err)
				}
			case cell != "" || parse[name] == nil:
				row[name] = cell
			}
		}
		list = append(list, row)
	}
	return list
}

func walk(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		visit(v)
		for _, x := range v {
			walk(x, visit)
		}
	case []object:
		for _, x := range v {
			walk(x, visit)
		}
	}
}

// TestGridLinks checks that the charts of a grid zoom together if their x axis is the same, and only then, and that the
// limit of points is for the whole grid.
func TestGridLinks(t *testing.T) {
	views := func(f *Figure, name string) (n int) {
		walk(f.VegaLite(), func(o object) {
			if list, ok := o["views"].([]string); ok && o["name"] == name {
				n = len(list)
			}
		})
		return n
	}
	short, long := Plot(wave(10)), Plot(wave(20000))
	for _, tt := range []struct {
		name  string
		fig   *Figure
		param string
		want  int
	}{
		{"equal axes", Grid(2, short, Plot(normal(10)), short), "zoom_0", 3},
		{"equal axes, pointing", Grid(2, short, Plot(normal(10)), short), "pointed_0", 3},
		{"another length", Grid(2, short, long), "zoom_0", 0},
		{"another name", Grid(2, short, short.XLabel("epoch")), "zoom_0", 0},
		{"two groups", Grid(3, short, long, short, long), "zoom_1", 2},
	} {
		if got := views(tt.fig, tt.param); got != tt.want {
			t.Errorf("%s: got %d linked charts, want %d", tt.name, got, tt.want)
		}
	}
	n := 0
	walk(Grid(2, long, long, long, long).VegaLite(), func(o object) { n += len(rowsOf(t, o)) })
	if n < mostPoints/2 || n > mostPoints+200 {
		t.Errorf("got %d points in a grid, want at most %d", n, mostPoints)
	}
}

func TestVegaLiteIsSmall(t *testing.T) {
	y := make([]float64, 200000)
	for i := range y {
		y[i] = math.Sin(float64(i) / 1000)
	}
	y[123457], y[77777], y[150001] = 99, -99, nan
	for name, f := range map[string]*Figure{
		"lines":   Lines("sine", []Series{{Name: "a", Values: y}, {Name: "b", Values: y}}),
		"scale":   LossScale(saw(200000)),
		"heat":    HeatMap("flushed", heat(24, 5000), 1),
		"dtypes":  DTypes(longTrace(5000)),
		"ranges":  Ranges(ranges(5000)),
		"mosaics": Bars("memory", "B", memoryBars()),
	} {
		n, text := 0, map[string]bool{}
		spec := f.VegaLite()
		walk(spec, func(o object) {
			list := rowsOf(t, o)
			n += len(list)
			for _, row := range list {
				text[fmt.Sprint(row["y"])] = true
			}
		})
		if n == 0 || n > mostPoints+200 {
			t.Errorf("%s: got %d points, want at most %d", name, n, mostPoints)
		}
		if name == "lines" && !(text["99"] && text["-99"] && text["NaN"]) {
			t.Error("the extremes of a long series are missing")
		}
		title := spec["title"].(object)
		if cut := name == "lines" || name == "scale" || name == "heat" || name == "dtypes"; cut != (title["subtitle"] != nil) {
			t.Errorf("%s: got subtitle %v", name, title["subtitle"])
		}
	}
}

func TestInteractiveBundle(t *testing.T) {
	still := Loss(losses())
	b := still.Interactive().Bundle()
	for _, mime := range []string{vegaLite, "image/png", "text/plain"} {
		if b.Data[mime] == nil {
			t.Errorf("the bundle lacks %s", mime)
		}
	}
	if b.Data["text/html"] != nil {
		t.Error("the bundle has HTML, which JupyterLab would draw in place of the interactive figure")
	}
	if _, err := json.Marshal(b); err != nil {
		t.Error(err)
	}
	if b := still.Interactive().LogY().Bundle(); b.Data[vegaLite] == nil {
		t.Error("after LogY: got a picture, want the interactive form")
	}
	for name, f := range map[string]*Figure{"a still figure": still, "an empty figure": Loss(nil).Interactive()} {
		if b := f.Bundle(); b.Data[vegaLite] != nil || b.Data["text/html"] == nil {
			t.Errorf("%s has the types of an interactive figure", name)
		}
	}
}

// TestFewerPoints checks that a figure that leaves points out says how many it shows.
func TestFewerPoints(t *testing.T) {
	for _, s := range samples() {
		if s.fig.body == nil {
			continue
		}
		var shown, all int
		form := s.fig.body.spec(mostPoints)
		if n, _ := fmt.Sscanf(form.subtitle, words.fewer, &shown, &all); n == 2 && !(shown > 0 && shown < all) {
			t.Errorf("%s: got the subtitle %q, want some of all points", s.name, form.subtitle)
		}
	}
	if form := HeatMap("inf or NaN", heat(60, 512), 8).body.spec(mostPoints); form.subtitle == "" {
		t.Error("heat map: got no subtitle, want one with the number of points")
	}
}

// TestJoinedSpans checks that operations that are drawn as one have the dtype of most of their time.
func TestJoinedSpans(t *testing.T) {
	_, rows := Timeline(spans(500, "cpu")).all()
	lanes := map[any]any{}
	for _, r := range rows {
		lanes[r[2]] = r[3]
	}
	if len(rows) > mostPoints || lanes["forward"] != "float16" || lanes["optimizer"] != "float32" {
		t.Errorf("got %d rows and the dtypes %v, want at most %d, float16 forward and float32 in the optimizer", len(rows), lanes, mostPoints)
	}
}

// TestStepsBeforeGap checks that the last value before a gap is drawn up to it, and that only a value without a line is a dot.
func TestStepsBeforeGap(t *testing.T) {
	got := ""
	walk(Step([]float64{8, nan, 4}).VegaLite(), func(o object) {
		for _, r := range rowsOf(t, o) {
			if y, ok := r["y"]; ok && fmt.Sprint(y) != "NaN" {
				got += fmt.Sprintf("(%v, %v) %t; ", r["x"], y, r["alone"] == "true")
			}
		}
	})
	if want := "(0, 8) false; (1, 8) false; (2, 4) true; "; got != want {
		t.Errorf("got the points %q, want %q", got, want)
	}
}

// TestGridFits checks that the interactive form of a grid of several columns can be as narrow as a phone.
func TestGridFits(t *testing.T) {
	spec := Grid(3, Plot(wave(9)), Hist(wave(9)), Scatter(wave(9), wave(9))).VegaLite()
	panels, _ := spec["vconcat"].([]object)
	if len(panels) != 3 {
		t.Fatalf("got %d panels below each other, want 3", len(panels))
	}
	for _, p := range panels {
		if w := p["width"]; w != narrowest {
			t.Errorf("got a panel of width %v, want %d, which the width of the page replaces", w, narrowest)
		}
	}
}
