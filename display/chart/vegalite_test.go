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
	for _, s := range samples() {
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
				if !in[cell] && !in[fmt.Sprint(v)] && rows[0][i] != words.headRepetition && !repetition(s.name, rows[0][i]) {
					t.Errorf("%s: the interactive figure lacks %s %s", s.name, rows[0][i], cell)
				}
			}
		}
	}
}

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
	for name, f := range map[string]*Figure{"a still figure": still, "an empty figure": Loss(nil).Interactive(), "a grid": Grid(1, Hist([]float64{1, 2})).Interactive()} {
		if b := f.Bundle(); b.Data[vegaLite] != nil || b.Data["text/html"] == nil {
			t.Errorf("%s has the types of an interactive figure", name)
		}
	}
}
